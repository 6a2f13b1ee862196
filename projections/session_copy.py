"""The derived tables of the sessions in memory: what a log that is only read is listed from.

It begins with what the file holds of them, and takes in the events behind that, so to list a log
that an agent writes to costs what is new in it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from eventlog.catching_up import reached
from eventlog.derived import Derived
from eventlog.log import EventLog

_TABLES = ("sessions", "sessions_states")


class Copy:
    """Both tables, for as long as this is held."""

    def __init__(self, log: EventLog, table: Derived) -> None:
        """Raises what reading the log raises."""
        self._log, self._table = log, table
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._at = self._taken()

    def query(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement; fetch from it at once."""
        return self._db.execute(sql, values)

    def bring_up(self) -> None:
        """Take in what the log holds now. Raises what reading the log raises."""
        end = self._log.last_sequence()
        for page in self._log._pages(None, self._at, end, None):
            self._db.execute("begin")
            try:
                self._table.apply(self._db, page)
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")
            self._at = page[-1].sequence

    def _taken(self) -> int:
        """What the file holds; the event up to which that is."""
        self._table.create(self._db)
        with reached(self._log, self._table) as (file, at):
            if at is None:
                return 0
            self._db.execute("begin")
            for name in _TABLES:
                found = file.execute(f"select * from {name}")
                marks = ", ".join("?" * len(found.description))
                self._db.executemany(f"insert into {name} values ({marks})", found)
            self._db.execute("commit")
            return at
