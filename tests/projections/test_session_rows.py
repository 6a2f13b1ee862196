"""The rows of sessions: what a look-up finds in them is what all sessions together would say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_events import LOG, placed
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import EventLog, StreamKey, events
from eventlog.errors import StreamNotFound
from projections import Live, open_log
from projections import session_rows as rows
from projections.agent_state.folding import fold
from projections.references import find_session
from projections.session_names import matching, shortest, typed_for
from projections.session_state import SessionStatistics
from projections.sessions import list_sessions, listed, session_query

UUID = "fdd2a1b0-7c3e-4d5f-8a9b-0c1d2e3f4a5b"
IDS = [
    *("s1", "last", "last~2", "-x", "12", "a/b/s1", "ann/coder/s1", "x.y.z~1", ".dot", "~"),
    *(UUID, UUID[:20] + "other-end-of-it", UUID[:9] + "1", UUID[:8], f"{UUID}.fork1"),
    *(f"{UUID}.fork2", f"{UUID}~2.0123456789abcdefgh", f"{UUID}~2.0123456789abcdefgi", "问题", "é"),
]
KEYS = st.builds(StreamKey, st.sampled_from(["ann", "bob"]), st.just("coder"), st.sampled_from(IDS))
PARTS = st.sampled_from([*IDS, *(name[:size] for name in IDS for size in (1, 4, 9, 12)), "no", ""])


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str) -> events.MessageAppended:
    message = {"role": "user", "content": text}
    return events.MessageAppended(dialect="openai_chat", source="human", message=message)


class TestNames:
    """Without these a name that is told to be typed means another session, or none."""

    @settings(max_examples=100)
    @given(st.lists(KEYS, min_size=1, max_size=12, unique=True), st.data())
    def test_a_short_name_is_the_one_that_all_sessions_together_give(
        self, tmp_path_factory: pytest.TempPathFactory, keys: list[StreamKey], data: st.DataObject
    ) -> None:
        asked = data.draw(st.lists(st.sampled_from(keys), max_size=4).map(lambda k: map(str, k)))
        wanted = list(dict.fromkeys(asked))
        every = typed_for(map(str, keys))
        with EventLog(tmp_path_factory.mktemp("log") / "log.db", durability="normal") as log:
            for key in keys:
                log.append(key, events.SessionStarted())
            for asked_now in (wanted, list(map(str, keys))):
                found = rows.short_names(log.query, asked_now)
                assert found == {key: every[key] for key in asked_now}

    @settings(max_examples=100)
    @given(st.lists(KEYS, min_size=1, max_size=12, unique=True), PARTS, st.booleans())
    def test_what_begins_so_is_all_that_a_short_name_may_mean(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        keys: list[StreamKey],
        text: str,
        deleted: bool,
    ) -> None:
        with open_log(tmp_path_factory.mktemp("log") / "log.db", durability="normal") as live:
            for key in keys:
                live.append(key, events.SessionStarted())
            if deleted:
                live.append(keys.pop(), events.SessionDeleted())
            found = rows.beginning(session_query(live), text) if text else []
            ids = [key.split("/", 2)[2] for key in found]
            assert set(found) <= set(map(str, keys))
            every = [key.session for key in keys]
            assert not text or sorted(matching(text, ids)) == sorted(matching(text, every))

    def test_a_key_that_does_not_exist_yet_counts_as_if_it_did(self, live: Live) -> None:
        live.append(StreamKey("a", "b", UUID), events.SessionStarted())
        other = f"a/b/{UUID[:12]}ffffffff"
        assert rows.short_names(live.log.query, [other]) == {other: UUID[:12] + "f"}
        twin = f"z/b/{UUID}"
        assert rows.short_names(live.log.query, [twin]) == {twin: twin}

    def test_more_names_than_a_statement_takes_are_found_too(self, live: Live) -> None:
        keys = [f"a/b/{number:09}" for number in range(rows._MANY + 5)]
        live.append(StreamKey("a", "b", "000000003"), events.SessionStarted())
        assert rows.short_names(live.log.query, keys) == typed_for(keys)

    def test_the_names_are_sorted_apart_as_python_sorts_them(self) -> None:
        names = ["é" * 20 + "a", "é" * 20 + "b", "z" * 17, "问" * 20]
        assert shortest(names) == ["é" * 20 + "a", "é" * 20 + "b", "z" * 8, "问" * 8]


class TestRows:
    """Without these the list, the figures of a session and its state tell three stories."""

    @settings(max_examples=150)
    @given(LOG)
    def test_tasks_go_back_with_a_rewind_as_in_the_state_of_the_agent(
        self, said: list[events.Event]
    ) -> None:
        log = placed(said)
        tasks = fold(log).state.tasks
        state = SessionStatistics().fold(log)
        is_open = [task for task in tasks if task.status in ("pending", "in_progress")]
        assert (state.tasks, state.open_tasks) == (len(tasks), len(is_open))

    def test_a_row_says_what_the_figures_say(self, live: Live) -> None:
        for number in range(5):
            live.append(StreamKey("a", "b", f"s{number}"), said(f"text {number}"), said("more"))
        live.log.fork("a/b/f", "a/b/s1", at=1)
        live.append("a/b/s2", events.SessionDeleted(), events.SessionTitled(title="gone"))
        for deleted in (False, True):
            stats = list_sessions(live, deleted=deleted)
            assert len(stats) == (6 if deleted else 5)
            for row, figures in zip(listed(live, deleted=deleted), stats, strict=True):
                both = set(row._fields) & set(type(figures).model_fields)
                assert both >= {"key", "title", "calls", "tasks", "provenance", "is_clocked"}
                for name in both - {"parent"}:
                    assert getattr(row, name) == getattr(figures, name)
                assert row.parent == (figures.parent or figures.parent_session)
                assert row.happened_at == figures.happened_at

    def test_so_many_are_given_of_one_agent(self, live: Live) -> None:
        for number in range(6):
            live.append(StreamKey("u", "ab"[number % 2], f"s{number}"), said("x"))
        query = session_query(live)
        newest = rows.newest(query, limit=2, agent="b")
        assert [row.key for row in newest] == ["u/b/s5", "u/b/s3"]
        assert [row.key for row in rows.newest(query, limit=2, skip=1)] == ["u/a/s4", "u/b/s3"]
        assert rows.count(query, agent="b") == 3
        assert rows.newest(query, user="v") == []

    def test_a_look_up_reads_no_state(self, live: Live) -> None:
        """Ten thousand of them took a second."""
        for number in range(3):
            live.append(StreamKey("a", "b", f"session{number}"), said(f"text {number}"))
        listed(live)
        asked: list[str] = []
        live.log._db.set_trace_callback(asked.append)
        assert find_session(live, "last").session == "session2"
        assert find_session(live, "text 1").session == "session1"
        assert find_session(live, "session1") == StreamKey("a", "b", "session1")
        with pytest.raises(StreamNotFound):
            find_session(live, "nothing like it")
        live.log._db.set_trace_callback(None)
        assert asked
        assert not [sql for sql in asked if "sessions_states" in sql or "payload" in sql]


def test_an_index_gives_the_order_and_the_names(live: Live) -> None:
    """Without it the newest of a hundred thousand are found by sorting all of them."""
    live.append(StreamKey("a", "b", "c"), said("x"))
    listed(live)
    plans: list[str] = []

    def planned(sql: str, values: Sequence[Any]) -> sqlite3.Cursor:
        plan = live.log.query(f"explain query plan {sql}", values).fetchall()
        plans.extend(row[3] for row in plan)
        return live.log.query(sql, values)

    rows.newest(planned, limit=5)
    rows.newest(planned, limit=1, subagents=False, tests=False)
    rows.count(planned, tests=False)
    rows.count(planned, agent=rows.PROMPT_TESTS)
    assert not [plan for plan in plans[-2:] if "COVERING" not in plan]
    assert not [plan for plan in plans if "TEMP B-TREE" in plan]
    rows.beginning(planned, "abcd")
    rows.titled(planned, "x")
    rows.row_of(planned, "a/b/c")
    rows.started_by(planned, "a/b/c")
    used = [plan.split("INDEX ")[1].split()[0] for plan in plans if "INDEX" in plan]
    names = ["time", "time", "time", "time", "session", "title", "key", "parent"]
    assert used == [f"sessions_by_{name}" for name in names]
    assert not [plan for plan in plans if "SCAN" in plan]
