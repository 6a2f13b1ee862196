"""The hashes that make a change visible: digests, chains, and the head of the log.

    digest = SHA-256(salt ‖ payload)                        stored only once the payload is erased
    chain  = SHA-256(previous chain ‖ header ‖ digest)      header: length-prefixed fields
    root   = SHA-256("ctxlog/stream/1" ‖ stream id ‖ key)
    fork   = SHA-256("ctxlog/fork/1" ‖ stream id ‖ key ‖ the parent's chain at the fork)
    head   = SHA-256("ctxlog/head/1" ‖ (key, version, chain) of every stream, in the order of keys)

The chain shows an edit, an insertion, a swap or an inner deletion. It cannot show that the newest
rows were cut off, or that the whole file was made anew: only a head that was kept outside the file
does. So the log is tamper-evident relative to a head that somebody kept, and not otherwise.

Every variable field is preceded by its length, so no two headers have the same bytes.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

from eventlog.recorded import StreamKey

HEAD = b"ctxlog/head/1"
"""What the head begins with."""


def _sized(*fields: bytes) -> bytes:
    return b"".join(len(field).to_bytes(4) + field for field in fields)


def digest(salt: bytes, payload: bytes) -> bytes:
    """The salted commitment to a payload: without the salt a short secret could be guessed."""
    return sha256(salt + payload).digest()


def link(
    previous: bytes,
    stream_id: bytes,
    position: int,
    event_id: bytes,
    type_name: str,
    schema_version: int,
    critical: bool,
    occurred_at: str | None,
    recorded_at: int,
    payload_digest: bytes,
) -> bytes:
    """The chain value of one event."""
    when = b"" if occurred_at is None else b"\x01" + occurred_at.encode()
    return sha256(
        b"".join(
            (
                previous,
                stream_id,
                position.to_bytes(8),
                event_id,
                _kind(type_name, schema_version, critical),
                len(when).to_bytes(4),
                when,
                recorded_at.to_bytes(8, signed=True),
                payload_digest,
            )
        )
    ).digest()


@lru_cache(maxsize=256)
def _kind(type_name: str, schema_version: int, critical: bool) -> bytes:
    flag = b"\x01" if critical else b"\x00"
    return _sized(type_name.encode()) + schema_version.to_bytes(4) + flag


def root(stream_id: bytes, key: StreamKey) -> bytes:
    """Where the chain of a root stream begins."""
    fields = (stream_id, *(part.encode() for part in key))
    return sha256(b"ctxlog/stream/1" + _sized(*fields)).digest()


def fork(stream_id: bytes, key: StreamKey, parent_chain: bytes) -> bytes:
    """Where the chain of a fork begins: bound to what it was forked from."""
    fields = (stream_id, *(part.encode() for part in key), parent_chain)
    return sha256(b"ctxlog/fork/1" + _sized(*fields)).digest()


def head(streams: Iterable[tuple[StreamKey, int, bytes]]) -> str:
    """The head over (key, version, chain) of all streams, as hexadecimal."""
    whole = sha256(HEAD)
    for stream in sorted(streams):
        whole.update(entry(*stream))
    return whole.hexdigest()


def entry(key: StreamKey, version: int, chain: bytes) -> bytes:
    """What the head covers of one stream."""
    return _sized(*(part.encode() for part in key)) + version.to_bytes(8) + chain


def address(log_key: bytes, data: bytes) -> str:
    """The name of a binary part: keyed, so that nobody can test a guess of it without the log."""
    return hmac.new(log_key, data, sha256).hexdigest()
