"""What a projection is: an initial state, one step, and all steps.

    state = fold(projection, events)

A projection reads no clock, no file and no network, so the same events give the same state
everywhere. The state belongs to the fold: a small one is replaced by each step, one that grows is
changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from eventlog.recorded import RecordedEvent

State = TypeVar("State")


class Projection(Protocol[State]):
    """``initial`` and ``evolve``; nothing else is needed to compute a state from events."""

    def initial(self) -> State:
        """The state before the first event."""
        ...

    def evolve(self, state: State, event: RecordedEvent) -> State:
        """The state after one more event."""
        ...


def fold(projection: Projection[State], events: Iterable[RecordedEvent]) -> State:
    """The state after all of the events."""
    state = projection.initial()
    for event in events:
        state = projection.evolve(state, event)
    return state
