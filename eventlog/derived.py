"""Tables that are computed from events, and the stamps that say how far they are.

``EventLog`` runs the ``apply`` of each eager table inside the append's own transaction. A table may
also be brought up to date when it is read (``EventLog.catch_up``). Either way its stamp names the
last event that it is known to hold, with the chain value there. A writer that opened the log
without the table leaves the stamp behind, and the next one that has it applies what is missing, or
starts anew when the version or the chain does not fit. So correctness never rests on who wrote.

The stamp moves only when ``apply`` wrote something, or after ``STRIDE`` events: a plain append then
writes nothing but its event. Applying an event twice must therefore be harmless.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from eventlog.recorded import RecordedEvent

    Reader = Callable[[int, int, Iterable[str] | None], Iterator[list[RecordedEvent]]]
    """(after sequence, up to sequence, of these types) to pages of events."""

STRIDE = 256
"""Events after which a stamp moves even when nothing was written."""


class Derived(Protocol):
    """A table computed from events; it can be dropped and made again at any time."""

    name: str
    version: int

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the table empty, dropping what stood there."""

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Take in events, in the order of the log; whether anything was written."""

    def forget(self) -> None:
        """Drop what is kept in memory: another process wrote, or a transaction was rolled back."""


class Reading(Derived, Protocol):
    """A lazy table that takes in few of the events: the others are not read for it."""

    reads: Iterable[str]
    """Their types."""


class Stamp:
    """How far one derived table is, in memory and in the file."""

    def __init__(self, table: Derived) -> None:
        self.table = table
        self._at: int | None = None
        self._stored = 0

    def forget(self) -> None:
        """Another process wrote, or a transaction was rolled back: read the stamp anew."""
        self._at = None
        self.table.forget()

    def catch_up(self, connection: sqlite3.Connection, to: int, read: Reader) -> None:
        """Apply everything up to sequence ``to``, inside the caller's write transaction."""
        if self._at is None:
            self._at = self._stored = self._load(connection)
        if self._at >= to:
            return
        for page in read(self._at, to, getattr(self.table, "reads", None)):
            self.apply(connection, page)
        self._at = to
        self.store(connection)

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> None:
        """Apply the events that follow directly on the stamp."""
        wrote = self.table.apply(connection, events)
        self._at = events[-1].sequence
        if wrote or self._at - self._stored >= STRIDE:
            self.store(connection)

    def move(self, connection: sqlite3.Connection, to: int) -> None:
        """The table holds everything up to sequence ``to``: write that down."""
        self._at = to
        self.store(connection)

    def store(self, connection: sqlite3.Connection) -> None:
        """Write the stamp."""
        if self._at is None or self._at == self._stored:
            return
        connection.execute(
            "insert into derived values (?, ?, ?, coalesce("
            "(select chain from events where sequence = ?), x'')) on conflict (name) do update set "
            "version = excluded.version, sequence = excluded.sequence, chain = excluded.chain",
            (self.table.name, self.table.version, self._at, self._at),
        )
        self._stored = self._at

    def behind(self, connection: sqlite3.Connection, to: int) -> bool:
        """Whether events up to ``to`` are missing."""
        at = self._at if self._at is not None else self.read(connection)
        return at is None or at < to

    def reset(self, connection: sqlite3.Connection) -> None:
        """Make the table anew; nothing is applied yet."""
        self.table.forget()
        self.table.create(connection)
        connection.execute("delete from derived where name = ?", (self.table.name,))
        self._at, self._stored = 0, -1

    def read(self, connection: sqlite3.Connection) -> int | None:
        """The last event that the file says it holds; None when it has to be made anew."""
        return stamped(connection, self.table.name, self.table.version)

    def _load(self, connection: sqlite3.Connection) -> int:
        at = self.read(connection)
        if at is None:
            self.reset(connection)
            return 0
        return at


def stamped(connection: sqlite3.Connection, name: str, version: int) -> int | None:
    """The last event that a derived table holds, as the file says; None when it is not there, or
    has to be made anew."""
    row = connection.execute(
        "select d.sequence, d.version, d.chain is e.chain from derived d "
        "left join events e on e.sequence = d.sequence where d.name = ?",
        (name,),
    ).fetchone()
    if row is None or row[1] != version or (row[0] > 0 and not row[2]):
        return None
    return int(row[0])


def drop_table(connection: sqlite3.Connection, name: str) -> None:
    """Drop a derived table, inside a write transaction; nothing where there is none.

    A virtual table that its module cannot open any more, since what it keeps is damaged or the
    module is missing, cannot be dropped as such: it has no pages of its own, so its name is taken
    out of the schema. The tables in which it keeps its rows are the caller's to drop.
    """
    try:
        connection.execute(f'drop table if exists "{name}"')
    except sqlite3.DatabaseError:
        connection.execute("pragma writable_schema=on")
        try:
            gone = connection.execute(
                "delete from sqlite_schema where type = 'table' and name = ? and rootpage = 0",
                (name,),
            ).rowcount
        finally:
            connection.execute("pragma writable_schema=reset")
        if not gone:
            raise
