"""Memories that were taken up from a document: from which event, and which events from one here.

An event of a document keeps the id that it had there in its origin.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection

from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.memory.stream import AGENT, SESSION

ELSEWHERE = "another log"
"""Where an event came from that is not in this log."""

_KINDS = ("remembered", "memory_revised", "profile_updated")

_FEW = 50
"""Events whose copies are looked for by their names in the payloads."""


def came_from(live: Live, event: RecordedEvent) -> str:
    """``user/_/memory@6`` of an event that was taken up from a document, or ``another log``; empty
    for one that was not. Raises EventInvalid for a damaged event."""
    ids = _ids_of(event)
    if not ids:
        return ""
    for stream, position in live.log.known_ids(ids).values():
        if (stream, position) != (event.stream, event.position):
            return f"{stream}@{position}"
    return ELSEWHERE


def taken_up(
    live: Live, events: Collection[RecordedEvent]
) -> list[tuple[RecordedEvent, RecordedEvent]]:
    """What was taken up from some events of memory under other persons, each with the one that it
    came from. Raises EventInvalid for a damaged event."""
    first = {event.id: event for event in events}
    if not first:
        return []
    names = [str(id) for id in first] if len(first) <= _FEW else []
    some = " or ".join("instr(e.payload, ?)" for _ in names) or "1"
    kinds = ", ".join("?" * len(_KINDS))
    rows = live.log.query(
        "select s.user, e.position from events e join streams s on s.row = e.stream "
        f"where s.agent = ? and s.session = ? and e.type in ({kinds}) "
        f"and e.payload is not null and ({some}) order by e.sequence",
        (AGENT, SESSION, *_KINDS, *names),
    ).fetchall()
    at: dict[StreamKey, list[int]] = {}
    for user, position in rows:
        at.setdefault(StreamKey(user, AGENT, SESSION), []).append(position)
    found = []
    for key, positions in at.items():
        for event in live.log.at(key, positions).values():
            of = next((first[id] for id in _ids_of(event) if id in first), None)
            if of is not None and of.id != event.id:
                found.append((event, of))
    return found


def _ids_of(event: RecordedEvent) -> list[uuid.UUID]:
    origin = event.event.origin
    words = (record.id.partition(" ")[0] for record in origin.records) if origin else ()
    return [uuid.UUID(word) for word in words if _is_id(word)]


def _is_id(word: str) -> bool:
    try:
        return len(word) == 36 and str(uuid.UUID(word)) == word.lower()
    except ValueError:
        return False
