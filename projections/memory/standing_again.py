"""Which memories would stand again once others are erased: nobody can tell any more what those were
about, and what they do not name as superseded seems to have had no rival."""

from __future__ import annotations

from collections.abc import Collection

from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import Target
from eventlog.skeleton import skeleton_of
from projections.live import Live
from projections.memory.folding import READ, concerns, evolve
from projections.memory.state import MemoryState
from projections.memory.stream import is_memory_stream

_SAYING = ("remembered", "memory_revised")


def standing_again(live: Live, targets: Collection[Target]) -> dict[StreamKey, dict[int, int]]:
    """By the streams of memories in which something is to be erased: those that would stand and do
    not now, each with the memory in whose favour it had given way.

    Raises StreamNotFound, and what a damaged log raises.
    """
    at: dict[StreamKey, set[int]] = {}
    for target in targets:
        if is_memory_stream(target.stream):
            at.setdefault(target.stream, set()).add(target.position)
    found = {}
    for key, positions in at.items():
        events = live.log.at(key, positions).values()
        if any(event.type in _SAYING and not event.erased for event in events):
            again = _in(live, key, positions)
            found.update({key: again} if again else {})
    return found


def _in(live: Live, key: StreamKey, positions: Collection[int]) -> dict[int, int]:
    before, after = MemoryState(), MemoryState()
    for event in live.log.read_all(types=READ):
        if concerns(event) == str(key):
            evolve(before, event)
            goes = event.stream == key and event.position in positions
            evolve(after, _erased(event) if goes else event)
    found = {}
    for memory in after:
        was = before.get(memory.id)
        if memory.stands and was is not None and not was.stands:
            found[memory.id] = was.superseded_by
    return found


def _erased(event: RecordedEvent) -> RecordedEvent:
    """The event as it reads when it is erased."""
    return RecordedEvent(
        stream=event.stream,
        sequence=event.sequence,
        position=event.position,
        event_id=event.event_id,
        type=event.type,
        schema_version=event.schema_version,
        critical=event.critical,
        occurred_at=event.occurred_at,
        recorded_at=event.recorded_at,
        chain=event.chain,
        erased=True,
        payload=dumps(skeleton_of(event.type, event.data)),
    )
