"""The views after undos and rewinds that a log keeps, from whatever snapshot they begin."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import DECISION, LOG, message, result

from eventlog import StreamKey, events
from eventlog.recorded import RecordedEvent
from projections import open_log, views
from projections.context import View, fold
from projections.live import Live

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "child")

REWINDING = st.lists(
    st.one_of(
        message(),
        message(),
        result(),
        st.builds(events.SessionRewound, to=st.integers(0, 40)),
        st.builds(events.SessionRewound, to=st.integers(0, 40)),
        DECISION,
    ),
    min_size=4,
    max_size=40,
)
"""Sessions that are rewound all the time."""

QUICK = settings(max_examples=60)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "STRIDE", 4)


def assert_as_folded(live: Live, key: StreamKey) -> None:
    for at in range(live.log.version(key) + 1):
        view, whole = live.view(key, at), fold(live.log.read(key, to=at))
        assert view == whole, at
        assert view.version == whole.version


def said(text: str) -> events.MessageAppended:
    message = {"role": "user", "content": text}
    return events.MessageAppended(dialect="openai_chat", source="human", message=message)


class TestRefolding:
    """Without this a rewound session shows contexts that never were, or takes minutes to import."""

    @QUICK
    @given(log=LOG)
    def test_every_place_of_any_log_is_as_folded_from_nothing(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
                assert live.view(KEY) == fold(live.log.read(KEY))
            assert_as_folded(live, KEY)

    @QUICK
    @given(said=REWINDING, size=st.integers(1, 9), fork_at=st.integers(1, 40))
    def test_so_is_a_session_that_is_rewound_all_the_time_and_forked(
        self, said: list[events.Event], size: int, fork_at: int
    ) -> None:
        with TemporaryDirectory() as folder:
            with open_log(Path(folder) / "l.db") as live:
                for at in range(0, len(said), size):
                    live.append(KEY, *said[at : at + size])
                    assert live.view(KEY) == fold(live.log.read(KEY))
                live.log.fork(CHILD, KEY, min(fork_at, len(said)))
                live.append(CHILD, *said)
                assert live.view(CHILD) == fold(live.log.read(CHILD))
            with open_log(Path(folder) / "l.db") as live:
                for key in (KEY, CHILD):
                    assert live.view(key) == fold(live.log.read(key))
                    assert_as_folded(live, key)

    @pytest.mark.parametrize(
        ("event", "note"),
        [
            (events.DecisionUndone(target=9), "there is no decision 9 to undo"),
            (events.DecisionUndone(target=99), "there is no decision 99 to undo"),
            (events.SessionRewound(to=12), "a rewind to 12 goes nowhere"),
        ],
        ids=["no decision", "nothing", "ahead"],
    )
    def test_what_names_nothing_is_noted(
        self, tmp_path: Path, event: events.Event, note: str
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *(said(str(number)) for number in range(9)))
            live.append(KEY, event)
            assert [found.message for found in live.view(KEY).notes] == [note]
            assert live.view(KEY).notes == fold(live.log.read(KEY)).notes

    def test_an_unknown_critical_event_that_a_rewind_took_away_refuses_nothing(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, said("a"), said("b"))
            _unknown(live)
            live.append(KEY, events.SessionRewound(to=1), said("c"))
            assert live.view(KEY).labels() == ["1", "5"]
            assert live.view(KEY, 5).labels() == ["1", "5"]


class TestTheCostOfARewind:
    """A session of ten thousand messages and two thousand rewinds is read in seconds."""

    @pytest.fixture(autouse=True)
    def seldom(self, often: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(views, "STRIDE", 1000)

    @pytest.fixture
    def steps(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        counted: list[int] = []
        evolve, append = View.evolve, View.append_item

        def evolved(view: View, event: RecordedEvent) -> None:
            counted.append(event.position)
            evolve(view, event)

        def appended(view: View, position: int) -> None:
            counted.append(position)
            append(view, position)

        monkeypatch.setattr(View, "evolve", evolved)
        monkeypatch.setattr(View, "append_item", appended)
        return counted

    def test_is_what_lies_between(self, tmp_path: Path, steps: list[int]) -> None:
        with open_log(tmp_path / "l.db", durability="normal") as live:
            made: list[events.Event] = []
            for number in range(1000):
                made += [said(f"{number}"), said("a wrong turn")]
                made.append(events.SessionRewound(to=len(made) - 1))
            live.append(KEY, *made)
            assert live.view(KEY).labels() == [str(at) for at in range(1, 3001, 3)]
            assert len(steps) < 3 * len(made)
            rows = live.log.query("select count(*) from snapshots").fetchone()
            assert rows[0] < 7  # every thousandth, and a rewind over one

    def test_is_the_way_to_a_snapshot_for_a_view_of_the_past(
        self, tmp_path: Path, steps: list[int]
    ) -> None:
        with open_log(tmp_path / "l.db", durability="normal") as live:
            live.append(KEY, *(said(str(number)) for number in range(5000)))
            live.append(KEY, said("wrong"), events.SessionRewound(to=5000), said("right"))
            steps.clear()
            assert len(live.view(KEY, 5003)) == 5001
            assert len(steps) < 10

    def test_a_compaction_that_changes_nothing_writes_no_snapshot(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db", durability="normal") as live:
            for number in range(20):
                live.append(KEY, said(str(number)), events.ContextCompacted(covered=()))
            assert live.log.query("select count(*) from snapshots").fetchone()[0] == 0
            assert live.view(KEY, 40) == live.view(KEY) == fold(live.log.read(KEY))
            assert live.position(KEY, "k", 20) == 40

    def test_of_an_undo_is_the_way_to_what_it_undoes(
        self, tmp_path: Path, steps: list[int]
    ) -> None:
        with open_log(tmp_path / "l.db", durability="normal") as live:
            live.append(KEY, *(said(str(number)) for number in range(5000)))
            live.append(KEY, events.ContextCompacted(covered=("1-4990",)))
            steps.clear()
            live.append(KEY, events.DecisionUndone(target=5001))
            assert len(live.view(KEY)) == 5000
            assert len(steps) < 1010


def _unknown(live: Live) -> None:
    """A critical event of a later program, at position 3."""
    with closing(sqlite3.connect(live.log.path)) as db:
        db.execute(
            "insert into events (sequence, stream, position, id, type, schema_version,"
            " critical, recorded_at, salt, chain, payload) values "
            "(3, 1, 3, randomblob(16), 'from_the_future', 1, 1, 0, x'00', randomblob(32), '{}')"
        )
        db.commit()
