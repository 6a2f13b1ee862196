"""What a stream would show if some events were appended: nothing is written.

So a command can say what it will change, and by how much, before it does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventlog.events import Event
from eventlog.recorded import RecordedEvent, StreamKey
from projections import materialize
from projections.context import View, fold
from projections.force import is_refolding
from projections.items import Item
from projections.live import Live
from projections.observe import draft_at
from projections.runs import Standing


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The view before and after some events."""

    live: Live
    stream: StreamKey
    before: View
    after: View
    events: tuple[RecordedEvent, ...]

    def items(self, standing: Sequence[Standing]) -> list[Item]:
        """Items in their renditions, those included that the events bring in."""
        new = {event.position: event for event in self.events}
        wanted = materialize.needed(standing)
        known = self.live.log.at(self.stream, wanted - new.keys()) | new
        missing = materialize.referenced(standing, known)
        known.update(self.live.log.at(self.stream, missing - new.keys()))
        return materialize.materialize(standing, known)


def foreseen(live: Live, stream: StreamKey, first: int, events: Sequence[Event]) -> Foreseen:
    """What the stream as it is now would show after these events.

    ``first`` is the position of the first: behind the end, or one further where a fork begins.
    Raises CriticalUnknown, EventTooLarge, EventInvalid.
    """
    before = live.view(stream)
    new = [draft_at(event, stream, first + n) for n, event in enumerate(events)]
    if is_refolding(new):
        after = fold([*live.history(stream), *new])
    else:
        after = before.copy()
        for event in new:
            after.evolve(event)
    return Foreseen(live, stream, before, after, tuple(new))
