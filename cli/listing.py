"""The newest sessions for a list, without opening the log where a glance at it is enough."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from cli.opening import opened
from cli.options import Settings
from cli.paths import current_database
from eventlog.glance import glance
from projections import session_rows
from projections.session_rows import Query, SessionRow

if TYPE_CHECKING:
    from cli.models import SessionsData


class Asked(NamedTuple):
    """Which sessions are to be listed."""

    limit: int | None = None
    agent: str = ""
    deleted: bool = False
    tests: bool = False
    """Also those in which prompts were tested; they are also listed where their agent is named."""

    @property
    def has_tests(self) -> bool:
        """Whether they are among them."""
        return self.tests or self.agent == session_rows.PROMPT_TESTS


class Listing(NamedTuple):
    """The sessions that were asked for, the newest first."""

    rows: list[SessionRow]
    names: dict[str, str]
    """What can be typed for each; a deleted one answers to its whole id only."""
    total: int
    """How many there are, with those for which there was no room."""
    prompt_tests: int
    """How many of tests of prompts were left out."""


def listing(settings: Settings, asked: Asked) -> Listing:
    """What the list shows.

    Raises InputRefused for an agent of whom no session is, and what opening the log raises.
    """
    found = _glanced(settings, asked)
    if found is not None:
        return found
    from projections.sessions import listed, session_query

    with opened(settings) as live:
        _check(live.log.query, asked.agent)
        rows = listed(
            live,
            deleted=asked.deleted,
            agent=asked.agent,
            limit=asked.limit,
            tests=asked.has_tests,
        )
        return _listing(rows, session_query(live), live.log.query, asked)


def listing_data(settings: Settings, asked: Asked) -> SessionsData:
    """The same with all figures. Raises as ``listing`` does."""
    from cli.models import SessionsData
    from projections.sessions import list_sessions, session_query

    with opened(settings) as live:
        _check(live.log.query, asked.agent)
        found = list_sessions(
            live,
            deleted=asked.deleted,
            agent=asked.agent,
            limit=asked.limit,
            tests=asked.has_tests,
        )
        query = session_query(live)
        return SessionsData(
            sessions=found, total=_total(query, asked), prompt_tests=_tests(query, asked)
        )


def _glanced(settings: Settings, asked: Asked) -> Listing | None:
    """None where the log has to be opened for it."""
    path = current_database(settings.db)
    with (
        contextlib.suppress(sqlite3.Error),
        glance(path, session_rows.NAME, session_rows.VERSION) as db,
    ):
        if db is None:
            return None
        query = db.execute
        if asked.agent and asked.agent not in session_rows.agents(query):
            return None
        rows = session_rows.newest(
            query,
            limit=asked.limit,
            agent=asked.agent,
            deleted=asked.deleted,
            tests=asked.has_tests,
        )
        if not any(row.unjudged for row in rows):
            return _listing(rows, query, query, asked)
    return None


def _listing(rows: list[SessionRow], query: Query, streams: Query, asked: Asked) -> Listing:
    named = [row.key for row in rows if not row.is_deleted]
    names = session_rows.short_names(streams, named)
    hidden = [row.key for row in rows if row.is_deleted]
    names.update(session_rows.whole_names(streams, hidden))
    return Listing(rows, names, _total(query, asked), _tests(query, asked))


def _total(query: Query, asked: Asked) -> int:
    return session_rows.count(
        query, agent=asked.agent, deleted=asked.deleted, tests=asked.has_tests
    )


def _tests(query: Query, asked: Asked) -> int:
    """How many tests of prompts are left out."""
    if asked.has_tests or asked.agent:
        return 0
    return session_rows.count(query, agent=session_rows.PROMPT_TESTS, deleted=asked.deleted)


def _check(query: Query, agent: str) -> None:
    """Refuse an agent of whom no session of the log is; in a log without sessions nothing is a
    slip."""
    from cli.naming import no_such

    there = session_rows.agents(query)
    if agent and there and agent not in there:
        raise no_such("an agent", agent, there)
