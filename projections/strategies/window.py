"""What a strategy sees: the items that stand, with running totals and queues by kind.

Everything that a trigger asks is O(1): the totals and the queues are kept by each change, and an
item that comes in or changes costs what it is, not what stands. So a strategy never scans the
context to find that it has nothing to do.

Items belong to *units*, which leave together: an answer of the model with its tool results,
wherever those stand. A unit with an unanswered call is open, and nothing of it can be touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from projections.items import Item
from projections.reading import calls_of, is_system, results_of
from projections.runs import Origin


@dataclass(slots=True)
class Unit:
    """Items that stay or leave together."""

    number: int
    items: dict[Origin, Entry] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    """Calls that have no result yet."""


@dataclass(slots=True)
class Entry:
    """An item that stands, and what is known of it."""

    origin: Origin
    item: Item
    tokens: int
    unit: Unit
    order: float
    """Grows along the context; what takes the place of items takes their order too."""
    call: int
    """How many calls had been made when it came in: its age is counted in calls."""
    turn: int
    """Which human turn it belongs to, from 1; 0 before the first."""
    original: Item
    original_tokens: int
    is_system: bool
    is_human: bool
    is_result: bool
    is_summary: bool = False
    is_cleared: bool = False
    """Whether a placeholder stands in its place; a cut text is no placeholder."""


_NOTHING = float("inf")


class Window:
    """The items that stand in the context, in order. Changed in place."""

    def __init__(self) -> None:
        self.entries: dict[Origin, Entry] = {}
        self.system: dict[Origin, Entry] = {}
        """The leading run of system messages: never touched."""
        self.humans: dict[Origin, Entry] = {}
        self.results: dict[Origin, Entry] = {}
        """Tool results that are no placeholders, the oldest first."""
        self.units: dict[int, Unit] = {}
        self.pins: set[Origin] = set()
        self.tokens = 0
        self.result_tokens = 0
        """Of the results that are no placeholders."""
        self.calls = 0
        self.turns = 0
        self.task_type = ""
        self.touched: dict[Origin, None] = {}
        """What came in, changed or left since the call before, in that order."""
        self._open: dict[str, list[Unit]] = {}
        self._next_unit = 0
        self._changed = _NOTHING
        """The order of the first item that changed since the last call."""
        self._sent_tokens = 0
        self._next_order = 0.0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def messages(self) -> int:
        """Items that are no system messages."""
        return len(self.entries) - len(self.system)

    def untouchable(self, entry: Entry) -> bool:
        """System messages, pinned items, and what belongs to a call that is still open."""
        return entry.is_system or entry.origin in self.pins or bool(entry.unit.waiting)

    def last_human(self) -> Entry | None:
        """The newest message that a person typed."""
        return next(reversed(self.humans.values()), None)

    # -- changes --------------------------------------------------------------------------------

    def append(self, origin: Origin, item: Item, tokens: int) -> Entry:
        """An item comes in at the end."""
        entry = self._entry(origin, item, tokens, self._next_order)
        self._next_order += 1
        self.entries[origin] = entry
        self.touched[origin] = None
        self._count(entry, 1)
        return entry

    def _entry(self, origin: Origin, item: Item, tokens: int, order: float) -> Entry:
        results = results_of(item)
        system = is_system(item) and len(self.entries) == len(self.system)
        human = item.is_human
        if human:
            self.turns += 1
        unit = self._unit_of([part.id for part in results]) if results else None
        if unit is None:
            unit = Unit(self._next_unit)
            self._next_unit += 1
            self.units[unit.number] = unit
        entry = Entry(
            origin=origin,
            item=item,
            tokens=tokens,
            unit=unit,
            order=order,
            call=self.calls,
            turn=self.turns,
            original=item,
            original_tokens=tokens,
            is_system=system,
            is_human=human,
            is_result=bool(results) and item.kind == "tool_result",
            is_summary=item.kind == "summary",
        )
        unit.items[origin] = entry
        for part in calls_of(item):
            unit.waiting.add(part.id)
            self._open.setdefault(part.id, []).append(unit)
        return entry

    def _unit_of(self, call_ids: Iterable[str]) -> Unit | None:
        """The nearest unit that waits for one of these results."""
        found: Unit | None = None
        for call_id in call_ids:
            waiting = self._open.get(call_id)
            if waiting:
                found = waiting.pop()
                found.waiting.discard(call_id)
                if not waiting:
                    del self._open[call_id]
        return found

    def _count(self, entry: Entry, sign: int) -> None:
        self.tokens += sign * entry.tokens
        kinds: list[tuple[bool, dict[Origin, Entry]]] = [
            (entry.is_system, self.system),
            (entry.is_human, self.humans),
            (entry.is_result and not entry.is_cleared, self.results),
        ]
        for is_kind, queue in kinds:
            if not is_kind:
                continue
            if sign > 0:
                queue[entry.origin] = entry
            else:
                queue.pop(entry.origin, None)
        if entry.is_result and not entry.is_cleared:
            self.result_tokens += sign * entry.tokens

    def substitute(self, origin: Origin, item: Item, tokens: int, *, cleared: bool) -> None:
        """Another rendition of an item comes into force."""
        entry = self.entries[origin]
        self._changed = min(self._changed, entry.order)
        self.touched[origin] = None
        was_open = entry.is_result and not entry.is_cleared
        self.tokens += tokens - entry.tokens
        if was_open:
            self.result_tokens -= entry.tokens
        entry.item, entry.tokens, entry.is_cleared = item, tokens, cleared
        if entry.is_result and not cleared:
            self.result_tokens += tokens
            if not was_open:  # it stands among the results again, in its place
                wanted = self.results | {origin: entry}
                self.results = {o: e for o, e in self.entries.items() if o in wanted}
        elif was_open:
            self.results.pop(origin, None)

    def replace(self, origins: Iterable[Origin], new: Mapping[Origin, tuple[Item, int]]) -> None:
        """Items leave, and new ones stand where the first of them stood; else at the end."""
        leaving = {origin: self.entries[origin] for origin in origins if origin in self.entries}
        if not leaving:
            for origin, (item, tokens) in new.items():
                self.append(origin, item, tokens)
            return
        place = min(entry.order for entry in leaving.values())
        self._changed = min(self._changed, place)
        self.touched.update(dict.fromkeys((*leaving, *new)))
        for origin, entry in leaving.items():
            self._count(entry, -1)
            entry.unit.items.pop(origin, None)
            if not entry.unit.items:
                self.units.pop(entry.unit.number, None)
            if not new:
                del self.entries[origin]
        if not new:
            return
        step = 1.0 / (len(new) + 1)
        fresh = [
            self._entry(origin, item, tokens, place + index * step)
            for index, (origin, (item, tokens)) in enumerate(new.items())
        ]
        placed: dict[Origin, Entry] = {}
        for origin, entry in self.entries.items():
            if entry.order == place:
                placed.update((e.origin, e) for e in fresh)
            if origin not in leaving:
                placed[origin] = entry
        self.entries = placed
        for entry in fresh:
            self._count(entry, 1)

    # -- calls ----------------------------------------------------------------------------------

    def called(self) -> int:
        """A call is made with what stands: how many tokens of it the call before began with."""
        same = self._sent_tokens
        if self._changed != _NOTHING:  # what changed may have come since, behind what was sent
            same = min(same, self._before(self._changed))
        self.calls += 1
        self._changed, self._sent_tokens = _NOTHING, self.tokens
        return same

    def follows(self, before: Window) -> None:
        """This context takes the place of another one, as after a rewind.

        What both begin with has not changed, as long as it was sent.
        """
        self.calls = before.calls
        self._sent_tokens = before._sent_tokens
        self.touched = dict.fromkeys((*before.touched, *before.entries, *self.entries))
        self._changed = self._next_order
        old = iter(before.entries.values())
        for entry in self.entries.values():
            same = next(old, None)
            if (
                same is None
                or same.order >= before._changed
                or (same.origin, same.item) != (entry.origin, entry.item)
            ):
                self._changed = entry.order
                break

    def _before(self, order: float) -> int:
        """The tokens in front of a place: counted from whichever end is nearer."""
        front = back = 0
        ends = zip(self.entries.values(), reversed(self.entries.values()), strict=True)
        for first, last in ends:
            if first.order >= order:
                return front
            if last.order < order:
                return self.tokens - back
            front += first.tokens
            back += last.tokens
        return front

    def oldest(self) -> Iterator[Entry]:
        """The items that are not of the leading system run, the oldest first."""
        return (entry for entry in self.entries.values() if not entry.is_system)
