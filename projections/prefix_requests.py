"""What each call was given, as the difference from the call before: by place, rendition, tokens.

A request is followed in two ways: in the run over the context as folded, by what was touched since
the last call; and by its manifest where one was recorded, which says itself how much of an earlier
one stands. Either way a call costs what is new, not what stands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise
from typing import Any

from eventlog.recorded import RecordedEvent
from projections import forms, manifest, runs
from projections.expanding import stated
from projections.materialize import original, rendered
from projections.recording import Recording
from projections.runs import Origin, Standing, label, standing
from projections.strategies.window import Window
from projections.tokens import Counter, count_item

Part = tuple[str, int]
"""The rendition of an item, and its tokens."""


@dataclass(slots=True)
class Request:
    """A request as it was sent: what stood in it, and how many tokens up to there."""

    call: int = 0
    position: int = 0
    when: str = ""
    tools: int = 0
    labels: list[str] = field(default_factory=list)
    sums: list[int] = field(default_factory=list)
    orders: Mapping[int, str] = field(default_factory=dict)
    """Of one that is kept: what ``AsSent.orders`` was."""

    def up_to(self, place: int) -> int:
        """The tokens in front of a place, tools included."""
        return self.tools + (self.sums[place - 1] if place else 0)

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.up_to(len(self.sums))

    def goes_on(self, place: int, tail: Sequence[Part]) -> None:
        """From a place on it is this."""
        del self.labels[place:], self.sums[place:]
        self.labels += (label for label, _ in tail)
        start = self.sums[-1] if self.sums else 0
        self.sums += islice(accumulate((size for _, size in tail), initial=start), 1, None)

    def copy(self) -> Request:
        """One that stays as it is."""
        return replace(self, labels=self.labels[:], sums=self.sums[:])


def reordered(one: Mapping[int, str], other: Mapping[int, str]) -> int | None:
    """The first item whose fields stand in another order in the other request."""
    differing = (n for n in one.keys() | other.keys() if one.get(n) != other.get(n))
    return min(differing, default=None)


def _order(shape: Mapping[str, Any]) -> str:
    """The order of the fields of a tool's input in a form; empty for that of the stored message.

    A provider writes the input into the prompt as it came. The order of all other fields is lost
    when it reads them.
    """
    changes = shape.get("changes", ())
    try:
        orders = [change[1:] for change in changes if change[0] == "order" and "input" in change[1]]
    except (LookupError, TypeError):  # it fits no message; ``sent.entry_of`` says so
        return ""
    return forms.canonical(orders) if orders else ""


def common(labels: Sequence[str], place: int, tail: Sequence[Part]) -> int:
    """How many of the tail stand in a request from a place on."""
    most = min(len(labels) - place, len(tail))
    return next((n for n in range(most) if labels[place + n] != tail[n][0]), most)


def sizes(sums: Sequence[int]) -> Iterator[int]:
    """How many tokens each item has."""
    return (after - before for before, after in pairwise((0, *sums)))


class Folded:
    """Requests that were only folded: what differs from the one before is what was touched."""

    def __init__(self) -> None:
        self.index: dict[Origin, int] | None = None
        """Where each item stands in the last request; None where that was no folded one."""

    def called(
        self, last: Request, window: Window, touched: Mapping[Origin, None]
    ) -> tuple[int, list[Part]]:
        """From which place on the request may differ from the last one, and what stands there."""
        place = self._place(last, window, touched)
        entries = islice(reversed(window.entries.values()), len(window) - place)
        return place, [(entry.item.rendition, entry.tokens) for entry in entries][::-1]

    def _place(self, last: Request, window: Window, touched: Mapping[Origin, None]) -> int:
        if self.index is None:
            return 0
        place = len(last.labels)
        for origin in touched:
            at = self.index.get(origin)
            if at is None:
                continue
            entry = window.entries.get(origin)
            if entry is not None and entry.item.rendition == last.labels[at]:
                return 0  # the whole context is another one: anything may have come in anywhere
            place = min(place, at)
        return place

    def stands(self, last: Request, place: int, gone: Sequence[str]) -> None:
        """The request was made: from that place on it is another one, where these stood before."""
        if self.index is None:
            self.index, place = {}, 0
        for name in gone:
            self.index.pop(standing(name)[0], None)
        for at in range(place, len(last.labels)):
            self.index[standing(last.labels[at])[0]] = at


class AsSent:
    """Requests that were recorded: what differs from the one before is in the manifest.

    A run is read as the slice of all items that it names, since every fiftieth manifest is whole.
    """

    def __init__(
        self, made: Recording, decisions: Mapping[int, RecordedEvent], counting: Counter
    ) -> None:
        self.is_last = False
        """Whether the last request was one."""
        self._known, self._counting = decisions, counting
        self._steps = {step.origin: step for step in made.steps if step.kind == "item"}
        self._places = sorted(origin for origin in self._steps if isinstance(origin, int))
        self._plain = [self._made(place, 0) for place in self._places]
        self._parts: list[Part] = []
        """All of the last one that was recorded."""
        self._starts = [0]
        """How many of them stand in front of each entry of its manifest."""
        self._others: dict[Standing, Part] = {}
        self.orders: dict[int, str] = {}
        """In which order the fields of a tool's input stood in the last one that was recorded, by
        the number of the item; nothing where that is the order of the stored message."""
        self.reordered: int | None = None
        """The first item for which that is another one than in the request before."""

    def called(self, call: Mapping[str, Any]) -> tuple[int, list[Part]]:
        """From which place on the request may differ from the last one, and what stands there.

        ``call`` is what its ModelCalled holds.
        """
        kept, stored = 0, call["manifest"]
        before = len(self._parts)
        if stored and isinstance(stored[0], str) and stored[0].startswith("="):
            kept, stored = min(int(stored[0][1:]), len(self._starts) - 1), stored[1:]
        place = self._starts[kept]
        del self._parts[place:], self._starts[kept + 1 :]
        for entry in stored:
            self._take(entry)
        self._reorder(call, place, before)
        if not self.is_last:
            place, self.reordered = 0, None
        elif self.reordered is not None:
            place = min(place, self.reordered)
        self.is_last = True
        return place, self._parts[place:]

    def _reorder(self, call: Mapping[str, Any], place: int, before: int) -> None:
        """Take in the orders that the forms of a call say."""
        begins = place if call.get("forms_stand") else 0
        old = {n: self.orders.pop(n) for n in range(begins, before) if n in self.orders}
        said = {number: _order(shape) for number, shape in stated(call)}
        for number, order in said.items():
            if number in self.orders:
                old[number] = self.orders.pop(number)
            if order:
                self.orders[number] = order
        touched = old.keys() | said.keys()
        other = (n for n in touched if n < before and old.get(n, "") != self.orders.get(n, ""))
        self.reordered = min(other, default=None)

    def _take(self, entry: str | Sequence[str]) -> None:
        """One entry of a manifest, or a run of them."""
        count = len(self._parts)
        if isinstance(entry, str) and runs.is_run(entry):
            low, high = runs.bounds(entry, 0)
            first, last = bisect_left(self._places, low), bisect_right(self._places, high)
            self._parts += self._plain[first:last]
            self._starts += range(count + 1, len(self._parts) + 1)
            return
        names = [entry] if isinstance(entry, str) else entry
        self._parts += (self._part(manifest.parse(name).standing) for name in names)
        self._starts.append(len(self._parts))

    def _part(self, standing: Standing) -> Part:
        found = self._others.get(standing)
        if found is None:
            found = self._others[standing] = self._made(*standing)
        return found

    def _made(self, origin: Origin, rendition: int) -> Part:
        step = self._steps.get(origin)
        item = step.item if step is not None else original(origin, self._known)
        if item is None:  # the manifest names what is not there: no token of it is known
            return label(origin, rendition), 0
        if step is not None and not rendition:
            return item.rendition, step.tokens
        item = rendered(item, rendition, self._known) if rendition else item
        return item.rendition, count_item(self._counting, item)
