"""The derived table ``recall``: the words of memories, and their vectors.

*Words.* An FTS5 table with a row a memory that stands, and how many memories of a person hold each
word, so that the words of one person weigh by that person's memories alone, and common ones are
known without being looked for. Which memories stand is read from the table ``memories``; this one
is a function of that one, however it came about.

*Vectors.* They are kept by the embedder's name and dimension, and by rendition (``12``, ``12@40``),
and a memory that is forgotten keeps its own, to be restored. Each embedder has its set beside those
of others: two programs with different embedders would else make each other's anew all day, and
whoever tries another one and comes back would pay twice.

A redaction makes all of it anew, vectors included (``eventlog.scrub``): a text can be guessed from
its vector, and FTS5 keeps deleted words until its segments are merged.
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from eventlog.derived import drop_table
from eventlog.errors import EventInvalid
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamKey
from projections.memory.columns import Entry
from projections.memory.folding import concerns
from projections.memory.memory import Memory, weight
from projections.memory.stream import is_memory_stream
from projections.memory.table import MemoryTable, Query, read
from projections.memory.words import found_by, words

_TABLES = {
    # The row of a memory is its stream and its id: one person's stand together.
    "recall_words": "create virtual table recall_words using fts5 "
    "(words, detail=none, columnsize=0, tokenize='ascii')",
    "recall_memories": "create table recall_memories (stream integer not null, "
    "memory integer not null, rendition text not null, length integer not null, "
    "primary key (stream, memory)) strict, without rowid",
    "recall_frequencies": "create table recall_frequencies (stream integer not null, "
    "word text not null, memories integer not null, primary key (stream, word)) "
    "strict, without rowid",
    "recall_embedders": "create table recall_embedders (embedder integer primary key, "
    "name text not null, dimension integer not null, unique (name, dimension)) strict",
    "recall_vectors": "create table recall_vectors (row integer primary key, "
    "embedder integer not null, stream integer not null, memory integer not null, "
    "rendition text not null, vector blob not null, unique (embedder, stream, memory)) strict",
}
_SHADOWS = ("config", "content", "data", "idx")

_ID_BITS = 32

_CHUNK = 400


class Indexed(NamedTuple):
    """A memory and what the index is to hold of it."""

    stream: int
    memory: Memory
    words: Counter[str]
    """None of a memory that does not stand."""


class RecallIndex:
    """The derived table ``recall``. It needs ``memories`` to be as far as itself, or further."""

    name, version = "recall", 1
    reads = frozenset(
        {"remembered", "memory_revised", "memory_forgotten", "memory_restored", "redacted"}
    )

    def __init__(self, log: EventLog, query: Query, catch_up: Callable[[], None]) -> None:
        """``query`` reads the table ``memories``, which ``catch_up`` brings up to date."""
        self._log, self._query, self._catch_up = log, query, catch_up

    @classmethod
    def of(cls, log: EventLog) -> RecallIndex:
        """That of a log's own file."""
        memories = MemoryTable(log)
        return cls(log, log.query, lambda: log.catch_up(memories))

    # -- Derived --------------------------------------------------------------------------------

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the tables empty."""
        for table in _TABLES:
            drop_table(connection, table)
        for shadow in _SHADOWS:  # they went with it, unless it was damaged
            drop_table(connection, f"recall_words_{shadow}")
        for statement in _TABLES.values():
            connection.execute(statement)

    def forget(self) -> None:
        """Nothing is kept in memory."""

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Take in events."""
        rows = self.prepare(events)
        self.write(connection, rows)
        return bool(rows)

    def prepare(self, events: Sequence[RecordedEvent]) -> list[Indexed]:
        """What the memories that some events changed are now."""
        self._catch_up()
        found: list[Indexed] = []
        for key, ids in changed(events).items():
            stream = row_of(self._log, key)
            for memory in now(self._query, stream, ids):
                cut = words(found_by(memory)) if memory.stands else ()
                found.append(Indexed(stream, memory, Counter(cut)))
        return found

    def write(self, connection: sqlite3.Connection, rows: list[Indexed]) -> None:
        """Put them in, each in the place of what stood there."""
        counts: dict[int, Counter[str]] = {}
        for each in {(row.stream, row.memory.id): row for row in rows}.values():
            count = counts.setdefault(each.stream, Counter())
            at = _row(each.stream, each.memory.id)
            old = connection.execute(
                "select words from recall_words where rowid = ?", (at,)
            ).fetchone()
            if old is not None:
                connection.execute("delete from recall_words where rowid = ?", (at,))
                count.subtract(set(old[0].split()))
            self._put(connection, each, at)
            count.update(set(each.words))
        for stream, count in counts.items():
            changes = [(stream, word, change) for word, change in count.items() if change]
            connection.executemany(
                "insert into recall_frequencies values (?, ?, ?) on conflict do update set "
                "memories = memories + excluded.memories",
                changes,
            )
            connection.executemany(
                "delete from recall_frequencies where stream = ? and word = ? and memories <= 0",
                [(stream, word) for _, word, change in changes if change < 0],
            )

    @staticmethod
    def _put(connection: sqlite3.Connection, each: Indexed, at: int) -> None:
        place = (each.stream, each.memory.id)
        if each.memory.stands:
            connection.execute(
                "insert into recall_words (rowid, words) values (?, ?)", (at, " ".join(each.words))
            )
            connection.execute(
                "insert or replace into recall_memories values (?, ?, ?, ?)",
                (*place, each.memory.rendition, max(1, len(each.words))),
            )
        else:
            connection.execute("delete from recall_memories where stream = ? and memory = ?", place)
        if each.memory.is_erased:
            connection.execute("delete from recall_vectors where stream = ? and memory = ?", place)


def row_of(log: EventLog, key: str) -> int:
    """The number of a memory stream; 0 for what is none, or is not there."""
    try:
        found = StreamKey.parse(key)
    except EventInvalid:  # whatever a log names
        return 0
    return log.stream(found).row if is_memory_stream(found) and log.exists(found) else 0


# -- what events change -------------------------------------------------------------------------


def changed(events: Iterable[RecordedEvent]) -> dict[str, set[int] | None]:
    """The memories that some events are about, by the key of their stream; None: all of them.

    What gave way to them, or they to it, is named in their state (``now``).
    """
    found: dict[str, set[int] | None] = {}
    for event in events:
        if event.type == "redacted":
            for target in event.data.get("targets", ()):
                found[str(target.get("stream") or event.stream)] = None
            continue
        key = concerns(event)
        ids = found.setdefault(key, set()) if key else None
        if ids is None:
            continue
        if event.type == "remembered":
            ids.add(event.position)
        elif event.type == "memory_recalled":
            names = (str(name).partition("@")[0] for name in event.data.get("memories", ()))
            ids.update(int(name) for name in names if name.isdecimal())
        elif isinstance(named := event.data.get("memory"), int):
            ids.add(named)
    return found


def now(query: Query, stream: int, ids: set[int] | None) -> Iterator[Memory]:
    """Memories as they are, and those that gave way to them or stand in their place.

    None: every one that there ever was.
    """
    if ids is None:
        rows = query("select state from memories where stream = ? order by id", (stream,))
        yield from (read(state) for (state,) in rows.fetchall())
        return
    seen: set[int] = set()
    others: set[int] = set()
    for memory in _some(query, stream, ids):
        seen.add(memory.id)
        others |= {*memory.supersedes, memory.superseded_by}
        yield memory
    yield from _some(query, stream, others - seen - {0})


def _some(query: Query, stream: int, ids: set[int]) -> Iterator[Memory]:
    # Nothing is asked for that is no position: a log may name what it likes.
    wanted = sorted(id for id in ids if 0 < id < 1 << _ID_BITS)
    for start in range(0, len(wanted), _CHUNK):
        part = wanted[start : start + _CHUNK]
        marks = ", ".join("?" * len(part))
        where = f"select state from memories where stream = ? and id in ({marks}) order by id"
        yield from (read(state) for (state,) in query(where, (stream, *part)).fetchall())


def _row(stream: int, memory: int) -> int:
    return stream << _ID_BITS | memory


# -- asking -------------------------------------------------------------------------------------


def frequencies(query: Query, stream: int, of: Sequence[str]) -> dict[str, int]:
    """How many memories of a person hold each of some words that any holds."""
    found: dict[str, int] = {}
    for start in range(0, len(of), _CHUNK):
        part = of[start : start + _CHUNK]
        marks = ", ".join("?" * len(part))
        where = (
            f"select word, memories from recall_frequencies where stream = ? and word in ({marks})"
        )
        found.update(query(where, (stream, *part)).fetchall())
    return found


def words_of(query: Query, stream: int, memory: int) -> list[str]:
    """The words that the index holds of a memory."""
    where = "select words from recall_words where rowid = ?"
    found = query(where, (_row(stream, memory),)).fetchone()
    return str(found[0]).split() if found is not None else []


def holding(query: Query, stream: int, word: str) -> list[int]:
    """The memories of a person that hold a word, as ``words`` cuts it."""
    first = _row(stream, 0)
    rows = query(
        "select rowid from recall_words where recall_words match ? and rowid between ? and ?",
        (f'"{word}"', first, first | ((1 << _ID_BITS) - 1)),
    )
    return [row - first for (row,) in rows.fetchall()]


def entries(query: Query, stream: int, ids: Sequence[int] | None = None) -> Iterator[Entry]:
    """What the columns hold of some memories; None: of all that stand, by their ids."""
    which = "and m.stands order by m.id"
    for part in [ids[at : at + _CHUNK] for at in range(0, len(ids), _CHUNK)] if ids else [()]:
        if ids is not None:
            which = f"and m.id in ({', '.join('?' * len(part))})"
        rows = query(
            "select m.id, m.kind, m.rendition, m.stands, m.importance, m.accesses, "
            "m.remembered_at, m.refreshed_at, coalesce(i.length, 0) from memories m "
            "left join recall_memories i on i.stream = m.stream and i.memory = m.id "
            f"where m.stream = ? {which}",
            (stream, *part),
        )
        for id, kind, rendition, stands, importance, accesses, *rest in rows.fetchall():
            yield Entry(id, kind, rendition, stands, weight(importance, accesses), *rest)


def from_session(query: Query, stream: int, session: str) -> list[int]:
    """The memories of a person that came from a session."""
    rows = query(
        "select m.id from memories_sources s join memories m on m.row = s.row "
        "where s.session = ? and m.stream = ?",
        (session, stream),
    )
    return [id for (id,) in rows.fetchall()]


# -- vectors ------------------------------------------------------------------------------------


class Vector(NamedTuple):
    """The vector of a memory's rendition."""

    memory: int
    rendition: str
    numbers: array[float]


def vectors(query: Query, stream: int, name: str, dimension: int) -> Iterator[Vector]:
    """Those that are kept of an embedder, for memories of one person."""
    last = 0
    while True:  # a page at a time: all of them together stand in memory once already
        rows: list[tuple[int, str, bytes]] = query(
            "select memory, rendition, vector from recall_vectors where embedder = "
            "(select embedder from recall_embedders where name = ? and dimension = ?) "
            "and stream = ? and memory > ? order by memory limit 1000",
            (name, dimension, stream, last),
        ).fetchall()
        for memory, rendition, stored in rows:
            if len(stored) == 4 * dimension:  # else it is made anew
                yield Vector(memory, rendition, _numbers(stored))
        if len(rows) < 1000:
            return
        last = rows[-1][0]


def keep(
    connection: sqlite3.Connection,
    stream: int,
    name: str,
    dimension: int,
    found: Iterable[Vector],
) -> None:
    """Write vectors of renditions that are in the index."""
    connection.execute(
        "insert or ignore into recall_embedders (name, dimension) values (?, ?)", (name, dimension)
    )
    (embedder,) = connection.execute(
        "select embedder from recall_embedders where name = ? and dimension = ?", (name, dimension)
    ).fetchone()
    connection.executemany(
        "insert or replace into recall_vectors (embedder, stream, memory, rendition, vector) "
        "select ?1, ?2, ?3, ?4, ?5 where exists (select 1 from recall_memories "
        "where stream = ?2 and memory = ?3 and rendition = ?4)",
        [(embedder, stream, each.memory, each.rendition, _stored(each.numbers)) for each in found],
    )


def _numbers(stored: bytes) -> array[float]:
    numbers = array("f")
    numbers.frombytes(stored)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _stored(numbers: array[float]) -> bytes:
    if sys.byteorder == "big":
        numbers = array("f", numbers)
        numbers.byteswap()
    return numbers.tobytes()
