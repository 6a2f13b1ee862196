"""Whose a session is: one that we write, or one that another program writes and we observe."""

from __future__ import annotations

from eventlog.reading import Reading
from eventlog.recorded import StreamKey


def is_observed(log: Reading, stream: StreamKey | str) -> bool:
    """Whether only the session's source may write what changes its context.

    A fork says so itself; a session that began without a word is owned. Raises StreamNotFound.
    """
    info = log.stream(stream)
    first = next(log.read(info.key, info.base, types=["session_started", "session_forked"]), None)
    return first is not None and first.data.get("ownership") == "observed"


def owner_at(log: Reading, stream: StreamKey | str, position: int) -> StreamKey:
    """The stream whose event stands at a position: of what a fork shares, an ancestor of it.

    Raises StreamNotFound.
    """
    info = log.stream(stream)
    while info.parent is not None and position <= info.base:
        info = log.stream(info.parent)
    return info.key
