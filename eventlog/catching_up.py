"""Bringing a lazy table up to the end of a log, in steps that others can write between.

``EventLog.catch_up`` does all of it in one transaction, which is right for a table of a row a
stream. One that holds every word of a log would keep writers waiting: here each page of events is
a transaction of its own, and what costs most, ``prepare``, is done before the lock is taken. Rows
and stamp go in together, so a process that is killed leaves a shorter table, and the next one goes
on from there.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from eventlog import connection
from eventlog.derived import Derived, Stamp
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent

Rows = TypeVar("Rows")


class Preparing(Derived, Protocol[Rows]):
    """A derived table whose work is mostly done without the file."""

    def prepare(self, events: Sequence[RecordedEvent]) -> Rows:
        """What is to be written for some events, in the order of the log."""

    def write(self, connection: sqlite3.Connection, rows: Rows) -> None:
        """Write it, inside a transaction."""


class Progress(NamedTuple):
    """How far a table is."""

    sequence: int
    """Of the last event that it holds."""
    end: int
    """Of the last event of the log when it began."""


def catch_up_in_steps(log: EventLog, table: Preparing[Rows]) -> Iterator[Progress]:
    """Bring a table up to the end that the log has now; yields after each step.

    Only events that it takes in are read (``derived.Reading``). Text that is erased while it is on
    its way into the table is not written: the step is begun anew. Raises ReadOnlyLog, Busy.
    """
    end = log.last_sequence()
    while True:
        at, erasures = _begin(log, table)
        if at >= end:
            return
        for page in log._pages(None, at, end, getattr(table, "reads", None)):
            rows = table.prepare(page)
            with log.writing() as db:
                stamp = Stamp(table)
                if stamp.read(db) != at or _erasures(db) != erasures:
                    break  # another process went on with it, made it anew, or erased something
                table.write(db, rows)
                stamp.move(db, page[-1].sequence)
            at = page[-1].sequence
            yield Progress(at, end)
        else:
            _move(log, table, at, end)
            return


def _begin(log: EventLog, table: Preparing[Rows]) -> tuple[int, int]:
    """Where the table is, made when it was missing or did not fit; and the number of erasures."""
    with log._mutex, connection.translated(log.path):
        db = log._ready()
        at = Stamp(table).read(db)
        if at is not None:
            return at, _erasures(db)
    with log.writing() as db:
        stamp = Stamp(table)
        at = stamp.read(db)
        if at is None:
            stamp.reset(db)
            stamp.store(db)
            at = 0
        return at, _erasures(db)


def _move(log: EventLog, table: Preparing[Rows], at: int, end: int) -> None:
    """What follows up to the end does not concern the table."""
    if at < end:
        with log.writing() as db:
            stamp = Stamp(table)
            if stamp.read(db) == at:
                stamp.move(db, end)


def _erasures(db: sqlite3.Connection) -> int:
    return int(db.execute("select count(*) from redactions").fetchone()[0])


@contextlib.contextmanager
def reached(log: EventLog, table: Derived) -> Iterator[tuple[sqlite3.Connection, int | None]]:
    """One unchanging picture of the file, and the event up to which the table holds it.

    None where the table is not there, or is not of this program. Fetch before it is left.
    """
    with picture(log) as db, connection.translated(log.path):
        yield db, Stamp(table).read(db)


@contextlib.contextmanager
def picture(log: EventLog) -> Iterator[sqlite3.Connection]:
    """One unchanging picture of the file: all that is read in the block is of one moment, whatever
    other processes append meanwhile. Nothing can be written in it, and no other thread reads."""
    with log._mutex:
        db = log._ready()
        if db.in_transaction:  # it is one already
            yield db
            return
        with connection.translated(log.path):
            db.execute("begin")
        try:
            with connection.translated(log.path):
                db.execute("select 1 from events limit 1").fetchone()  # the moment is this one
            yield db
        finally:
            if db.in_transaction:  # SQLite ends it by itself where the disk fails
                with connection.translated(log.path):
                    db.execute("rollback")
