"""Whether somebody else may be in the middle of a reply: a call, or a tool, that has no end yet.

Nobody can know: a process that was killed leaves the same behind. So it is said of what is recent.
"""

from __future__ import annotations

import time

from cli.style import plural
from eventlog import StreamKey
from projections import Live

RECENT = 600
"""Seconds: a client waits two minutes for a model, and asks three times."""

_ENDS = ("model_responded", "model_failed", "tool_result_recorded")
_TYPES = ("model_called", "tool_call_started", *_ENDS)


def open_since(live: Live, key: StreamKey, now: float | None = None) -> int | None:
    """How many seconds ago the last call or tool began that has no end; None where all have, or
    where it is long ago. Calls of this process have ended before it asks."""
    positions = (e.position for e in live.log.headers(key) if e.type == "model_called")
    last = max(positions, default=0)
    if not last:
        return None
    began: dict[object, int] = {}
    for event in live.log.read(key, last - 1, types=list(_TYPES)):
        data = event.data
        if event.type == "model_called":
            began[event.position] = event.recorded_at
        elif event.type == "tool_call_started":
            began[data.get("tool_call_id")] = event.recorded_at
        else:
            began.pop(data.get("call", data.get("tool_call_id")), None)
    if not began:
        return None
    ago = (time.time() if now is None else now) - max(began.values()) / 1e6
    return max(0, int(ago)) if ago < RECENT else None


def told_open(live: Live, key: StreamKey) -> str:
    """That somebody may be answering; empty where nobody can be."""
    ago = open_since(live, key)
    if ago is None:
        return ""
    return f"another process may still be answering: a call {plural(ago, 'second')} ago has no end"
