"""The SQL views say of a session what the statistics say: its time, its title, its kind."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import Draft, StreamKey, events, readable
from eventlog.asking import asked
from eventlog.happened import iso, moment
from projections import open_log
from projections.live import Live
from projections.session_figures import _PARTIAL_OUTPUT
from projections.session_state import NOTES
from projections.sessions import list_sessions
from projections.titles import TITLE_LENGTH

KEY = StreamKey("local", "agent", "s0")


def human(content: Any) -> events.MessageAppended:
    message = {"role": "user", "content": content}
    return events.MessageAppended(dialect="anthropic", source="human", message=message)


def task(text: str) -> events.MessageAppended:
    message = {"role": "user", "content": text}
    return events.MessageAppended(
        dialect="anthropic", source="injected", label="task", message=message
    )


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


PIECES = ["a", "b ", " ", "\n\t\r", "<system-reminder>", "</system-reminder>", "long  " * 40]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
CONTENTS = TEXTS | st.lists(
    st.builds(said, TEXTS)
    | st.just({"type": "tool_result", "tool_use_id": "x", "content": "no human said that"})
    | st.just({"type": "image", "source": {"type": "base64", "media_type": "image/png"}}),
    max_size=3,
)
TITLES = st.sampled_from(["", "one", "two"])
FORMATS = st.sampled_from(["", "claude-code", "codex"])
OWNERSHIPS = st.sampled_from(["owned", "observed"])
STARTS = st.builds(events.SessionStarted, title=TITLES, format=FORMATS, ownership=OWNERSHIPS)
EVENTS = st.one_of(
    st.builds(human, CONTENTS),
    st.builds(task, TEXTS),
    st.builds(events.SessionTitled, title=TITLES),
    st.sampled_from([
        events.ModelCalled(model="m", dialect="anthropic"),
        events.ItemPinned(item="1"),
        events.ItemUnpinned(item="1"),
        events.SessionDeleted(),
        events.SessionResumed(),
        events.TaskClassified(task_type="debugging", by="me"),
    ]),
)  # fmt: skip
LABELS = st.sampled_from([None, "", "2026", "1767323045.678", "1767323046678", "2026-01-02",
                          "2026-01-02T03:04:05+02:00", "9" * 30])  # fmt: skip
APPENDS = st.lists(
    st.lists(st.builds(Draft, EVENTS, occurred_at=LABELS), min_size=1, max_size=4), max_size=8
)


def assert_views_agree(live: Live) -> None:
    rows = live.log.query(
        "select s.user || '/' || s.agent || '/' || s.session, s.row from streams s"
    ).fetchall()
    view = _asked(live, "select * from sessions_readable")
    assert len(view) == len(rows)
    shown = {row["session"]: row for row in view}
    for stats in list_sessions(live, deleted=True):
        row = shown[stats.key]
        assert row["happened_at"] == stats.happened_at
        links = (row["parent"], row["parent_session"])
        assert links == (stats.parent, stats.parent_session)
        assert (row["title"] or "") == stats.title
        assert bool(row["output_is_partial"]) is stats.output_is_partial
        assert (row["calls"], row["compactions"]) == (stats.calls, stats.compactions)
    calls = _asked(live, "select session, output_is_partial from calls_readable")
    assert all(
        shown[row["session"]]["output_is_partial"] == row["output_is_partial"] for row in calls
    )
    times = _asked(live, "select session, position, happened_at from events_readable")
    for row in times:
        (event,) = live.log.read(row["session"], after=row["position"] - 1, to=row["position"])
        assert row["happened_at"] == iso(moment(event.occurred_at, event.recorded_at))


def _asked(live: Live, sql: str) -> list[dict[str, Any]]:
    with asked(live.log.path, sql) as answer:
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


class TestAgreement:
    """Without it a query over a log and `ctxlog sessions` tell two stories of one session."""

    @settings(max_examples=50)
    @given(STARTS, OWNERSHIPS, APPENDS, st.integers(0, 2**32))
    def test_the_views_say_what_the_statistics_say(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        start: Any,
        ownership: Any,
        drawn: list[Any],
        seed: int,
    ) -> None:
        dice = random.Random(seed)
        path = tmp_path_factory.mktemp("log") / "log.db"
        with open_log(path, durability="normal") as live:
            live.append(KEY, start)
            keys = [KEY]
            for number, appended in enumerate(drawn, 1):
                live.append(dice.choice(keys), *appended)
                if dice.random() < 0.4:
                    parent, child = dice.choice(keys), KEY._replace(session=f"s{number}")
                    at = dice.randint(1, live.log.version(parent))
                    live.log.fork(child, parent, at=at, ownership=ownership)
                    keys.append(child)
            assert_views_agree(live)

    def test_what_stands_beside_a_tool_result_is_no_title(self, tmp_path: Path) -> None:
        result = {"type": "tool_result", "tool_use_id": "x", "content": "done"}
        with open_log(tmp_path / "log.db", durability="normal") as live:
            live.append(KEY, human([said("a reminder"), result]), human(" \n "), human("fix\n it"))
            ((row,), (stats,)) = (
                _asked(live, "select * from sessions_readable"),
                list_sessions(live),
            )
            assert row["title"] == stats.title == "fix it"

    def test_no_title_is_what_an_agent_put_in_front(self, tmp_path: Path) -> None:
        note = "<system-reminder>\nbe careful\n</system-reminder>"
        with open_log(tmp_path / "log.db", durability="normal") as live:
            live.append(KEY, human(note), human([said(note), said(f"{note}\n\nfix it")]))
            agent = KEY._replace(session="agent")
            live.append(agent, events.SessionStarted(parent_session=str(KEY)), task("look it up"))
            assert_views_agree(live)
            titles = {stats.key: stats.title for stats in list_sessions(live)}
            (started,) = [s for s in list_sessions(live) if s.key == str(agent)]
        assert titles == {str(KEY): "fix it", str(agent): "look it up"}
        assert (started.parent, started.parent_session) == (None, str(KEY))
        assert started.human_messages == 0

    def test_the_sets_in_their_text_are_those_of_the_statistics(self) -> None:
        """The text of a view is frozen: another note, or another such format, is a new format."""
        assert frozenset(readable.PARTIAL) == _PARTIAL_OUTPUT
        assert {name.strip("' ") for name in readable._NOTES.split(",")} == NOTES
        assert readable._TITLE == TITLE_LENGTH
