"""A glance at a log: rows of a derived table, where that holds the whole log already.

To list sessions takes a few rows. No event class is loaded for it, nothing is folded, nothing is
written. Where that is not enough there is no glance, and whoever asked opens the log: the file is
of another format, or cannot be written, or damaged, or busy; erased text waits for its scrub; the
table lacks an event.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from eventlog import connection, schema
from eventlog.derived import stamped
from eventlog.errors import CtxlogError

_PATIENCE = 0.1
"""Seconds for which a reader is kept waiting, by a VACUUM say."""


@contextlib.contextmanager
def glance(path: Path, table: str, version: int) -> Iterator[sqlite3.Connection | None]:
    """One unchanging picture of the file, for whoever reads a derived table.

    None where it takes more than a glance. Fetch before it is left. Raises what SQLite raises
    while it is looked at.
    """
    lock = connection.FileLock(connection.lock_path(path), 0)
    db = _looked_at(path, lock, table, version)
    try:
        yield db
    finally:
        if db is not None:
            _close(db, lock)


def _looked_at(
    path: Path, lock: connection.FileLock, table: str, version: int
) -> sqlite3.Connection | None:
    try:
        connection.check_path(path, create=False)
        db, read_only = connection.open_connection(
            path, read_only=False, durability="full", timeout=_PATIENCE, fresh=False, lock=None
        )
    except CtxlogError:
        return None
    try:
        if not read_only and _is_ours(db):
            lock.open()  # not before: beside a foreign file nothing is left
            if _is_whole(db, table, version):
                return db
    except (sqlite3.Error, OSError):
        pass
    _close(db, lock)
    return None


def _close(db: sqlite3.Connection, lock: connection.FileLock) -> None:
    with contextlib.suppress(ValueError):  # it could not be opened
        lock.attempt()  # the last connection checkpoints when it closes
    db.close()
    lock.close()


def _is_ours(db: sqlite3.Connection) -> bool:
    version = db.execute("pragma user_version").fetchone()[0]
    return bool(
        version == schema.FORMAT and db.execute("pragma journal_mode").fetchone()[0] == "wal"
    )


def _is_whole(db: sqlite3.Connection, table: str, version: int) -> bool:
    db.execute("pragma query_only=on")
    db.execute("begin")
    if db.execute("select exists (select 1 from scrubs)").fetchone()[0]:
        return False
    end = db.execute("select coalesce(max(sequence), 0) from events").fetchone()[0]
    return bool(end and stamped(db, table, version) == end)
