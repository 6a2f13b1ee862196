"""The ids of imported events: the same record gives the same id, and nobody else can make it.

An id is a UUIDv8 of an HMAC-SHA-256 under the stream's random import key, over the format, the
foreign session id, the raw record, the how-manieth time this record stands in the session, and the
index of the event within the record. Foreign ids are not used: they repeat in real data.

An event made of several records names the first one; the others are mixed in, so that a file in
which only a later one was changed is seen as changed.
"""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Sequence
from typing import NamedTuple


class Stamp(NamedTuple):
    """What the identity of a record is made of."""

    digest: bytes
    occurrence: int
    """0 for the first time that these bytes stand in the session."""


class Identity:
    """Gives the ids of one session's events. Remembers which records it has seen."""

    def __init__(self, key: bytes, format: str, session: str) -> None:
        self._key = key
        self._context = _fields(b"ctxlog/import/1", format.encode(), _bytes(session))
        self._seen: set[bytes] = set()
        self._again: dict[bytes, int] = {}

    def stamp(self, raw: bytes) -> Stamp:
        """The stamp of the next record of the session."""
        digest = hmac.digest(self._key, raw, "sha256")
        short = digest[:12]
        if short not in self._seen:
            self._seen.add(short)
            return Stamp(digest, 0)
        occurrence = self._again[short] = self._again.get(short, 0) + 1
        return Stamp(digest, occurrence)

    def event_id(self, stamps: Sequence[Stamp], index: int) -> uuid.UUID:
        """The id of the ``index``-th event of a record, or of records that belong together."""
        parts = [stamp.digest + stamp.occurrence.to_bytes(8) for stamp in stamps]
        return uuid8(hmac.digest(self._key, _fields(self._context, *parts) + _int(index), "sha256"))


def branch_id(key: bytes, event_id: uuid.UUID) -> uuid.UUID:
    """The id that an event has in a fork with that import key, where its own id is taken."""
    return uuid8(hmac.digest(key, _fields(b"ctxlog/import/fork/1", event_id.bytes), "sha256"))


def uuid8(digest: bytes) -> uuid.UUID:
    """A UUID of the first bytes of a digest. Source: RFC 9562, 5.8."""
    number = int.from_bytes(digest[:16])
    number = number & ~(0xF << 76) | 8 << 76
    number = number & ~(0x3 << 62) | 2 << 62
    return uuid.UUID(int=number)


def _fields(*parts: bytes) -> bytes:
    return b"".join(_int(len(part)) + part for part in parts)


def _int(value: int) -> bytes:
    return value.to_bytes(8)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
