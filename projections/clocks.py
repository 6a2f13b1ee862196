"""By which clock it is known when something happened.

A session that was brought in has the clock of its source, or none: when it was brought in says
nothing of it. What the recorder or an embedder wrote was written as it happened, so the log's own
time is its clock. Pure.
"""

from __future__ import annotations

from eventlog.happened import iso, source_moment
from eventlog.recorded import RecordedEvent


def time_of(event: RecordedEvent) -> str:
    """When an event happened, as a label; empty where no clock says."""
    if event.occurred_at is not None:
        return event.occurred_at
    return "" if _is_brought(event) else iso(event.recorded_at)


def known_time(event: RecordedEvent) -> str:
    """When an event happened, as ISO 8601 text, UTC; empty where no clock says."""
    at = source_moment(event.occurred_at)
    if at is not None:
        return iso(at)
    return "" if _is_brought(event) else iso(event.recorded_at)


def _is_brought(event: RecordedEvent) -> bool:
    origin = event.data.get("origin")
    return isinstance(origin, dict) and bool(origin.get("records"))
