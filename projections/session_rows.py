"""The rows of the derived table ``sessions``: what a list of ten thousand sessions is read from.

Each row holds what a list shows and a look-up asks for, in columns with an index, so neither takes
apart the state of any session. What folds the events into it is in ``sessions``. This module loads
no event class: to list sessions costs the rows that are shown.

What is remembered of a person stands in a stream of its own, which is nobody's session. It has a
row, so that its figures are there for who names it by its full key, and is in no list.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from eventlog.happened import iso
from projections.session_names import BEGIN, is_last, pieces, typed_for

NAME, VERSION = "sessions", 12
"""Of the derived table."""

PROMPT_TESTS = "prompt-test"
"""The agent of the sessions in which prompts are tested, and of those of their judges."""

_MEMORY = "/_/memory"
"""What stands behind the user in the key of the stream of that person's memories."""

_IS_SESSION = f"substr(key, instr(key, '/')) <> '{_MEMORY}'"
"""Read from the index: no user's name holds a slash."""

_IS_STREAM_OF_SESSION = "not (agent = '_' and session = 'memory')"

NO_TITLE = "(no title)"
"""What is shown where nobody said anything yet, and nobody gave a title."""

Query = Callable[[str, Sequence[Any]], sqlite3.Cursor]
"""One reading statement with its values."""


class SessionRow(NamedTuple):
    """One session, as it is listed."""

    key: str
    title: str
    own_title: str
    """Empty where it is that of the session that this one was forked from."""
    is_titled: bool
    """The title was given, by a person, a model or a source; else it is what was said first."""
    parent: str | None
    """The stream that it was forked from, or that started or was copied to it."""
    is_fork: bool
    is_subagent: bool
    parent_call: str
    is_deleted: bool
    updated: int
    """When it last went on, in microseconds since 1970, UTC."""
    is_clocked: bool
    """``updated`` is a time of that session, not merely when it was imported."""
    provenance: str | None
    unjudged: int
    """Its recorded calls that were not compared yet with what the log holds."""
    messages: int
    """Of people and of the model."""
    calls: int
    compactions: int
    placeholders: int
    tasks: int
    open_tasks: int
    summary_length: int
    """Characters of the summaries that stand in its context."""

    @property
    def happened_at(self) -> str:
        """When it last went on, as ISO 8601."""
        return iso(self.updated)


_COLUMNS = ", ".join(SessionRow._fields)
_BOOLEAN = tuple(at for at, name in enumerate(SessionRow._fields) if name.startswith("is_"))

TABLES = (
    """create table sessions (
  stream integer primary key, key text not null, user text not null, agent text not null,
  session text not null,
  title text not null, own_title text not null, is_titled integer not null, parent text,
  is_fork integer not null, is_subagent integer not null, parent_call text not null,
  is_deleted integer not null, updated integer not null, is_clocked integer not null,
  provenance text, unjudged integer not null, messages integer not null,
  calls integer not null, compactions integer not null, placeholders integer not null,
  tasks integer not null, open_tasks integer not null, summary_length integer not null
) strict""",
    "create unique index sessions_by_key on sessions (key)",
    # With what chooses among them: what is passed over costs no look at its row.
    "create index sessions_by_time on sessions (is_deleted, updated desc, key, agent, is_subagent)",
    "create index sessions_by_title on sessions (own_title)",
    "create index sessions_by_session on sessions (session, is_deleted, key)",
    "create index sessions_by_parent on sessions (parent) where parent is not null",
    # Apart, since a row behind a long text is slow.
    """create table sessions_states (
  stream integer primary key, state text not null, source text
) strict""",
)


def create(connection: sqlite3.Connection) -> None:
    """Make both tables empty."""
    for table in ("sessions", "sessions_states"):
        connection.execute(f"drop table if exists {table}")
    for statement in TABLES:
        connection.execute(statement)


def write(connection: sqlite3.Connection, stream: int, row: SessionRow) -> None:
    """Write the row of a stream, by its number in the file."""
    marks = ", ".join("?" * (len(row) + 4))
    connection.execute(
        "insert or replace into sessions "
        f"(stream, user, agent, session, {_COLUMNS}) values ({marks})",
        (stream, *row.key.split("/", 2), *row),
    )


def newest(
    query: Query,
    *,
    limit: int | None = None,
    skip: int = 0,
    user: str = "",
    agent: str = "",
    deleted: bool = False,
    subagents: bool = True,
    tests: bool = True,
) -> list[SessionRow]:
    """The sessions by their last activity, the newest first; ``deleted`` ones too, on request.

    Without ``tests`` those are left out in which prompts were tested.
    """
    where, values = _where(agent, deleted, subagents, user, tests)
    order = "order by updated desc, key limit ? offset ?"
    return _rows(query, f"{where} {order}", (*values, -1 if limit is None else limit, skip))


def count(
    query: Query,
    *,
    agent: str = "",
    deleted: bool = False,
    subagents: bool = True,
    tests: bool = True,
) -> int:
    """How many there are of these."""
    where, values = _where(agent, deleted, subagents, tests=tests)
    found: int = query(f"select count(*) from sessions {where}", values).fetchone()[0]
    return found


def _where(
    agent: str, deleted: bool, subagents: bool, user: str = "", tests: bool = True
) -> tuple[str, tuple[Any, ...]]:
    # Not "is_deleted in (0, 1)": then the index gives no order.
    clauses = [_IS_SESSION] if deleted else ["is_deleted = 0", _IS_SESSION]
    clauses += ["user = ?"] if user else []
    clauses += ["agent = ?"] if agent else []
    clauses += [] if subagents else ["is_subagent = 0"]
    clauses += [] if tests else [f"agent <> '{PROMPT_TESTS}'"]
    return f"where {' and '.join(clauses)}", tuple(name for name in (user, agent) if name)


def titled(query: Query, title: str) -> list[SessionRow]:
    """Those that have this very title of their own."""
    where = f"where own_title = ? and +is_deleted = 0 and {_IS_SESSION} order by key"
    return _rows(query, where, (title,))


# A plus in front of a column: no index of it is used, but the one that chooses better.


def beginning(query: Query, text: str) -> list[str]:
    """The keys of those that a short name may mean: their ids begin like it."""
    first = pieces(text)[0]
    found = query(
        "select key from sessions where session >= ? and session < ? and +is_deleted = 0 "
        f"and {_IS_SESSION}",
        (first, first + chr(sys.maxunicode)),  # which no name holds: it is not printable
    )
    return [row[0] for row in found.fetchall()]


def started_by(query: Query, key: str) -> list[SessionRow]:
    """The sub-agents of a session."""
    return _rows(query, "where parent = ? and is_subagent = 1 order by key", (key,))


def row_of(query: Query, key: str) -> SessionRow | None:
    """One session."""
    return next(iter(_rows(query, "where key = ?", (key,))), None)


def billed(query: Query, keys: Collection[str]) -> dict[str, int]:
    """Of some sessions the tokens of input that their providers counted, from a cache or not; those
    of which nothing was counted are left out."""
    marks = ", ".join("?" * len(keys))
    names = ("input", "cached", "cache_write")
    figures = [f"json_extract(s.state, '$.usage.{name}')" for name in names]
    sums = " + ".join(f"coalesce({figure}, 0)" for figure in figures)
    sql = (
        f"select r.key, {sums} from sessions r join sessions_states s on s.stream = r.stream "
        f"where r.key in ({marks}) and coalesce({', '.join(figures)}) is not null"
    )
    return dict(query(sql, tuple(keys)).fetchall())


def linked(query: Query) -> list[tuple[str, str]]:
    """The sessions that came out of another one, with that one's key."""
    return query("select key, parent from sessions where parent is not null", ()).fetchall()


def _rows(query: Query, rest: str, values: Sequence[Any]) -> list[SessionRow]:
    found = query(f"select {_COLUMNS} from sessions {rest}", values).fetchall()
    return [SessionRow._make(_read(row)) for row in found]


def _read(row: tuple[Any, ...]) -> Iterable[Any]:
    values = list(row)
    for at in _BOOLEAN:
        values[at] = bool(values[at])
    return values


# -- names: of the streams themselves, whether or not a table is up to date ------------------------

_MANY = 500
"""Names from which on all are read at once."""


def with_id(query: Query, session: str) -> list[str]:
    """The keys of the sessions that have this very id."""
    return _keys(query, f"where session = ? and {_IS_STREAM_OF_SESSION} order by row", (session,))


def named_like(query: Query, begun: str, limit: int) -> list[str]:
    """The keys of sessions whose id, or whose key, begins so; at most so many."""
    size = len(begun)
    where = (
        "where (substr(session, 1, ?) = ? or substr(user || '/' || agent || '/' || session, 1, ?) "
        f"= ?) and {_IS_STREAM_OF_SESSION} order by row limit ?"
    )
    return _keys(query, where, (size, begun, size, begun, limit))


def agents(query: Query) -> list[str]:
    """The agents of whom there are sessions."""
    sql = f"select distinct agent from streams where {_IS_STREAM_OF_SESSION} order by agent"
    return [row[0] for row in query(sql, ())]


def short_names(query: Query, keys: Collection[str]) -> dict[str, str]:
    """For each of some keys the least that can be typed for it, among all sessions of the log.

    A key that does not exist yet counts as if it did. What shares its first characters with none
    of them has no say, so not all are looked at.
    """
    begun = {key.split("/", 2)[2][:BEGIN] for key in keys}
    if len(begun) > _MANY:
        near = _keys(query, "", ())
    else:
        marks = ", ".join("?" * len(begun))
        near = _keys(query, f"where substr(session, 1, {BEGIN}) in ({marks})", tuple(begun))
    near += _keys_called(query, keys)
    found = typed_for(dict.fromkeys([*near, *keys]))
    return {key: found[key] for key in keys}


def whole_names(query: Query, keys: Iterable[str]) -> dict[str, str]:
    """What a deleted session answers to: its whole id, or its key where another one has that id."""
    found: dict[str, str] = {}
    for key in keys:
        session = key.split("/", 2)[2]
        is_clear = len(with_id(query, session)) == 1 and not is_last(session)
        found[key] = session if is_clear and session.count("/") < 2 else key
    return found


def _keys_called(query: Query, keys: Iterable[str]) -> list[str]:
    """The sessions whose whole key is the id of one of these."""
    found: list[str] = []
    for key in keys:
        parts = key.split("/", 2)[2].split("/", 2)
        if len(parts) == 3:
            found += _keys(query, "where user = ? and agent = ? and session = ?", parts)
    return found


def _keys(query: Query, rest: str, values: Sequence[Any]) -> list[str]:
    sql = f"select user || '/' || agent || '/' || session from streams {rest}"
    return [row[0] for row in query(sql, values)]
