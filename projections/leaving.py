"""With which decision items left a context."""

from __future__ import annotations

from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.runs import Origin

TAKING = ("context_compacted", "decision_undone", "repair_applied", "session_rewound")
"""Events that can take an item out of a context."""


class Leaving:
    """The decisions that took items out of a context, up to a position.

    They are looked at from the newest back, one view each, and no further than is asked for.
    """

    def __init__(self, live: Live, key: StreamKey, at: int) -> None:
        self._live, self._key = live, key
        self._after = live.view(key, at).items
        self._found: dict[Origin, int] = {}
        self._events: dict[int, RecordedEvent] = {}
        self._left = [event.position for event in live.log.read(key, to=at, types=TAKING)]

    def of(self, item: Origin) -> RecordedEvent | None:
        """The decision with which an item left last; None when it stands, or never stood."""
        if item in self._after and item not in self._found:
            return None
        while item not in self._found and self._left:
            self._step()
        position = self._found.get(item)
        if position is None:
            return None
        if position not in self._events:
            self._events.update(self._live.log.at(self._key, [position]))
        return self._events[position]

    def _step(self) -> None:
        position = self._left.pop()
        before = self._live.view(self._key, position - 1).items
        # What came in between this decision and the next one was not there before it.
        for item in before.keys() - self._after.keys():
            self._found.setdefault(item, position)
        self._after = before
