"""The full-text index: which events hold which words.

``search`` is an FTS5 table without content: it answers which events *may* hold what is looked for,
and the events themselves say whether they do. So it needs neither the texts nor the places of
words (``detail=none``), and takes a tenth of the log. Words are cut by ``search_query``, since no
tokenizer of FTS5 finds a Chinese word of two characters in an index of that size; FTS5 sees them
with blanks between (``ascii`` passes everything beyond ASCII through).

The row of an event is its sequence. An event that carries a rendition of an earlier item is
indexed with the whole text of that rendition, so that all words of a search stand in one row. The
table is lazy: appends do not touch it, and a search reads what it does not hold yet from the
events. Nothing is ever taken out of it one by one: a redaction makes it anew (``eventlog.scrub``),
since FTS5 keeps deleted words in its segments until they are merged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from eventlog.catching_up import Progress, catch_up_in_steps, reached
from eventlog.derived import drop_table
from eventlog.errors import CtxlogError, DamagedLog
from eventlog.recorded import RecordedEvent
from projections.live import Live
from projections.materialize import original
from projections.search_query import LONGEST, Query, tokens
from projections.searchable import CARRIERS, HOLDING, carried, item_texts, note_texts, safe

Rows = list[tuple[int, str]]

_MOST = 64
"""Tokens of a query that are asked for: the rest is left to the events."""

_LONGEST_PIECE = 1_000
"""Characters of it that SQLite looks for: it refuses patterns of 50,000."""

_CREATE = (
    "create virtual table search using fts5 "
    "(words, content='', detail=none, columnsize=0, tokenize='ascii')",
    # Of these two nothing is stored: each word once, and each word with each of its rows.
    "create virtual table search_words using fts5vocab (search, row)",
    "create virtual table search_places using fts5vocab (search, instance)",
)


class SearchIndex:
    """The derived table ``search``."""

    name = "search"
    version = 2

    def __init__(self, live: Live) -> None:
        self._live = live

    # -- Derived --------------------------------------------------------------------------------

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the table empty."""
        _drop(connection)
        for statement in _CREATE:
            connection.execute(statement)

    def forget(self) -> None:
        """Nothing is kept in memory."""

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Take in events."""
        rows = self.prepare(events)
        self.write(connection, rows)
        return bool(rows)

    def prepare(self, events: Sequence[RecordedEvent]) -> Rows:
        """The words of some events, one row an event that has any."""
        rows = []
        for event in events:
            words: set[str] = set()
            for text in self._texts(event):
                words |= tokens(text)
            if words:
                rows.append((event.sequence, " ".join(words)))
        return rows

    def write(self, connection: sqlite3.Connection, rows: Rows) -> None:
        """Put rows in."""
        connection.executemany("insert into search (rowid, words) values (?, ?)", rows)

    def _texts(self, event: RecordedEvent) -> list[str]:
        found = safe(note_texts(event))
        try:
            standing = carried(event)
            if event.type in CARRIERS:
                items = self._live.materialize(event.stream, standing)
            else:
                made = (original(item, {event.position: event}) for item, _ in standing)
                items = [item for item in made if item is not None]
        except (AttributeError, CtxlogError, LookupError, TypeError, ValueError):
            items = []  # a damaged payload, of which ``verify`` tells
        for item in items:
            found += safe(item_texts(item))
        return [text.text for text in found]

    # -- keeping it -----------------------------------------------------------------------------

    def catch_up(self) -> Iterator[Progress]:
        """Bring it up to the end of the log, a page at a time. Raises ReadOnlyLog, Busy."""
        return catch_up_in_steps(self._live.log, self)

    def held(self) -> int | None:
        """The sequence of the last event that it holds; None where there is no index."""
        with reached(self._live.log, self) as (_, sequence):
            return sequence

    def is_there(self) -> bool:
        """Whether a search has made one, of whatever version and however damaged."""
        query = "select 1 from derived where name = ?"
        return self._live.log.query(query, (self.name,)).fetchone() is not None

    def drop(self) -> None:
        """Make it empty; the next search fills it. Raises ReadOnlyLog, Busy."""
        with self._live.log.writing() as db:
            _drop(db)
            db.execute("delete from derived where name = ?", (self.name,))

    # -- asking ---------------------------------------------------------------------------------

    def candidates(self, query: Query, streams: Iterable[int] | None = None) -> Candidates:
        """The events that may hold all of a query, those behind the index included.

        ``streams``: the rows of the streams that are asked for; None for all. An index that cannot
        be read is told in ``damage``, and passed over.
        """
        only = _only(streams)
        try:
            return self._candidates(query, only)
        except DamagedLog as error:
            if not self.is_there():
                raise
            found = self._scanned(query, only)
            found.damage = str(error)
            return found

    def _candidates(self, query: Query, only: str) -> Candidates:
        match = _match(query)
        found = Candidates()
        with reached(self._live.log, self) as (db, held):
            after = held if held is not None and match is not None else 0
            if after and match is not None:
                found.take(
                    db.execute(
                        "select e.stream, e.position, e.type from events e join "
                        f"({match[0]}) found on e.sequence = found.row where 1{only}",
                        match[1],
                    )
                )
            found.take(db.execute(*_scan(query, after, only)))
            behind = "select count(*) from events where sequence > ?"
            found.unindexed = db.execute(behind, (held or 0,)).fetchone()[0]
        return found

    def _scanned(self, query: Query, only: str) -> Candidates:
        found = Candidates()
        found.take(self._live.log.query(*_scan(query, 0, only)))
        found.unindexed = self._live.log.last_sequence()
        return found


class Candidates:
    """Places of events, by stream."""

    def __init__(self) -> None:
        self.plain: dict[int, list[int]] = {}
        """Positions of events that bring an item or are none, by the row of their stream."""
        self.carriers: dict[int, list[int]] = {}
        """Positions of events that carry a rendition of an earlier item."""
        self.unindexed = 0
        """Events of the log that were looked at without the index."""
        self.damage = ""
        """Why the index could not be read."""

    def take(self, rows: Iterable[tuple[int, int, str]]) -> None:
        """Add (stream, position, type)."""
        for stream, position, kind in rows:
            into = self.carriers if kind in CARRIERS else self.plain
            into.setdefault(stream, []).append(position)
            if kind == "repair_applied":  # it brings items of its own too
                self.plain.setdefault(stream, []).append(position)


_TYPES = ",".join(f"'{name}'" for name in sorted(HOLDING))

BECOMES_ASCII = "ßİŉſǰẖẗẘẙẚẞ\u212aﬀﬁﬂﬃﬄﬅﬆ"
"""Characters that compare like ASCII letters: ``ß``, the Kelvin sign, ligatures."""


def _drop(db: sqlite3.Connection) -> None:
    """The tables in which FTS5 keeps its rows come last: they go with it, unless it is damaged."""
    for name in ("words", "places", "", "config", "data", "idx"):
        drop_table(db, f"search_{name}" if name else "search")


def _match(query: Query) -> tuple[str, tuple[str, ...]] | None:
    """What gives the rows of the index that may hold a query; None where no word of it is known."""
    wanted = query.tokens[:_MOST]
    if wanted:
        match = " AND ".join(f'"{token.text}"' + "*" * token.is_prefix for token in wanted)
        return "select rowid as row from search where search match ?", (match,)
    part = max((term.part for term in query.terms), key=len, default="")
    if not part:
        return None
    return (
        "select distinct p.doc as row from search_words w cross join search_places p "
        f"on p.term = w.term where instr(w.term, ?) or length(w.term) = {LONGEST}",
        (part,),
    )


def _only(streams: Iterable[int] | None) -> str:
    """The end of a where clause."""
    return "" if streams is None else f" and e.stream in ({','.join(map(str, streams))})"


def _scan(query: Query, after: int, only: str) -> tuple[str, tuple[int | str, ...]]:
    """What gives the events behind a sequence that may hold a query: cheaper than to read each."""
    select = (
        "select e.stream, e.position, e.type from events e "
        f"where e.sequence > ? and e.type in ({_TYPES}){only}"
    )
    piece = query.ascii_piece[:_LONGEST_PIECE]
    if not piece:
        return select, (after,)
    # LIKE knows no case in ASCII. An escape such as \u0041 may stand for any character.
    like = " and (e.payload like ? or instr(e.payload, '\\u') or e.payload glob ?)"
    return select + like, (after, f"%{piece}%", f"*[{BECOMES_ASCII}]*")
