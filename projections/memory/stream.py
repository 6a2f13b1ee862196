"""Where what is remembered of a person stands in the log."""

from __future__ import annotations

from eventlog.errors import EventInvalid, InputRefused, StreamNotFound
from eventlog.reading import Reading
from eventlog.recorded import StreamKey

AGENT, SESSION = "_", "memory"
"""No session of an agent: it is nobody's, and in no list of sessions."""

TYPED = "typed with /remember in"
"""With the session behind it: who says what was typed in a chat, and is no event of it."""


def memory_stream(user: str) -> StreamKey:
    """The stream of a person's memories. Raises EventInvalid for what is no name."""
    return StreamKey(user, AGENT, SESSION).checked()


def is_memory_stream(key: StreamKey) -> bool:
    """Whether memories stand in that stream."""
    return key.agent == AGENT and key.session == SESSION


def check_session(key: StreamKey) -> None:
    """Raise InputRefused for a stream of memories: no conversation is held there."""
    if is_memory_stream(key):
        raise InputRefused(
            f"{key} is no session: what is remembered there is forgotten one by one, or erased "
            "with redact, or all of it with delete --purge"
        )


def stream_id(log: Reading, key: StreamKey | str) -> str:
    """The id of a stream in a log, in hexadecimal; empty where it has none of that name, and for
    what is no name."""
    try:
        return log.stream(key).id.hex()
    except (EventInvalid, StreamNotFound):
        return ""


def memory_name(id: int) -> str:
    """How people call a memory: ``m12``."""
    return f"m{id}"
