"""What OpenHands shows its model while a transcript is read: which events a condensation leaves.

OpenHands counts events, and we have items: an answer with three calls is three events and one item.
So this keeps the agent's own list, with the item that each event is in. A condensation forgets
events by their ids and puts its summary at an offset of what is left; calls and results that lost
their partner are not shown then, but still counted by later offsets.

Two rules for a second condensation. Until 2025 the list was made anew from all events: what any of
them forgot is gone, and only the last summary is inserted. Since then each is applied to the list
as it stands, where the summary before it is an event with an id of its own, ``<id>-summary``. Not
followed: an offset beyond the end of the list, which would move on with each event (no condenser
writes one).
Source: ``View.from_events`` of OpenHands (``memory/view.py``) and of its SDK (``context/view``).
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from harness.importers.standing import Standing
from harness.importers.units import Slot

MAX_KEPT = 1_000_000
"""Events in the lists that are kept to go back to; over it the oldest lists are forgotten."""

Kind = Literal["message", "call", "result", "summary"]


@dataclass(frozen=True, slots=True)
class Shown:
    """One event in the agent's list."""

    id: str
    kind: Kind = "message"
    item: Standing | None = None
    """None for an event that is counted, and of which nothing is shown."""
    call: str = ""
    """Of a call and of its result: what both are known by; empty for a result without a call."""
    batch: str = ""
    """Of a call: the answer that it belongs to."""
    index: int = 0
    """Of a call: its number in the answer's message."""
    gone: bool = False
    """Its partner was forgotten, so that it is not shown."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """What a condensation did."""

    before: tuple[Standing, ...]
    forgotten: tuple[Standing, ...]
    """Items that it names, in the order in which they stood."""
    after: tuple[Standing, ...]
    place: int | None
    """Where among ``after`` the summary stands; None without one."""
    parted: tuple[tuple[Standing, tuple[int, ...]], ...]
    """Answers of which only some calls are left, with the numbers of those."""
    unknown: int
    """How many of the ids that it names no event of the transcript has."""
    events: int
    """Events that are shown after it."""
    moved: bool = False
    """An earlier summary keeps its offset, and so stands behind another item now."""
    inside: bool = False
    """The summary stood between two calls of one answer, and is put before it."""


class ForeignView:
    """The events that the agent shows, in order; it can go back to an earlier mark."""

    def __init__(self) -> None:
        self._shown: list[Shown] = []
        self._steps: list[Shown | tuple[Shown, ...]] = []
        self._dropped = self._kept = 0
        """Steps that are not kept any more, and events in the lists that are."""
        self._answered: set[str] = set()
        self._calls: set[str] = set()
        self._offset: int | None = None
        """Of the last summary."""
        self._batches: dict[str, int] = {}
        """From an answer to how many calls it has."""
        self._ids: set[str] = set()
        self._entered = 0

    def item(self, slot: Slot, message: int | None = None) -> Standing:
        """A new item; the events that are in it are entered with it."""
        self._entered += 1
        return Standing(slot, self._entered - 1, message)

    def enter(self, shown: Shown) -> None:
        """An event comes in at the end."""
        self._ids.add(shown.id)
        if shown.kind == "result" and shown.call:
            self._answered.add(shown.call)
        if shown.kind == "call":
            self._calls.add(shown.call)
            self._batches[shown.batch] = self._batches.get(shown.batch, 0) + 1
        self._shown.append(shown)
        self._steps.append(shown)

    def stands(self, call: str) -> bool:
        """Whether a call is still shown."""
        return call in self._calls

    def numbered(self, first: int, last: int) -> list[str]:
        """The ids of shown events from one number to another, where ids are numbers."""
        ids = [e.id for e in self._shown if e.id.isascii() and e.id.isdigit() and len(e.id) < 19]
        return [id for id in ids if first <= int(id) <= last]

    @property
    def size(self) -> int:
        """Events that are shown."""
        return sum(not shown.gone for shown in self._shown)

    def condense(
        self,
        named: Collection[str],
        summary: tuple[str, Standing] | None,
        offset: int | None,
        *,
        only_last: bool,
        whole_batches: bool,
        kept: Collection[str] = (),
    ) -> Condensed:
        """Forget the events ``named``; ``summary`` is its id and its item.

        ``only_last``: an earlier summary leaves when there is a new one. ``whole_batches``: calls
        of one answer leave together. ``kept`` are ids that are never forgotten.
        """
        forgotten = set(named) - set(kept)
        before = items_of(self._shown)
        replaced = only_last and summary is not None
        left = [
            e
            for e in self._shown
            if e.id not in forgotten and not (replaced and e.kind == "summary")
        ]
        moved = only_last and summary is None and self._put_back(left)
        if summary is not None:
            # Without an offset V0 puts it at the end.
            at = len(left) if offset is None else min(offset, len(left))
            left.insert(at, Shown(summary[0], "summary", summary[1]))
            self._offset = offset
        after = self._matched(left, whole_batches)
        named_items = items_of(e for e in self._shown if e.id in forgotten)
        unknown = sum(id not in self._ids for id in forgotten)
        if summary is not None:
            self._ids.add(summary[0])
        parts = self._parted(after)
        self._replace(after)
        standing, inside = _in_order(after)
        place = None
        if summary is not None:
            place = standing.index(summary[1])
            standing = tuple(item for item in standing if item is not summary[1])
        seen = self._seen(after)
        return Condensed(before, named_items, standing, place, parts, unknown, seen, moved, inside)

    def _put_back(self, left: list[Shown]) -> bool:
        """The last summary stands at its own offset again; whether that is another place."""
        at = next((n for n, e in enumerate(left) if e.kind == "summary"), None)
        if at is None or self._offset is None:
            return False
        summary = left.pop(at)
        left.insert(min(self._offset, len(left)), summary)
        return left[at] is not summary

    def _matched(self, left: list[Shown], whole_batches: bool) -> list[Shown]:
        """Calls whose result was forgotten, and results whose call was, are gone."""
        calls = {e.call: e.batch for e in left if e.kind == "call"}
        results = {e.call for e in left if e.kind == "result"}
        if whole_batches:
            there = Counter(calls.values())
            lost = {batch for batch, count in there.items() if count < self._batches[batch]}
            for call, batch in calls.items():
                if call in self._answered and call not in results:
                    lost.add(batch)
            calls = {call: batch for call, batch in calls.items() if batch not in lost}
        return [
            replace(e, gone=True)
            if (e.kind == "call" and e.call not in calls)
            or (e.kind == "call" and e.call in self._answered and e.call not in results)
            or (e.kind == "result" and e.call and e.call not in calls)
            else e
            for e in left
        ]

    def _parted(self, after: list[Shown]) -> tuple[tuple[Standing, tuple[int, ...]], ...]:
        if len(after) == len(self._shown) and all(map(operator.is_, after, self._shown)):
            return ()  # nothing was forgotten
        whole: dict[int, int] = {}
        for e in self._shown:
            if e.kind == "call" and e.item is not None and not e.gone:
                whole[id(e.item)] = whole.get(id(e.item), 0) + 1
        left: dict[int, tuple[Standing, list[int]]] = {}
        for e in after:
            if e.kind == "call" and e.item is not None and not e.gone:
                left.setdefault(id(e.item), (e.item, []))[1].append(e.index)
        return tuple(
            (item, tuple(numbers))
            for key, (item, numbers) in left.items()
            if len(numbers) < whole.get(key, 0)
        )

    def _seen(self, shown: list[Shown]) -> int:
        """Those that the agent's own rule counts: without calls and results that stand alone."""
        return sum(
            not e.gone
            and e.item is not None
            and not (e.kind == "call" and e.call not in self._answered)
            and not (e.kind == "result" and not e.call)
            for e in shown
        )

    # -- going back -----------------------------------------------------------------------------

    @property
    def mark(self) -> int:
        """A number for this moment."""
        return self._dropped + len(self._steps)

    def rewind(self, mark: int) -> bool:
        """The list is again what it was at the mark; False when that is not kept any more."""
        if self._dropped and mark <= self._dropped:
            return False
        found: list[Shown] = []
        for step in reversed(self._steps[: mark - self._dropped]):
            if isinstance(step, tuple):
                found.extend(reversed(step))
                break
            found.append(step)
        self._replace(found[::-1])
        return True

    def _replace(self, shown: list[Shown]) -> None:
        self._shown = list(shown)
        self._calls = {e.call for e in shown if e.kind == "call" and not e.gone}
        self._kept += len(shown)
        if self._kept > MAX_KEPT:
            self._dropped, self._kept = self.mark, len(shown)
            self._steps = []
        self._steps.append(tuple(shown))


def _in_order(shown: list[Shown]) -> tuple[tuple[Standing, ...], bool]:
    """The items that stand, and whether a summary stood between two calls of one of them: an item
    cannot be parted, so that the summary is put before it."""
    visible = [e for e in shown if not e.gone and e.item is not None]
    inside = False
    for at in range(1, len(visible) - 1):
        before, e, behind = visible[at - 1 : at + 2]
        if e.kind == "summary" and before.kind == "call" and before.item is behind.item:
            first = next(n for n, each in enumerate(visible) if each.item is before.item)
            visible.insert(first, visible.pop(at))
            inside = True
    return items_of(visible), inside


def items_of(shown: Iterable[Shown]) -> tuple[Standing, ...]:
    """The items of the events that are shown, each once, where its first event stands."""
    found: dict[int, Standing] = {}
    for e in shown:
        if e.item is not None and not e.gone:
            found.setdefault(id(e.item), e.item)
    return tuple(found.values())
