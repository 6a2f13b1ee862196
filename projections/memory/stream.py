"""Where what is remembered of a person stands in the log."""

from __future__ import annotations

from eventlog.recorded import StreamKey

AGENT, SESSION = "_", "memory"
"""No session of an agent: it is nobody's, and in no list of sessions."""


def memory_stream(user: str) -> StreamKey:
    """The stream of a person's memories. Raises EventInvalid for what is no name."""
    return StreamKey(user, AGENT, SESSION).checked()


def is_memory_stream(key: StreamKey) -> bool:
    """Whether memories stand in that stream."""
    return key.agent == AGENT and key.session == SESSION


def memory_name(id: int) -> str:
    """How people call a memory: ``m12``."""
    return f"m{id}"
