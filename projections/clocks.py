"""By which clock it is known when something happened.

A session that was brought in has the clock of its source, or none: when it was brought in says
nothing of it. What the recorder or an embedder wrote was written as it happened, so the log's own
time is its clock. Pure.
"""

from __future__ import annotations

from eventlog.happened import iso
from eventlog.recorded import RecordedEvent


def time_of(event: RecordedEvent) -> str:
    """When an event happened, as a label; empty where no clock says."""
    if event.occurred_at is not None:
        return event.occurred_at
    origin = event.data.get("origin")
    is_brought = isinstance(origin, dict) and bool(origin.get("records"))
    return "" if is_brought else iso(event.recorded_at)
