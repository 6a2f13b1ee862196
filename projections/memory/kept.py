"""Where the tables of recall are kept: in the log's own file, or in memory beside it.

A log that is open for reading only, and whose tables are behind, is indexed in memory: it is
searched as any other, and nothing is written. Vectors that its file holds are not made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Protocol

from eventlog.catching_up import catch_up_in_steps, reached
from eventlog.connection import translated
from eventlog.derived import stamped
from eventlog.errors import ReadOnlyLog
from eventlog.log import EventLog
from projections.memory import index
from projections.memory.index import RecallIndex, Vector
from projections.memory.table import MemoryTable


class Kept(Protocol):
    """The tables ``memories`` and ``recall`` of a log."""

    def query(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement; fetch from it at once."""

    def bring_up(self) -> None:
        """Take in what the log holds now. Raises ReadOnlyLog where that has to be written, and
        cannot be, and Busy."""

    def is_there(self) -> bool:
        """Whether the tables are there: a scrub drops them."""

    def keep(
        self, stream: int, name: str, dimension: int, found: Sequence[Vector], erasures: int
    ) -> bool:
        """Keep vectors of an embedder, of texts that were read after so many erasures.

        False, and nothing is kept, where more was erased meanwhile, or the tables are not there.
        """


class KeptInFile:
    """In the file itself."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._memories = MemoryTable(log)
        self._index = RecallIndex(log, log.query, self._catch_up)
        self._seen = 0
        """No event up to this sequence is missing."""

    def query(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement; fetch from it at once."""
        return self._log.query(sql, values)

    def bring_up(self) -> None:
        """Take in what the log holds now, a page at a time; see ``Kept``."""
        end = self._log.last_sequence()
        self._catch_up()
        if self._lacks(self._index):
            for _ in catch_up_in_steps(self._log, self._index):
                pass
        self._seen = end

    def _catch_up(self) -> None:
        if self._lacks(self._memories):
            self._log.catch_up(self._memories)

    def _lacks(self, table: MemoryTable | RecallIndex) -> bool:
        """Whether an event is missing that changes the table: most do not, and cost no write.

        Raises ReadOnlyLog where one is, and cannot be taken in.
        """
        found = self._is_behind(table)
        if found and self._log.read_only:
            raise ReadOnlyLog(str(self._log.path))
        return found

    def _is_behind(self, table: MemoryTable | RecallIndex) -> bool:
        types = ", ".join(f"'{name}'" for name in sorted(table.reads))
        with reached(self._log, table) as (db, held):
            if held is None:
                return True
            behind = f"select 1 from events where sequence > ? and type in ({types}) limit 1"
            return db.execute(behind, (max(held, self._seen),)).fetchone() is not None

    def is_there(self) -> bool:
        """Whether the tables are there: a scrub drops them."""
        there = "select count(*) from derived where name in (?, ?)"
        found = self._log.query(there, (MemoryTable.name, RecallIndex.name))
        return bool(found.fetchone()[0] == 2)

    def keep(
        self, stream: int, name: str, dimension: int, found: Sequence[Vector], erasures: int
    ) -> bool:
        """Keep vectors of an embedder; see ``Kept``. Raises ReadOnlyLog, Busy."""
        with self._log.writing() as db:
            if stamped(db, RecallIndex.name, RecallIndex.version) is None:
                return False
            if erased(self._log) != erasures:
                return False
            index.keep(db, stream, name, dimension, found)
        return True


class KeptInMemory:
    """In memory, for as long as this is held."""

    def __init__(self, log: EventLog, *, alone: bool = False) -> None:
        """``alone``: nothing is taken from the file, whose tables cannot be read."""
        self._log, self._alone = log, alone
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._memories = MemoryTable(log)
        self._index = RecallIndex(log, self.query, lambda: None)
        self._memories.create(self._db)
        self._index.create(self._db)
        self._at = 0

    def query(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement; fetch from it at once."""
        return self._db.execute(sql, values)

    def bring_up(self) -> None:
        """Take in what the log holds now."""
        end = self._log.last_sequence()
        for page in self._log._pages(None, self._at, end, MemoryTable.reads):
            with translated(self._log.path):
                self._db.execute("begin")
                self._memories.apply(self._db, page)
                self._index.apply(self._db, page)
                self._db.execute("commit")
        self._at = end

    def is_there(self) -> bool:
        """Always."""
        return True

    def keep(
        self, stream: int, name: str, dimension: int, found: Sequence[Vector], erasures: int
    ) -> bool:
        """Keep vectors of an embedder; see ``Kept``."""
        if erased(self._log) != erasures:
            return False
        index.keep(self._db, stream, name, dimension, found)
        return True

    def take_over(self, stream: int, name: str, dimension: int) -> None:
        """Take the vectors of an embedder that the file holds."""
        if self._alone:
            return
        with reached(self._log, self._index) as (_, held):
            if held is not None:
                found = index.vectors(self._log.query, stream, name, dimension)
                index.keep(self._db, stream, name, dimension, found)


def erased(log: EventLog) -> int:
    """How many events were erased so far."""
    return int(log.query("select count(*) from redactions").fetchone()[0])
