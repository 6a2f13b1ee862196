"""The sessions of a log with their statistics, so that ten thousand are listed without being read.

The derived tables have one row a stream each: ``sessions`` what a list shows and a look-up asks
for, ``sessions_states`` the state of ``session_state`` as JSON, moved on by the events that came
since the table was last looked at. It is lazy: appends do not touch it. A redaction changes what
earlier events say, so it makes the streams that hold them fold anew.

What an imported file counts as (``source``) comes from where its events came from. It is computed
for the sessions that changed, when they are listed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from eventlog.catching_up import reached
from eventlog.errors import Busy
from eventlog.jsonvalue import dumps, loads
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from projections import session_rows as rows
from projections.judging import judge_all
from projections.live import Live
from projections.session_copy import Copy
from projections.session_figures import SessionStats, Source, stats_of
from projections.session_rows import Query, SessionRow
from projections.session_state import SessionState, SessionStatistics
from projections.source_counts import SourceCounts, source_counts
from projections.titles import clean


class _Stored(NamedTuple):
    stream: int
    text: str
    """The state as it is stored; empty where the log has no table."""
    state: SessionState
    source: Source


Judge = Callable[[StreamKey, Sequence[int]], Iterable[str]]
"""The verdicts on some recorded calls of a stream, by their positions and in that order."""


def judged(live: Live) -> Judge:
    """The judge that compares bytes, from ``verdicts``."""

    def judge(stream: StreamKey, positions: Sequence[int]) -> Iterable[str]:
        calls = live.log.at(stream, positions)
        found = judge_all(live, stream, [calls[position] for position in positions])
        return [verdict.name for verdict in found]

    return judge


class Sessions:
    """The derived table ``sessions``; to be given to ``EventLog.catch_up``."""

    name, version = rows.NAME, rows.VERSION

    def __init__(self, log: EventLog, judge: Judge | None = None) -> None:
        self._log = log
        self._judge = judge
        self._statistics = SessionStatistics()
        self._copy: Copy | None = None

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the tables empty."""
        rows.create(connection)

    def forget(self) -> None:
        """Nothing is kept in memory."""

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Fold events in, one write a stream."""
        states: dict[StreamKey, SessionState] = {}
        anew: set[StreamKey] = set()
        for event in events:
            key = event.stream
            if event.type == "redacted":
                anew |= self._touched(event)
            if key not in states:
                states[key] = self._before(connection, event)
            if event.position > states[key].position:
                self._statistics.evolve(states[key], event)
        for key in anew:
            # Events behind this page, if any, are passed over when their page comes.
            states[key] = self._statistics.fold(self._log.read(key))
        for key, state in states.items():
            self._write(connection, self._log.stream(key).row, state)
        return bool(states)

    def _before(self, connection: sqlite3.Connection, event: RecordedEvent) -> SessionState:
        row = connection.execute(
            "select state from sessions_states where stream = ?",
            (self._log.stream(event.stream).row,),
        ).fetchone()
        if row is not None:
            return SessionState.model_validate(loads(row[0]))
        if event.type == "session_forked":
            inherited = self._log.read(event.stream, to=event.position - 1)
            return self._statistics.fold(inherited)
        return self._statistics.initial()

    def _write(self, connection: sqlite3.Connection, stream: int, state: SessionState) -> None:
        connection.execute(
            "insert or replace into sessions_states values (?, ?, null)",
            (stream, dumps(state.model_dump())),
        )
        rows.write(connection, stream, row_of(state))
        parent, is_part = state.parent, state.is_subagent
        for _ in range(_DEPTH):  # whoever counts this stream as part of its file, counts again
            found = connection.execute(
                "select stream, parent, is_subagent from sessions where key = ?", (parent,)
            ).fetchone()
            if found is None or not is_part:
                break
            stream, parent, is_part = found
            connection.execute(
                "update sessions_states set source = null where stream = ?", (stream,)
            )

    def _touched(self, event: RecordedEvent) -> set[StreamKey]:
        """The streams that hold an event which a redaction erased."""
        infos = self._log.streams()
        by_key = {info.key: info for info in infos}
        first: dict[StreamKey, int] = {}
        for target in event.data.get("targets", ()):
            owner = StreamKey.parse(target["stream"]) if target.get("stream") else event.stream
            first[owner] = min(first.get(owner, target["position"]), target["position"])
        return {i.key for i in infos if any(_holds(by_key, i, o, p) for o, p in first.items())}

    # -- reading --------------------------------------------------------------------------------

    def query(self) -> Query:
        """What answers statements over the tables, up to date: the log; a copy in memory for a log
        whose tables are behind and that is only read, or that somebody else writes to for longer
        than this one waits. Who holds this pays for the copy once, then for what is new."""
        if self._brought_up():
            return self._log.query
        if self._copy is None:
            self._copy = Copy(self._log, self)
        self._copy.bring_up()
        return self._copy.query

    def completed(self, query: Query, keys: Iterable[str]) -> Iterator[tuple[SessionState, Source]]:
        """Some sessions with their recorded calls judged and their source counted.

        Both are kept in the table, so that they cost nothing the next time.
        """
        changed: list[tuple[_Stored, SessionState, Source]] = []
        for key in keys:
            stored = self._stored(query, key)
            if stored is None:
                continue
            state, source = stored.state, stored.source
            found_more = False
            if self._judge is not None and state.unjudged:
                state.judge(self._judge(StreamKey.parse(state.key), state.unjudged))
                found_more = True
            if source is None and state.format:
                source = self._source(query, state)
                found_more = True
            if found_more:
                changed.append((stored, state, source))
            yield state, source
        if changed and query == self._log.query and not self._log.read_only:
            self._keep(changed)

    def _keep(self, changed: Iterable[tuple[_Stored, SessionState, Source]]) -> None:
        with contextlib.suppress(Busy), self._log.writing() as db:
            for stored, state, source in changed:
                counted = dumps(source.model_dump()) if source is not None else None
                # Not where the row has moved on meanwhile.
                kept = db.execute(
                    "update sessions_states set state = ?, source = ? where stream = ? "
                    "and state = ?",
                    (dumps(state.model_dump()), counted, stored.stream, stored.text),
                )
                if kept.rowcount:
                    rows.write(db, stored.stream, row_of(state))

    def _stored(self, query: Query, key: str) -> _Stored | None:
        found = query(
            "select s.stream, s.state, s.source from sessions r "
            "join sessions_states s on s.stream = r.stream where r.key = ?",
            (key,),
        ).fetchone()
        if found is None:
            return None
        stream, text, source = found
        return _Stored(
            stream,
            text,
            SessionState.model_validate(loads(text)),
            SourceCounts.model_validate(loads(source)) if source else None,
        )

    def _brought_up(self) -> bool:
        if self._log.read_only:
            return self._is_current()
        try:
            self._log.catch_up(self)
        except Busy:
            return False
        return True

    def _is_current(self) -> bool:
        row = self._log.query(
            "select 1 from derived d join events e on e.sequence = d.sequence "
            "where d.name = ? and d.version = ? and d.chain is e.chain "
            "and d.sequence = (select max(sequence) from events)",
            (self.name, self.version),
        ).fetchone()
        return row is not None

    def _source(self, query: Query, state: SessionState) -> SourceCounts:
        members = [state]
        for member in members:
            known = {each.key for each in members}
            for agent in rows.started_by(query, member.key):
                stored = self._stored(query, agent.key) if agent.key not in known else None
                if stored is not None:
                    other = stored.state
                    if (other.format, other.file) == (state.format, state.file):
                        members.append(other)
        return source_counts(chain.from_iterable(self._log.read(m.key) for m in members))


_DEPTH = 16
"""Sub-agents of sub-agents that are followed."""


def _holds(
    by_key: dict[StreamKey, StreamInfo], info: StreamInfo, owner: StreamKey, position: int
) -> bool:
    """Whether a stream holds or inherits an event of ``owner``."""
    while info.key != owner:
        if info.parent is None or info.base < position:
            return False
        info = by_key[info.parent]
    return True


def row_of(state: SessionState) -> SessionRow:
    """What a list shows of a state."""
    return SessionRow(
        key=state.key,
        title=clean(state.title),
        own_title=clean(state.own_title),
        is_titled=state.is_titled,
        parent=clean(state.parent) if state.parent is not None else None,
        is_fork=state.is_fork,
        is_subagent=state.is_subagent,
        parent_call=state.parent_call,
        is_deleted=state.deleted,
        updated=state.updated,
        is_clocked=state.is_clocked or not state.format,
        provenance=state.provenance,
        unjudged=len(state.unjudged),
        messages=state.messages,
        calls=state.calls,
        compactions=state.compactions,
        placeholders=state.placeholders,
        tasks=state.tasks,
        open_tasks=state.open_tasks,
        summary_length=state.summary_length,
    )


def list_sessions(
    live: Live,
    *,
    deleted: bool = False,
    agent: str = "",
    limit: int | None = None,
    tests: bool = True,
) -> list[SessionStats]:
    """The sessions, the newest first, all or so many; tombstoned ones only when asked for, those of
    ``tests`` of prompts unless they are not.

    The recorded calls of a session are compared with what the log holds once: the first time that
    it is listed after them, or after a redaction.
    """
    sessions = Sessions(live.log, judged(live))
    query = sessions.query()
    found = rows.newest(query, limit=limit, agent=agent, deleted=deleted, tests=tests)
    return [stats_of(*each) for each in sessions.completed(query, [row.key for row in found])]


def listed(
    live: Live,
    *,
    deleted: bool = False,
    agent: str = "",
    limit: int | None = None,
    tests: bool = True,
) -> list[SessionRow]:
    """The same sessions as their rows: without what only their figures need."""
    sessions = Sessions(live.log, judged(live))
    query = sessions.query()
    found = rows.newest(query, limit=limit, agent=agent, deleted=deleted, tests=tests)
    unjudged = [row.key for row in found if row.unjudged]
    known = {state.key: row_of(state) for state, _ in sessions.completed(query, unjudged)}
    return [known.get(row.key, row) for row in found]


def keep_up(live: Live) -> None:
    """Bring the table up to date where little is missing, so that the next list is a glance.

    For who has written and closes the log, or pauses. More than a little is left to who lists:
    then it is done once, and not by each writer. Raises Busy, and what reading the log raises.
    """
    log = live.log
    if log.read_only:
        return
    sessions = Sessions(log, judged(live))
    with reached(log, sessions) as (_, at):
        pass
    if log.last_sequence() - (at or 0) > _LITTLE:
        return
    query = sessions.query()
    fresh = [row for row in rows.newest(query, limit=_FRESH) if row.unjudged]
    if sum(row.unjudged for row in fresh) <= _FEW:
        for _ in sessions.completed(query, [row.key for row in fresh]):
            pass


def rebuild_sessions(live: Live) -> None:
    """Drop the rows and fold them anew. Raises Busy, ReadOnlyLog."""
    live.log.catch_up(Sessions(live.log), rebuild=True)


_LITTLE = 1_000
"""Events that are folded in passing."""

_FRESH = 50
"""Sessions in which recorded calls are judged in passing: those that a list shows."""

_FEW = 200
"""Calls that are judged in passing."""


def session_query(live: Live) -> Query:
    """What answers the questions of ``session_rows`` about a log; no call is judged."""
    return Sessions(live.log).query()


def session_stats(live: Live, stream: StreamKey | str) -> SessionStats:
    """The statistics of one session. Raises StreamNotFound."""
    key = live.log.stream(stream).key
    sessions = Sessions(live.log, judged(live))
    (found,) = sessions.completed(sessions.query(), [str(key)])
    return stats_of(*found)


def folded_stats(events: Iterable[RecordedEvent], judge: Judge | None = None) -> SessionStats:
    """The statistics from nothing, over everything that a stream reads; without ``source``."""
    state = SessionStatistics().fold(events)
    if judge is not None:
        state.judge(judge(StreamKey.parse(state.key), state.unjudged))
    return stats_of(state)
