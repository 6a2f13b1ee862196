"""What a strategy sees: the items that stand, with running totals and queues by kind.

Everything that a trigger asks is O(1): the totals and the queues are kept by each change, and an
item that comes in or changes costs what it is, not what stands. So a strategy never scans the
context to find that it has nothing to do.

Items belong to *units*, which leave together: an answer of the model with its tool results,
wherever those stand. A unit with an unanswered call is open, and nothing of it can be touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from eventlog.messages import Part
from projections.items import OBSERVATION, Item
from projections.pairing import known_ids, one_answer, original_id
from projections.reading import calls_of, results_of, role_of
from projections.runs import Origin
from projections.strategies import hashing
from projections.strategies.entries import Entry, Unit, Waiting, also_known, taken
from projections.tokens import CALL_TOKENS, MESSAGE_TOKENS, Counter, Utf8Counter

__all__ = ["Embed", "Entry", "Unit", "Window"]

Embed = Callable[[str], Sequence[float]]
"""From a text to its vector; the same text gives the same vector."""

_NOTHING = float("inf")
_SYSTEM = ("system", "developer")
_NOWHERE = Unit(-1)
"""Of an item that is about to be put into one."""


class Window:
    """The items that stand in the context, in order. Changed in place."""

    def __init__(self, counting: Counter | None = None, embed: Embed | None = None) -> None:
        self.counting: Counter = counting or Utf8Counter()
        self.embed: Embed = embed or hashing.embed
        self.entries: dict[Origin, Entry] = {}
        self.system: dict[Origin, Entry] = {}
        """The leading run of system messages: never touched."""
        self.humans: dict[Origin, Entry] = {}
        self.results: dict[Origin, Entry] = {}
        """Tool results that can be replaced by a placeholder, the oldest first."""
        self.units: dict[int, Unit] = {}
        self.pins: set[Origin] = set()
        self.tokens = 0
        self.system_tokens = 0
        self.result_tokens = 0
        """Of the results that can be replaced."""
        self.settled = 0
        """Tool results that stand and are not among ``results`` any more."""
        self.parallel = 0
        """Calls beyond the first, over the answers that stand."""
        self.calls = 0
        self.turns = 0
        self.failures = 0
        """Tool results that came in and said that they are errors."""
        self.tools: dict[str, int] = {}
        """How often each tool was called, whatever of it still stands."""
        self.task_type = ""
        self.incoming = False
        """Whether a human message is about to come in: it will be the newest."""
        self.touched: dict[Origin, None] = {}
        """What came in, changed or left since the call before, in that order."""
        self._first_human: Origin | None = None
        self._same: dict[tuple[str, str], dict[Origin, Entry]] = {}
        self._repeats: dict[tuple[str, str], int] = {}
        self._by_tool: dict[str, dict[Origin, Entry]] = {}
        self._open: dict[str, list[Waiting]] = {}
        self._renamed: dict[str, list[Waiting]] = {}
        """Open calls by the id that the model gave, where it was renamed since."""
        self._next_unit = 0
        self._last: Entry | None = None
        self._last_answer: Entry | None = None
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

    @property
    def task(self) -> Entry | None:
        """The first message that a person typed, while it stands."""
        first = self._first_human
        return self.entries.get(first) if first is not None else None

    def untouchable(self, entry: Entry) -> bool:
        """System messages, pinned items, open calls, and all behind the calls of the frontier."""
        if entry.is_system or entry.origin in self.pins or entry.unit.waiting:
            return True
        latest = self._last_answer
        return latest is not None and bool(latest.unit.waiting) and entry.order >= latest.order

    def removable(self, unit: Unit) -> bool:
        """Whether the whole unit may leave; the newest human message may not."""
        last = self.last_human()
        return not any(self.untouchable(e) or e is last for e in self.members(unit))

    def members(self, unit: Unit) -> list[Entry]:
        """The items of a unit, in the order in which they came in."""
        return [self.entries[origin] for origin in unit.items]

    def tokens_of(self, unit: Unit) -> int:
        """The tokens of all its items."""
        return sum(entry.tokens for entry in self.members(unit))

    def last_human(self) -> Entry | None:
        """The newest message that a person typed; none that stands while another is coming."""
        return None if self.incoming else next(reversed(self.humans.values()), None)

    def last_answer(self) -> Entry | None:
        """The newest message of the model, while it stands."""
        latest = self._last_answer
        return latest if latest is not None and latest.origin in self.entries else None

    def turn_start(self, stay: int) -> float:
        """The order of the first of the last ``stay`` human messages; behind all when none stay."""
        if stay <= 0:
            return _NOTHING
        humans = list(self.humans.values())
        return humans[max(0, len(humans) - stay)].order if humans else -1.0

    def result_cost(self, content: str) -> int:
        """The tokens of a tool result that has this text."""
        return MESSAGE_TOKENS + CALL_TOKENS + self.counting.count(content)

    def same(self, entry: Entry) -> list[Entry]:
        """The results that can be replaced, of the same tool with the same arguments."""
        return list(self._same.get(entry.key, {}).values()) if entry.arguments else []

    def repeated(self, entry: Entry) -> int:
        """How many results of the same tool with the same arguments ever came in."""
        return self._repeats.get(entry.key, 0) if entry.arguments else 0

    def by_tool(self, tool: str) -> dict[Origin, Entry]:
        """The results of a tool that can be replaced, the oldest first."""
        return self._by_tool.get(tool, {})

    def oldest(self) -> Iterator[Entry]:
        """The items that are not of the leading system run, the oldest first."""
        return (entry for entry in self.entries.values() if not entry.is_system)

    # -- changes --------------------------------------------------------------------------------

    def append(self, origin: Origin, item: Item, tokens: int, *, first: bool = False) -> Entry:
        """An item comes in at the end, or in front of everything."""
        if item.is_human:
            self.turns += 1
            self._first_human = self._first_human or origin
        order = -1 - self._next_order if first else self._next_order
        entry = self._entry(origin, item, tokens, order)
        self._next_order += 1
        self.entries[origin] = entry
        self.touched[origin] = None
        self._count(entry, 1)
        self.failures += entry.failed
        if entry.is_result:
            self._repeats[entry.key] = self._repeats.get(entry.key, 0) + 1
        if first:
            self.entries, self._changed = {origin: entry} | self.entries, order
            return entry
        if entry.role == "assistant":
            self._last_answer = entry
        self._last = entry
        return entry

    def _entry(self, origin: Origin, item: Item, tokens: int, order: float) -> Entry:
        results = results_of(item)
        role = role_of(item)
        entry = Entry(
            origin=origin,
            item=item,
            tokens=tokens,
            unit=_NOWHERE,
            order=order,
            call=self.calls,
            turn=self.turns,
            original=item,
            original_tokens=tokens,
            role=role,
            is_system=role in _SYSTEM and (order < 0 or len(self.entries) == len(self.system)),
            is_human=item.is_human,
            is_result=(bool(results) and item.kind == "tool_result") or item.label == OBSERVATION,
            is_summary=item.kind == "summary",
            failed=any(part.is_error for part in results),
            tool=item.tool_name,
        )
        self._join(entry, results)
        for number, part in enumerate(calls_of(item) if role == "assistant" else ()):
            entry.parallel = number
            self.tools[part.name] = self.tools.get(part.name, 0) + 1
            entry.unit.waiting += 1
            waiting = Waiting(entry.unit, part)
            self._open.setdefault(part.id, []).append(waiting)
            given = original_id(item, part.id) or known_ids(item)[number]
            if given != part.id:
                self._renamed.setdefault(given, []).append(waiting)
        return entry

    def _join(self, entry: Entry, results: Sequence[Part]) -> None:
        """Put an item into the unit that it belongs to, or into one of its own."""
        joined = list(self._answered(entry, results))
        before = self._last
        if (
            before is not None
            and before.origin in self.entries
            and before.role == entry.role == "assistant"
            and one_answer(before.item, entry.item)
        ):
            joined.append(before.unit)
        if not joined:
            entry.unit = self.units[self._next_unit] = Unit(self._next_unit)
            self._next_unit += 1
        else:
            entry.unit = joined[0]
            for other in joined[1:]:
                entry.unit = self._merged(entry.unit, other)
        entry.unit.items[entry.origin] = None

    def _answered(self, entry: Entry, results: Sequence[Part]) -> Iterator[Unit]:
        """The units of the nearest open calls that these results answer."""
        for result in results:
            found = taken(self._open, result.id) or taken(self._renamed, result.id)
            if found is not None:
                found.unit.waiting -= 1
                entry.tool, entry.arguments = found.call.name or entry.tool, found.call.text
                yield found.unit

    def _merged(self, first: Unit, second: Unit) -> Unit:
        """One message can answer the calls of two answers: then all of it is one unit."""
        if first is second:
            return first
        small, large = sorted((first, second), key=lambda unit: len(unit.items))
        for entry in self.members(small):
            entry.unit = large
        large.items.update(small.items)
        large.waiting += small.waiting
        self.units.pop(small.number, None)
        for queue in self._open.values():
            for waiting in queue:
                if waiting.unit is small:
                    waiting.unit = large
        return large

    def _count(self, entry: Entry, sign: int) -> None:
        self.tokens += sign * entry.tokens
        self.parallel += sign * entry.parallel
        if entry.is_system:
            self.system_tokens += sign * entry.tokens
            _queued(self.system, entry, sign)
        if entry.is_human:
            _queued(self.humans, entry, sign)
        if entry.is_result and not entry.is_settled:
            self.result_tokens += sign * entry.tokens
            _queued(self.results, entry, sign)
            self._index(entry, sign)
        elif entry.is_result:
            self.settled += sign

    def _index(self, entry: Entry, sign: int) -> None:
        _queued(self._same.setdefault(entry.key, {}), entry, sign)
        _queued(self._by_tool.setdefault(entry.tool, {}), entry, sign)

    def substitute(self, origin: Origin, item: Item, tokens: int, *, cleared: bool) -> None:
        """Another rendition comes into force; a cleared result is not asked about again."""
        entry = self.entries[origin]
        self._changed = min(self._changed, entry.order)
        self.touched[origin] = None
        self.tokens += tokens - entry.tokens
        self.system_tokens += (tokens - entry.tokens) * entry.is_system
        if entry.is_result and not entry.is_settled:
            self.result_tokens += tokens - entry.tokens
        also_known(self._open, entry, item)
        entry.item, entry.tokens = item, tokens
        entry.forget()
        if cleared:
            self.settle(origin)
        elif entry.is_result and entry.is_settled:  # it stands among the results again
            entry.is_settled = False
            self.settled -= 1
            self._index(entry, 1)
            self.result_tokens += tokens
            wanted = self.results | {origin: entry}
            self.results = {o: e for o, e in self.entries.items() if o in wanted}

    def settle(self, origin: Origin) -> None:
        """A result that a placeholder replaces, or that is smaller than any placeholder."""
        entry = self.entries[origin]
        if entry.is_result and not entry.is_settled:
            self.results.pop(origin, None)
            self._index(entry, -1)
            self.result_tokens -= entry.tokens
            self.settled += 1
        entry.is_settled = True

    def replace(
        self,
        origins: Iterable[Origin],
        new: Mapping[Origin, tuple[Item, int]],
        *,
        at_last: bool = False,
    ) -> None:
        """Items leave, and new ones stand where the first (or the last) of them stood."""
        leaving = {origin: self.entries[origin] for origin in origins if origin in self.entries}
        if not leaving:
            for origin, (item, tokens) in new.items():
                self.append(origin, item, tokens)
            return
        orders = [entry.order for entry in leaving.values()]
        self._changed = min(self._changed, *orders)
        place = max(orders) if at_last else min(orders)
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
        last, self._last = self._last, None  # what comes in here is nobody's answer
        behind = (e.order for e in self.entries.values() if e.order > place)
        step = (min(behind, default=place + 1) - place) / (len(new) + 1)
        fresh = [
            self._entry(origin, item, tokens, place + index * step)
            for index, (origin, (item, tokens)) in enumerate(new.items())
        ]
        self._last = last
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


def _queued(queue: dict[Origin, Entry], entry: Entry, sign: int) -> None:
    """Put an item into a queue, or take it out."""
    if sign > 0:
        queue[entry.origin] = entry
    else:
        queue.pop(entry.origin, None)
