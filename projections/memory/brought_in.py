"""What a session of our own began with out of a document: it was said elsewhere, not here."""

from __future__ import annotations

from eventlog.recorded import RecordedEvent


def is_own(started: RecordedEvent) -> bool:
    """Whether a session that begins is our own; one of another program is observed."""
    return bool(started.data.get("ownership", "owned") == "owned")


def is_titled(started: RecordedEvent) -> bool:
    """Whether the title of a session that begins is that of a document."""
    return is_own(started) and bool(started.data.get("foreign_session_id"))


def is_brought_in(event: RecordedEvent) -> bool:
    """Whether a message of our own session came out of a document. What is recorded as it happens
    comes from no record."""
    origin = event.data.get("origin")
    return isinstance(origin, dict) and bool(origin.get("records"))
