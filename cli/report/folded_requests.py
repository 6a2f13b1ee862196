"""The bodies of calls whose requests were not recorded: folded from the events and made legal.

A call costs what is new in its context, and for the rest a look at each item: a request is rendered
whole, since each provider has rules over the whole of it, but nothing of it is written again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from cli.exports import odd_tools
from cli.replays import describe, never_recorded, parameters_of
from cli.report.pieces import Pieces, numbers_of
from eventlog.errors import CriticalUnknown, NoContext
from eventlog.recorded import RecordedEvent, StreamKey
from projections.asked import MESSAGES
from projections.context import ITEM_TYPES
from projections.dialects import dialect
from projections.dialects.translate import clean
from projections.growing import Growing
from projections.items import Item
from projections.judging import Folds
from projections.legality import Sendable
from projections.live import Live
from projections.repairs import Repair
from projections.runs import Standing

AHEAD = 256
"""Items that are read at a time."""


class FoldedBody(NamedTuple):
    """A body as pieces, and what is told of it."""

    numbers: list[int]
    notes: list[str]
    """What nobody recorded of it."""
    repairs: tuple[str, ...]
    problems: list[str]
    """Why a provider would refuse it."""


class FoldedRequests:
    """The contexts of a stream, at one call after the other."""

    def __init__(self, live: Live, stream: StreamKey, pieces: Pieces) -> None:
        self._live, self._stream, self._pieces = live, stream, pieces
        self._folds = Folds(live, stream)
        self._items = _Items(live, stream, pieces)
        self._growing = Growing()
        self._writing = _Writing(pieces)
        self._tools = _Tools(live, stream, pieces)
        self._uses_tools = any(live.log.read(stream, types=["tool_result_recorded"]))
        self._described: tuple[tuple[Repair, ...], tuple[str, ...]] = ((), ())

    def body(self, call: RecordedEvent) -> FoldedBody:
        """The body of a later call. Raises NoContext, CriticalUnknown."""
        at = call.position - 1
        same = self._folds.move(at)
        standing = self._folds.standing
        if isinstance(standing, CriticalUnknown):
            raise standing
        items = self._items.of(standing, same)
        if not items:
            raise NoContext(str(self._stream), at)
        made = self._growing.take(items)
        tools = self._tools.of(call)
        provider, parameters = dialect(call.data["dialect"]), parameters_of(call.data, same=True)
        self._writing.listed = MESSAGES[call.data["dialect"]]
        request = provider.render(made.items, tools, parameters, self._writing.cleaned)
        return FoldedBody(
            self._writing.numbers(request),
            [*odd_tools(tools), *never_recorded(made.items, tools, lambda: self._uses_tools)],
            self._told(made),
            provider.problems(request),
        )

    def _told(self, made: Sendable) -> tuple[str, ...]:
        if made.repairs is not self._described[0]:
            self._described = (made.repairs, tuple(map(describe, made.repairs)))
        return self._described[1]


class _Writing:
    """Requests on their way into pieces."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._known: dict[Any, _Value] = {}
        """What was seen before, by its key."""
        self._last: dict[int, _Value] = {}
        """What the last request is made of, by the ``id`` of what stands in it."""
        self.listed = ""
        """The field of the next request that holds its messages."""

    def cleaned(self, request: dict[str, Any]) -> dict[str, Any]:
        """What ``translate.cleaned`` gives, without looking through what was seen before."""
        self._last, found = {}, {}
        for name, value in request.items():
            is_list = name == self.listed and isinstance(value, list)
            found[clean(name)] = [*map(self._cleaned, value)] if is_list else self._cleaned(value)
        return found

    def _cleaned(self, value: Any) -> Any:
        key = self._pieces.key(value)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Value(clean(value), {})
        self._last[id(known.clean)] = known
        return known.clean

    def numbers(self, request: dict[str, Any]) -> list[int]:
        """The pieces of the request."""
        messages = request[self.listed]
        entries = (self._number("," if at else "", each) for at, each in enumerate(messages))
        return numbers_of(self._pieces, request, 0, self.listed, entries)

    def _number(self, front: str, message: Any) -> int:
        known = self._last.get(id(message))
        if known is None:  # a provider's rule over the whole of it has changed the message
            return self._pieces.of_value(front, message)
        number = known.numbers.get(front)
        if number is None:
            number = known.numbers[front] = self._pieces.of_value(front, message)
        return number


class _Value(NamedTuple):
    """A value that was seen before."""

    clean: Any
    """The first that was like it, without lone surrogates."""
    numbers: dict[str, int]
    """Its pieces, by what stands in front of it."""


class _Items:
    """The items of a stream, each made once."""

    def __init__(self, live: Live, stream: StreamKey, pieces: Pieces) -> None:
        self._live, self._stream, self._pieces = live, stream, pieces
        headers = live.log.headers(stream)
        self._places = [h.position for h in headers if h.type in ITEM_TYPES]
        self._made: dict[Standing, Item | None] = {}
        self._last: list[Item | None] = []

    def of(self, standing: Sequence[Standing], same: int) -> list[Item]:
        """What stands, of which at most so many at the front are those of the last time."""
        del self._last[same:]
        made, new = self._made, standing[len(self._last) :]
        missing = [each for each in new if each not in made]
        if missing:
            self._make(missing)
        self._last += [made[each] for each in new]
        return [item for item in self._last if item is not None]

    def _make(self, missing: Sequence[Standing]) -> None:
        last = max((item for item, r in missing if isinstance(item, int) and not r), default=0)
        at = bisect_right(self._places, last)
        ahead = [(place, 0) for place in self._places[at : at + AHEAD] if last]
        wanted = list(
            dict.fromkeys((*missing, *(each for each in ahead if each not in self._made)))
        )
        found = self._live.materialize(self._stream, wanted)
        made: list[Item | None] = [*found]
        if len(found) != len(wanted):  # what names no item is left out
            made = [next(iter(self._live.materialize(self._stream, [w])), None) for w in wanted]
        self._made.update(zip(wanted, made, strict=True))
        for item in found:
            self._pieces.know(item.message)


class _Tools:
    """The tools of one call after the other."""

    def __init__(self, live: Live, stream: StreamKey, pieces: Pieces) -> None:
        self._live, self._stream, self._pieces = live, stream, pieces
        declared = live.log.read(stream, types=["tools_declared"])
        self._declared = [(event.position, event.data.get("definitions")) for event in declared]
        self._named: dict[int, Any] = {}
        for _, definitions in self._declared:
            pieces.know(definitions)

    def of(self, call: RecordedEvent) -> Any:
        """Those that it names; else those that were declared last."""
        named = call.data.get("tools")
        if not isinstance(named, int):
            at = bisect_left(self._declared, call.position, key=lambda each: each[0])
            return self._declared[at - 1][1] if at else None
        if named not in self._named:
            event = self._live.log.at(self._stream, [named]).get(named)
            self._named[named] = event.data.get("definitions") if event is not None else None
            self._pieces.know(self._named[named])
        return self._named[named]
