"""Something that could not be written when it happened."""

from __future__ import annotations

from dataclasses import dataclass

from eventlog.events import Event
from harness.recording.calls import RecordedCall
from harness.recording.posted import Posted


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request, or what came back."""

    call: RecordedCall
    posted: Posted | None = None
    events: tuple[Event, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the request."""
        return len(self.posted.body) if self.posted is not None else 0
