"""Events that are not appended yet, as a fold reads them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from eventlog import codec
from eventlog.events import Event
from eventlog.recorded import RecordedEvent, StreamKey


def as_recorded(stream: StreamKey, first: int, events: Iterable[Event]) -> list[RecordedEvent]:
    """Events as they would be read, were they appended from position ``first`` on.

    Raises EventTooLarge, EventInvalid.
    """
    found = []
    for number, event in enumerate(events):
        encoded = codec.encode(event)
        found.append(
            RecordedEvent(
                stream=stream,
                sequence=0,
                position=first + number,
                event_id=b"",
                type=encoded.type,
                schema_version=encoded.schema_version,
                critical=encoded.critical,
                occurred_at=None,
                recorded_at=0,
                chain=b"",
                erased=False,
                payload=encoded.payload,
                event=event,
            )
        )
    return found
