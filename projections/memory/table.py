"""The memories of all persons, a row each, so that a hundred thousand are asked without a fold.

``memories`` is a lazy derived table of the log: the same fold as ``state``, kept in SQLite. A log
that is only read, or that somebody else writes to for long, is folded into a table in memory. A
table that is damaged or missing is made anew from the events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pydantic import ValidationError

from eventlog.errors import Busy, DamagedLog, EventInvalid, ReadOnlyLog
from eventlog.jsonvalue import dumps, loads
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.memory.errors import DamagedTable, MemoryNotFound
from projections.memory.folding import READ, concerns, evolve
from projections.memory.memory import Memory, same_subject
from projections.memory.profile import Profile
from projections.memory.state import text_of
from projections.memory.stream import (
    AGENT,
    SESSION,
    is_memory_stream,
    memory_name,
    memory_stream,
    stream_id,
)

Query = Callable[[str, Sequence[Any]], sqlite3.Cursor]
"""One reading statement with its values."""

_CREATE = (
    """create table memories (
  row integer primary key, stream integer not null, id integer not null, kind text not null,
  subject text not null, rendition text not null, stands integer not null,
  importance real not null, accesses integer not null, remembered_at integer not null,
  refreshed_at integer not null, state text not null
) strict""",
    "create unique index memories_by_id on memories (stream, id)",
    # With the id: else the newest about a subject is looked for among all ids.
    "create index memories_by_subject on memories (stream, kind, subject, id) "
    "where stands and subject <> ''",
    "create table memories_sources (row integer not null, session text not null) strict",
    "create index memories_sources_by_session on memories_sources (session, row)",
    "create index memories_sources_by_row on memories_sources (row)",
    "create table memories_profiles (stream integer primary key, state text not null) strict",
)


class MemoryTable:
    """The derived table ``memories``; to be given to ``EventLog.catch_up``."""

    name, version = "memories", 3
    reads = READ | {"redacted"}

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._apart: tuple[int, Query] | None = None
        self._is_damaged = False
        """That of the file, which cannot be made anew."""

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the tables empty."""
        for table in ("memories", "memories_sources", "memories_profiles"):
            connection.execute(f"drop table if exists {table}")
        for statement in _CREATE:
            connection.execute(statement)

    def forget(self) -> None:
        """Nothing is kept in memory."""

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Fold events in, in the order of the log."""
        anew: set[str] = set()
        stores: dict[str, _Rows] = {}
        for event in events:
            if event.type == "redacted":
                anew |= _touched(event)
                continue
            key = concerns(event, self._id_of)
            if key and key not in stores and (row := self._row(key)) is not None:
                stores[key] = _Rows(connection, row)
            if key in stores:
                evolve(stores[key], event)
        for key in anew:
            if (row := self._row(key)) is not None:
                stores[key] = self._refolded(_Rows(connection, row), key, events[-1].sequence)
        return bool(stores)

    def _id_of(self, key: str) -> str:
        return stream_id(self._log, key)

    def _row(self, key: str) -> int | None:
        try:
            found = StreamKey.parse(key)
        except EventInvalid:  # whatever a log names
            return None
        if not is_memory_stream(found) or not self._log.exists(found):
            return None
        return self._log.stream(found).row

    def _refolded(self, store: _Rows, key: str, to: int) -> _Rows:
        """An erased event says something else than it did."""
        store.clear()
        for event in self._log.read_all(types=READ):
            if event.sequence > to:
                break
            if concerns(event, self._id_of) == key:
                evolve(store, event)
        return store

    def query(self) -> Query:
        """What answers statements over the tables, up to date. Raises what a damaged log raises."""
        try:
            if self._brought_up():
                return self._asked
        except DamagedLog:
            self.make_anew()
            return self._log.query if not self._is_damaged else self._folded()
        return self._folded()

    def make_anew(self) -> None:
        """Fold the table of the file anew, which cannot be read; where that cannot be written, one
        in memory is asked from here on. Raises what a damaged log raises."""
        try:
            self._log.catch_up(self, rebuild=True)
        except (Busy, ReadOnlyLog):
            self._is_damaged = True

    def _asked(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._log.query(sql, values)
        except DamagedLog:  # a table that is missing, say
            self.make_anew()
            return (self._folded() if self._is_damaged else self._log.query)(sql, values)

    def _folded(self) -> Query:
        last = self._log.last_sequence()
        if self._apart is None or self._apart[0] != last:
            memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self.create(memory)
            for page in self._log._pages(None, 0, last, READ):
                self.apply(memory, page)
            self._apart = last, memory.execute
        return self._apart[1]

    def _brought_up(self) -> bool:
        if self._is_damaged:
            return False
        if self._log.read_only:
            row = self._log.query(
                "select 1 from derived d join events e on e.sequence = d.sequence where d.name = ? "
                "and d.version = ? and d.chain is e.chain and not exists (select 1 from events "
                f"where sequence > d.sequence and type in ({_QUOTED}))",
                (self.name, self.version),
            )
            return row.fetchone() is not None
        try:
            self._log.catch_up(self)
        except Busy:
            return False
        return True


_LAST = (1 << 63) - 1
"""The largest number that a column can hold; an event may name any."""

_QUOTED = ", ".join(f"'{name}'" for name in sorted(MemoryTable.reads))


def _touched(event: RecordedEvent) -> set[str]:
    """The keys of the streams of which a redaction erased events."""
    return {target.get("stream") or str(event.stream) for target in event.data.get("targets", ())}


class _Rows:
    """The memories of one stream, kept in the table."""

    def __init__(self, connection: sqlite3.Connection, stream: int) -> None:
        self._db, self._stream = connection, stream

    def clear(self) -> None:
        """Take all of it out."""
        rows = "(select row from memories where stream = ?)"
        self._db.execute(f"delete from memories_sources where row in {rows}", (self._stream,))
        for table in ("memories", "memories_profiles"):
            self._db.execute(f"delete from {table} where stream = ?", (self._stream,))

    def get(self, id: int) -> Memory | None:
        """A memory; None where there is none of that id."""
        return self._one("id = ?", (id,)) if id <= _LAST else None

    def about(self, kind: str, subject: str) -> Memory | None:
        """The newest that stands about a subject."""
        where = "kind = ? and subject = ? and stands and subject <> '' order by id desc limit 1"
        return self._one(where, (kind, subject))

    def _one(self, where: str, values: Sequence[Any]) -> Memory | None:
        found = self._db.execute(
            f"select state from memories where stream = ? and {where}", (self._stream, *values)
        ).fetchone()
        return read(found[0]) if found is not None else None

    def put(self, memory: Memory) -> None:
        """Keep a memory as it is now."""
        (row,) = self._db.execute(
            "insert into memories (stream, id, kind, subject, rendition, stands, importance, "
            "accesses, remembered_at, refreshed_at, state) values "
            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (stream, id) do update set "
            "kind = excluded.kind, subject = excluded.subject, rendition = excluded.rendition, "
            "stands = excluded.stands, importance = excluded.importance, "
            "accesses = excluded.accesses, remembered_at = excluded.remembered_at, "
            "refreshed_at = excluded.refreshed_at, state = excluded.state returning row",
            (
                self._stream,
                memory.id,
                memory.kind,
                same_subject(memory.subject),
                memory.rendition,
                memory.stands,
                memory.importance,
                memory.accesses,
                memory.remembered_at,
                memory.refreshed_at,
                dumps(memory.model_dump(exclude_defaults=True)),
            ),
        ).fetchone()
        self._db.execute("delete from memories_sources where row = ?", (row,))
        self._db.executemany(
            "insert into memories_sources values (?, ?)",
            [
                (row, source.stream)
                for source in memory.sources
                if not source.elsewhere and _is_text(source.stream)
            ],
        )

    @property
    def profile(self) -> Profile:
        """The profile."""
        found = self._db.execute(
            "select state from memories_profiles where stream = ?", (self._stream,)
        ).fetchone()
        return _profile(found[0]) if found is not None else Profile()

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._db.execute(
            "insert or replace into memories_profiles values (?, ?)",
            (self._stream, dumps(profile.model_dump())),
        )


def _is_text(name: str) -> bool:
    """Whether a column can hold it; the key of no stream has lone surrogates."""
    return not any("\ud800" <= each <= "\udfff" for each in name)


def read(state: str) -> Memory:
    """A memory from the column ``state``. Raises DamagedTable."""
    try:
        return Memory.model_validate(loads(state))
    except (EventInvalid, ValidationError) as error:
        raise DamagedTable(_why(error)) from None


def _profile(state: str) -> Profile:
    try:
        return Profile.model_validate(loads(state))
    except (EventInvalid, ValidationError) as error:
        raise DamagedTable(_why(error)) from None


def _why(error: EventInvalid | ValidationError) -> str:
    return "a row is no memory" if isinstance(error, ValidationError) else f"a row is {error}"


class Memories:
    """The memories of one person in a log, as they are now."""

    def __init__(self, live: Live, user: str = "local") -> None:
        """Raises EventInvalid for what is no name of a person."""
        self.live = live
        self.key = memory_stream(user)
        self._table = MemoryTable(live.log)

    def query(self) -> tuple[Query, int]:
        """What answers statements over the tables, up to date, and the number of this person's
        stream there; 0 where nothing was remembered yet."""
        query = self._table.query()
        return query, self.live.log.stream(self.key).row if self.live.log.exists(self.key) else 0

    def find(self, id: int) -> Memory | None:
        """A memory; None where there is none of that id."""
        return self.some([id]).get(id)

    def get(self, id: int) -> Memory:
        """A memory. Raises MemoryNotFound."""
        found = self.find(id)
        if found is None:
            raise MemoryNotFound(self.key.user, memory_name(id), users(self.live))
        return found

    def about(self, kind: str, subject: str) -> Memory | None:
        """The one of a kind that stands about a subject."""
        where = "kind = ? and subject = ? and stands and subject <> '' order by id desc limit 1"
        return next(self.where(where, (kind, same_subject(subject))), None)

    def some(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Those of these ids that there are."""
        wanted = sorted(id for id in set(ids) if 0 < id <= _LAST)
        found: dict[int, Memory] = {}
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ", ".join("?" * len(part))
            found.update((memory.id, memory) for memory in self.where(f"id in ({marks})", part))
        return found

    def all(self, *, standing: bool = True) -> Iterator[Memory]:
        """By their ids: those that stand, or every one that there ever was."""
        only = " and stands" if standing else ""
        last = 0
        while True:  # a page at a time: others may write in between
            page = list(self.where(f"id > ?{only} order by id limit 1000", (last,)))
            yield from page
            if len(page) < 1000:
                return
            last = page[-1].id

    def where(self, condition: str, values: Sequence[Any] = ()) -> Iterator[Memory]:
        """Those of which something holds, said in SQL over the table, with the order behind it.

        Where a row cannot be read the table is made anew, once. Raises what a damaged log raises.
        """
        taken, is_new = 0, False
        while True:
            query, stream = self.query()
            sql = f"select state from memories where stream = ? and {condition}"
            try:
                for (state,) in islice(query(sql, (stream, *values)), taken, None):
                    memory = read(state)
                    taken += 1
                    yield memory
                return
            except DamagedTable:
                if is_new:
                    raise
                self._table.make_anew()
                is_new = True

    @property
    def profile(self) -> Profile:
        """What is known of the person."""
        try:
            return self._profile()
        except DamagedTable:
            self._table.make_anew()
            return self._profile()

    def _profile(self) -> Profile:
        query, stream = self.query()
        row = query("select state from memories_profiles where stream = ?", (stream,)).fetchone()
        return _profile(row[0]) if row is not None else Profile()

    def text(self) -> str:
        """All of it as JSON, a line a memory: equal states are equal texts."""
        return text_of(self.all(standing=False), self.profile)


def users(live: Live) -> list[str]:
    """The persons of whom something is remembered."""
    found = live.log.query(
        "select user from streams where agent = ? and session = ? order by user", (AGENT, SESSION)
    )
    return [row[0] for row in found.fetchall()]
