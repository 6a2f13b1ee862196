"""The head of one session: the chain value of its last event.

It covers the session's key, its events and all that it was forked from. An export carries it, so a
session that has the same head at the same version in two logs is the same in both, to the byte.
"""

from __future__ import annotations

from typing import NamedTuple

from eventlog import StreamKey
from eventlog.errors import DamagedLog
from eventlog.reading import Reading


class SessionHead(NamedTuple):
    """The head of a session at a version."""

    head: str
    version: int
    events: int
    """Its own: what it inherits is its parent's."""


def session_head(log: Reading, key: StreamKey) -> SessionHead:
    """The head of a session. Raises StreamNotFound, DamagedLog."""
    info = log.stream(key)
    row = log.query(
        "select position, chain from events where stream = ? order by position desc limit 1",
        (info.row,),
    ).fetchone()
    if row is None or not isinstance(row[1], bytes):
        raise DamagedLog(str(log.path), f"session {key} has no head")
    return SessionHead(row[1].hex(), row[0], row[0] - info.base)


def version_with(log: Reading, key: StreamKey, head: str) -> int | None:
    """The version at which a session had a head; None where it never had it."""
    row = log.query(
        "select position from events where stream = ? and chain = ?",
        (log.stream(key).row, bytes.fromhex(head.strip())),
    ).fetchone()
    return row[0] if row is not None else None
