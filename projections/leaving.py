"""With which decision items left a context."""

from __future__ import annotations

from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.runs import Origin

TAKING = ("context_compacted", "decision_undone", "repair_applied", "session_rewound")
"""Events that can take an item out of a context."""


class Leaving:
    """What took items out of a context, up to a position.

    Decisions are looked at from the newest back, one view each, and no further than is asked for.
    """

    def __init__(self, live: Live, key: StreamKey, at: int) -> None:
        self._live, self._key, self._until = live, key, at
        self._after = live.view(key, at).items
        self._standing = self._after
        self._found: dict[Origin, int] = {}
        decisions = [(e.position, e.type) for e in live.log.read(key, to=at, types=TAKING)]
        self._left = [position for position, _ in decisions]
        self._has_repairs = any(kind == "repair_applied" for _, kind in decisions)

    def of(self, item: Origin) -> RecordedEvent | None:
        """The event with which an item left last; None when it stands, or never stood.

        That is a decision, or the real result that took the place of a synthetic one.
        """
        if item in self._standing:
            return None
        while item not in self._found and self._left:
            self._step()
        position = self._found.get(item)
        return self._live.log.at(self._key, [position])[position] if position else None

    def _step(self) -> None:
        position = self._left.pop()
        before = self._live.view(self._key, position - 1).items
        # What came in between this decision and the next one was not there before it.
        gone = before.keys() - self._after.keys() - self._found.keys()
        behind: set[Origin] = set()
        if self._has_repairs and any(isinstance(item, str) for item in gone):
            behind = gone & self._live.view(self._key, position).items.keys()
        for item in gone:
            self._found[item] = self._replaced(item, position) if item in behind else position
        self._after, self._until = before, position - 1

    def _replaced(self, item: Origin, after: int) -> int:
        """Which result took the place of an item that a repair had put there."""
        kinds = ["tool_result_recorded"]
        for result in self._live.log.read(self._key, after, self._until, types=kinds):
            if item not in self._live.view(self._key, result.position).items:
                return result.position
        return after
