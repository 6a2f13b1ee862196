"""With which decision items left a context.

Where nothing was undone, rewound or repaired, an item leaves once: with the first compaction behind
it that names it. Else the views before and after each decision say it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from eventlog.recorded import RecordedEvent, StreamKey
from projections import runs
from projections.live import Live
from projections.runs import Named, Origin

TAKING = ("context_compacted", "decision_undone", "repair_applied", "session_rewound")
"""Events that can take an item out of a context."""


def is_folding(event: RecordedEvent) -> bool:
    """Whether a decision put messages in place of what it took out: a summary, as a rule."""
    return event.type == "context_compacted" and bool(event.data.get("messages"))


class _Taken(NamedTuple):
    """What a compaction takes: what it names, or all but what its layout names."""

    position: int
    named: Named
    is_layout: bool

    def takes(self, item: Origin) -> bool:
        return (item in self.named) != self.is_layout


class Leaving:
    """What took items out of a context, up to a position.

    Decisions are looked at no further than is asked for: from the item on where each takes what it
    says, else from the newest back, one view each.
    """

    def __init__(self, live: Live, key: StreamKey, at: int) -> None:
        self._live, self._key, self._until = live, key, at
        self._after = live.view(key, at).items
        self._standing = self._after
        self._found: dict[Origin, int] = {}
        decisions = list(live.log.read(key, to=at, types=TAKING))
        kinds = {event.type for event in decisions}
        self._events = {event.position: event for event in decisions}
        self._has_repairs = "repair_applied" in kinds
        self._left = [event.position for event in decisions]
        self._plain: list[_Taken] | None = None
        if kinds <= {"context_compacted"}:
            self._plain = [_taken(event) for event in decisions]

    def of(self, item: Origin) -> RecordedEvent | None:
        """The event with which an item left last; None when it stands, or never stood.

        That is a decision, or the real result that took the place of a synthetic one.
        """
        if item in self._standing:
            return None
        if self._plain is not None and item not in self._found:
            first = bisect_right(self._left, runs.position_of(item))
            taken = (t.position for t in self._plain[first:] if t.takes(item))
            self._found[item] = next(taken, 0)
        while item not in self._found and self._left:
            self._step()
        position = self._found.get(item)
        if not position:
            return None
        if position not in self._events:
            self._events.update(self._live.log.at(self._key, [position]))
        return self._events[position]

    def _step(self) -> None:
        position = self._left.pop()
        before = self._live.view(self._key, position - 1).items
        # What came in between this decision and the next one was not there before it.
        behind = self._after
        if self._has_repairs:
            behind = self._live.view(self._key, position).items
            for item in behind.keys() - self._after.keys() - self._found.keys():
                self._found[item] = self._replaced(item, position)
        for item in before.keys() - behind.keys() - self._found.keys():
            self._found[item] = position
        self._after, self._until = before, position - 1

    def _replaced(self, item: Origin, after: int) -> int:
        """Which result took the place of an item that a repair had put there."""
        kinds = ["tool_result_recorded"]
        for result in self._live.log.read(self._key, after, self._until, types=kinds):
            if item not in self._live.view(self._key, result.position).items:
                return result.position
        return after


def _taken(event: RecordedEvent) -> _Taken:
    at, layout = event.position, event.data.get("layout")
    if layout is None:
        return _Taken(at, Named(event.data.get("covered", ()), at), False)
    return _Taken(at, Named((entry for entry in layout if entry[:1] != "m"), at), True)
