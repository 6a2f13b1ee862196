"""The sessions of a log with their statistics, so that a thousand are listed without being read.

``sessions`` is a derived table with one row a stream: the state of ``session_state`` as JSON, moved
on by the events that came since the table was last looked at. It is lazy: appends do not touch it.
A redaction changes what earlier events say, so it makes the streams that hold them fold anew.

What an imported file counts as (``source``) comes from where its events came from. It is computed
for the sessions that changed, when they are listed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from pydantic import BaseModel

from eventlog.errors import Busy
from eventlog.happened import iso
from eventlog.jsonvalue import dumps, loads
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from projections.judging import judge_all
from projections.live import Live
from projections.session_state import (
    Provenance,
    SessionState,
    SessionStatistics,
)
from projections.source_counts import SourceCounts, source_counts
from projections.usage import UsageTotals


class SessionStats(BaseModel):
    """What a session amounts to: its own events only, when it is a fork."""

    key: str
    parent: str | None
    """The session that it was forked from."""
    parent_session: str | None
    """The session that started it, of a sub-agent; of an agent's own copy, the one it is of."""
    file: str
    """Of an import: the file that it came from, as it was called then."""
    title: str
    happened_at: str
    """When it last went on, by its own clock where that can be read. Notes do not move it."""
    is_clocked: bool
    """``happened_at`` is a time of that session, not merely when it was imported. What was recorded
    as it happened always has one, the log's own."""
    provenance: Provenance | None
    """How well the contexts of its calls are known: the weakest verdict; none without a call."""
    events: int
    items: int
    """Items that ever entered the context: messages, results, summaries."""
    erased_items: int
    """Those whose text was erased since."""
    human_messages: int
    answers: int
    calls: int
    tool_calls: int
    tool_results: int
    orphan_tool_results: int
    """Results without a call of that id before them."""
    unanswered_tool_calls: int
    compactions: int
    placeholders: int
    """Substitutions, one for each item cut, cleared or deduplicated."""
    unrecognized: int
    """Records of an imported file that its importer does not know, or that cannot be read."""
    usage: UsageTotals | None
    """As the provider counted; none where no answer has its count."""
    billed_answers: int
    """The answers whose provider counted anything."""
    usage_answers: dict[str, int]
    """By figure of ``usage``, the answers that it sums: those whose provider told it."""
    output_is_partial: bool
    """The format keeps a part of the output tokens only: those of ``usage`` are a lower bound."""
    source: SourceCounts | None = None
    """Of an import: the same file counted as its format counts."""


Source = SourceCounts | None


class _Row(NamedTuple):
    number: int
    text: str
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

    name = "sessions"
    version = 9

    def __init__(self, log: EventLog, judge: Judge | None = None) -> None:
        self._log = log
        self._judge = judge
        self._statistics = SessionStatistics()

    def create(self, connection: sqlite3.Connection) -> None:
        """Make the table empty."""
        connection.execute("drop table if exists sessions")
        connection.execute(
            "create table sessions (stream integer primary key, key text not null, "
            "state text not null, source text) strict"
        )

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
            "select state from sessions where stream = ?", (self._log.stream(event.stream).row,)
        ).fetchone()
        if row is not None:
            return SessionState.model_validate(loads(row[0]))
        if event.type == "session_forked":
            inherited = self._log.read(event.stream, to=event.position - 1)
            return self._statistics.fold(inherited)
        return self._statistics.initial()

    def _write(self, connection: sqlite3.Connection, row: int, state: SessionState) -> None:
        connection.execute(
            "insert into sessions values (?, ?, ?, null) on conflict (stream) do update set "
            "state = excluded.state, source = null",
            (row, state.key, dumps(state.model_dump())),
        )
        parent = state.parent
        for _ in range(_DEPTH):  # whoever counts this stream as part of its file, counts again
            if parent is None or not state.is_subagent:
                break
            found = connection.execute(
                "update sessions set source = null where key = ? "
                "returning json_extract(state, '$.parent')",
                (parent,),
            ).fetchall()
            parent = found[0][0] if found else None

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

    def states(self) -> list[SessionState]:
        """Every stream's state up to now; no call is judged. The table is brought up to date."""
        return [row.state for row in self._rows()]

    def completed(self, only: StreamKey | None = None) -> list[tuple[SessionState, Source]]:
        """Every stream, or one, with its recorded calls judged and its source counted.

        Both are kept in the table, so that they cost nothing the next time.
        """
        rows = self._rows()
        agents = _subagents(row.state for row in rows)
        found: list[tuple[SessionState, Source]] = []
        changed: list[tuple[str, str | None, int, str]] = []
        for row in rows:
            state, source = row.state, row.source
            if only is not None and state.key != str(only):
                continue
            found_more = False
            if self._judge is not None and state.unjudged:
                state.judge(self._judge(StreamKey.parse(state.key), state.unjudged))
                found_more = True
            if source is None and state.format:
                source = self._source(state, agents)
                found_more = True
            if found_more:
                counted = dumps(source.model_dump()) if source is not None else None
                changed.append((dumps(state.model_dump()), counted, row.number, row.text))
            found.append((state, source))
        if changed and not self._log.read_only:
            with contextlib.suppress(Busy), self._log.writing() as db:
                # Not where the row has moved on meanwhile.
                db.executemany(
                    "update sessions set state = ?, source = ? where stream = ? and state = ?",
                    changed,
                )
        return found

    def _rows(self) -> list[_Row]:
        """The rows, up to date; folded from nothing in a log that lacks them and is only read, or
        that somebody else writes to for longer than this one waits."""
        if not self._brought_up():
            infos = self._log.streams()
            return [_Row(0, "", self._statistics.fold(self._log.read(i.key)), None) for i in infos]
        return [
            _Row(
                number,
                text,
                SessionState.model_validate(loads(text)),
                SourceCounts.model_validate(loads(source)) if source else None,
            )
            for number, text, source in self._log.query(
                "select stream, state, source from sessions"
            ).fetchall()
        ]

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

    def _source(self, state: SessionState, agents: dict[str, list[SessionState]]) -> SourceCounts:
        members = [state]
        for member in members:
            members += [
                agent
                for agent in agents.get(member.key, ())
                if (agent.format, agent.file) == (state.format, state.file) and agent not in members
            ]
        return source_counts(chain.from_iterable(self._log.read(m.key) for m in members))


def _subagents(states: Iterable[SessionState]) -> dict[str, list[SessionState]]:
    """The sub-agents that each session started, by its key."""
    found: dict[str, list[SessionState]] = {}
    for state in states:
        if state.is_subagent and state.parent is not None:
            found.setdefault(state.parent, []).append(state)
    return found


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


def stats_of(state: SessionState, source: SourceCounts | None = None) -> SessionStats:
    """The statistics that a state holds."""
    shared = {name: getattr(state, name) for name in _SHARED}
    return SessionStats(
        **shared,
        parent=state.parent if state.is_fork else None,
        parent_session=None if state.is_fork else state.parent,
        happened_at=iso(state.updated),
        is_clocked=state.is_clocked or not state.format,
        unanswered_tool_calls=sum(state.open_calls.values()),
        output_is_partial=state.format in _PARTIAL_OUTPUT,
        source=source,
    )


_COMPUTED = frozenset(
    {
        "parent",
        "parent_session",
        "happened_at",
        "is_clocked",
        "unanswered_tool_calls",
        "output_is_partial",
        "source",
    }
)
_SHARED = [name for name in SessionStats.model_fields if name not in _COMPUTED]

_PARTIAL_OUTPUT = frozenset({"claude-code"})
"""Formats that write usage while an answer streams, in some versions never the final count."""


def list_sessions(live: Live, *, deleted: bool = False) -> list[SessionStats]:
    """Every session, the newest first; tombstoned ones only when asked for.

    The recorded calls of a session are compared with what the log holds once: the first time that
    it is listed after them, or after a redaction.
    """
    found = {state.key: (state, source) for state, source in _sessions(live).completed()}
    states = _newest_first((state for state, _ in found.values()), deleted)
    return [stats_of(*found[state.key]) for state in states]


def session_states(live: Live, *, deleted: bool = False) -> list[SessionState]:
    """What a look-up by name needs of the sessions, the newest first; no call is judged."""
    return _newest_first(_sessions(live).states(), deleted)


def session_stats(live: Live, stream: StreamKey | str) -> SessionStats:
    """The statistics of one session. Raises StreamNotFound."""
    key = live.log.stream(stream).key
    return stats_of(*_sessions(live).completed(key)[0])


def folded_stats(events: Iterable[RecordedEvent], judge: Judge | None = None) -> SessionStats:
    """The statistics from nothing, over everything that a stream reads; without ``source``."""
    state = SessionStatistics().fold(events)
    if judge is not None:
        state.judge(judge(StreamKey.parse(state.key), state.unjudged))
    return stats_of(state)


def _sessions(live: Live) -> Sessions:
    return Sessions(live.log, judged(live))


def _newest_first(states: Iterable[SessionState], deleted: bool) -> list[SessionState]:
    shown = [state for state in states if deleted or not state.deleted]
    return sorted(shown, key=lambda state: (-state.updated, state.key))
