"""Whether a log only grew since a head that was kept: proved from the log alone.

A head is over (key, version, chain) of every stream. Events are taken back one by one, the newest
first, until what is left has the head that was kept. Then all that stood there at that time still
does, and what was taken back was appended since. Where no state has it, something that the head
covers is gone or changed, or it is the head of another log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from hashlib import sha256

from eventlog import chain
from eventlog.connection import translated
from eventlog.errors import DamagedLog
from eventlog.reading import PAGE, Reading
from eventlog.recorded import StreamKey
from eventlog.snapshot import snapshot
from eventlog.stored import string


def appended_since(
    log: Reading, head: str, progress: Callable[[int, int], None] | None = None
) -> int | None:
    """How many events were appended since the log had a head; None where it never had it.

    Only the stored chains are read: that they are true is for ``verify`` to say. The order in
    which events were appended is that of this file: a log that was brought in from an export has
    the head of the exported one, and none of its earlier ones. Reads linear in the number of
    events, each with one hash over as many entries as there are streams. Raises DamagedLog.
    """
    try:
        with translated(log.path), snapshot(log) as db:
            return taken_back(db, head, progress)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise DamagedLog(str(log.path), f"its streams cannot be followed: {error}") from None


def taken_back(
    db: sqlite3.Connection, head: str, progress: Callable[[int, int], None] | None = None
) -> int | None:
    """``appended_since`` over a connection whose picture of the file does not change."""
    wanted = head.strip().lower()
    names = {
        row: StreamKey(*map(string, key))
        for row, *key in db.execute("select row, user, agent, session from streams")
    }
    entries: dict[int, bytes] = {}
    for row, position, link in db.execute(
        "select s.row, e.position, e.chain from streams s join events e on e.sequence = "
        "(select sequence from events where stream = s.row order by position desc limit 1)"
    ):
        entries[row] = chain.entry(names[row], position, link)
    order = sorted(entries, key=names.__getitem__)
    count, last = 0, 2**63 - 1
    (total,) = db.execute("select count(*) from events").fetchone()
    stream, before, after = 0, sha256(), b""
    while True:
        rows = db.execute(
            "select e.sequence, e.stream, e.position - 1, p.chain from events e left join events p "
            "on p.stream = e.stream and p.position = e.position - 1 "
            "where e.sequence <= ? order by e.sequence desc limit ?",
            (last, PAGE),
        ).fetchall()
        if not rows:
            return None
        for _, row, version, link in rows:
            if row != stream:
                # What stands on both sides stays as it is for a run of events of one stream.
                stream, place = row, order.index(row)
                before = sha256(chain.HEAD + b"".join(entries[r] for r in order[:place]))
                after = b"".join(entries[r] for r in order[place + 1 :])
            entries[row] = chain.entry(names[row], version, link) if link is not None else b""
            whole = before.copy()
            whole.update(entries[row] + after)
            count += 1
            if whole.hexdigest() == wanted:
                return count
        last = rows[-1][0] - 1
        if progress is not None:
            progress(count, total)
