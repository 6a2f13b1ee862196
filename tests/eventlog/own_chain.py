"""The chain again, written from the documentation alone, so that a mistake in it cannot hide."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path


def recompute(path: Path) -> list[str]:
    """What does not hold in a log: chains, gaps, integrity_check. Empty when all is well."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return _problems(connection)
    finally:
        connection.close()


def _problems(connection: sqlite3.Connection) -> list[str]:
    problems = []
    if connection.execute("pragma integrity_check").fetchall() != [("ok",)]:
        problems.append("integrity_check")
    sequences = [row[0] for row in connection.execute("select sequence from events order by 1")]
    if sequences != list(range(1, len(sequences) + 1)):
        problems.append("a gap in the sequences")
    after: dict[tuple[int, int], bytes] = {}  # (stream row, position) to chain
    streams = "select row, id, user, agent, session, parent, base from streams order by row"
    for row, stream_id, user, agent, session, parent, base in connection.execute(streams):
        key = b"".join(
            len(f).to_bytes(4, "big") + f for f in map(str.encode, (user, agent, session))
        )
        named = len(stream_id).to_bytes(4, "big") + stream_id + key
        if parent is None:
            value = hashlib.sha256(b"ctxlog/stream/1" + named).digest()
        else:
            value = after[(parent, base)]
            named += len(value).to_bytes(4, "big") + value
            value = hashlib.sha256(b"ctxlog/fork/1" + named).digest()
            for (owner, position), inherited in list(after.items()):
                if owner == parent and position <= base:
                    after[(row, position)] = inherited
        expected = base + 1
        for event in connection.execute(
            "select position, id, type, schema_version, critical, occurred_at, recorded_at, salt, "
            "erased, payload, chain from events where stream = ? order by position",
            (row,),
        ):
            position, event_id, kind, version, critical, occurred, recorded = event[:7]
            salt, erased, payload, chain = event[7:]
            if position != expected:
                problems.append(f"stream {row}: position {position} where {expected} is expected")
            expected = position + 1
            digest = erased or hashlib.sha256(salt + payload.encode()).digest()
            when = b"" if occurred is None else b"\x01" + occurred.encode()
            header = (
                stream_id
                + position.to_bytes(8, "big")
                + event_id
                + len(kind).to_bytes(4, "big")
                + kind.encode()
                + version.to_bytes(4, "big")
                + bytes([critical])
                + len(when).to_bytes(4, "big")
                + when
                + recorded.to_bytes(8, "big", signed=True)
            )
            value = hashlib.sha256(value + header + digest).digest()
            if value != chain:
                problems.append(f"stream {row} position {position}: the chain")
            after[(row, position)] = value
    return problems
