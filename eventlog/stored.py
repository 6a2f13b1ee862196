"""Rows as they are stored, read by somebody who trusts nothing: a verifier and an export."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple

from eventlog import chain, codec
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from eventlog.recorded import StreamKey
from eventlog.snapshot import Text

LOG_KEYS = "select value from meta where key = 'log_key' or key like 'log_key/%'"
"""The log's own key for the addresses of binary parts, and those of logs that were imported."""


class Problem(NamedTuple):
    """One thing that does not hold."""

    stream: str
    """The full key of the stream, or nothing where the file as a whole is meant."""
    position: int | None
    kind: str
    """A column of ``events``, or: chain, gap, sequence, stream, fork, type, payload, redaction,
    blob, schema, database, head."""
    message: str


def stored_head(db: sqlite3.Connection) -> str:
    """The head over the stored chains."""
    rows = db.execute(
        "select user, agent, session, position, chain from streams s join events e on "
        "e.sequence = (select sequence from events where stream = s.row "
        "order by position desc limit 1)"
    )
    return chain.head((StreamKey(*map(string, row[:3])), row[3], row[4]) for row in rows)


def string(value: Any) -> str:
    """A name of a stream, whose bytes may be those of any type."""
    return value.decode() if isinstance(value, bytes) else str(value)


@dataclass(slots=True)
class StoredStream:
    """A row of ``streams``, and how far its events have been read."""

    row: int
    id: bytes
    key: StreamKey
    parent: int | None
    base: int
    version: int = 0
    link: bytes | None = None
    own: int = 0


_INTEGERS = ("sequence", "stream", "position", "schema_version", "critical", "recorded_at")
COLUMNS = (
    "sequence, stream, position, id, type, schema_version, critical, occurred_at, recorded_at, "
    "salt, chain, erased, payload"
)


class StoredEvent(NamedTuple):
    """A row of ``events``; in a damaged file any field may hold anything."""

    sequence: int
    stream: int
    position: int
    id: bytes
    type: Text
    schema_version: int
    critical: int
    occurred_at: Text | None
    recorded_at: int
    salt: bytes | None
    chain: bytes
    erased: bytes | None
    payload: Text | None

    def wrong(self) -> list[str]:
        """The columns that hold what this program never writes there."""
        bad = [name for name in _INTEGERS if type(getattr(self, name)) is not int]
        sizes = (("id", 16, False), ("chain", 32, False), ("salt", 16, True), ("erased", 32, True))
        for name, size, optional in sizes:
            value = getattr(self, name)
            if not (type(value) is bytes and len(value) == size) and not (
                optional and value is None
            ):
                bad.append(name)
        for name in ("type", "occurred_at", "payload"):
            value = getattr(self, name)
            if value is None and name != "type":
                continue
            if not (type(value) is Text and _is_utf8(value)):
                bad.append(name)
        if self.critical not in (0, 1):
            bad.append("critical")
        if type(self.schema_version) is int and not 0 <= self.schema_version < 2**31:
            bad.append("schema_version")
        if self.erased is not None:
            bad += [name for name in ("salt", "payload") if getattr(self, name) is not None]
        else:
            bad += [name for name in ("salt", "payload") if getattr(self, name) is None]
        return sorted(set(bad))


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def binary_parts(type_name: str, payload: str) -> set[str]:
    """The addresses of the binary parts that left a stored payload.

    Raises EventInvalid for what the codec never writes; what another program keeps under that name
    in an event of its own is none.
    """
    if '"blobs"' not in payload:
        return set()
    value = loads(payload)
    try:
        named = {str(address) for _, address, _ in value.get("blobs", ())}
    except (AttributeError, TypeError, ValueError):
        if type_name in codec.CLASSES:
            raise EventInvalid("the list of its binary parts is unreadable") from None
        return set()
    return named


def shown(value: Any) -> str:
    """A value of any type as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
