"""The view as a fold, kept and rebuilt."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import LOG

from eventlog import StreamKey, events
from eventlog.errors import CriticalUnknown, PositionNotFound
from projections import open_log
from projections.context import View, fold
from projections.live import Live
from projections.runs import barriers_between, encode, expand

KEY = StreamKey("local", "agent", "s")


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def result(text: str, call: str = "x") -> events.ToolResultRecorded:
    return events.ToolResultRecorded(tool_call_id=call, dialect="openai_chat", content=text)


def summary(text: str = "so far") -> events.NewMessage:
    return events.NewMessage(
        dialect="openai_chat", message={"role": "user", "content": text}, label="summary"
    )


@pytest.fixture
def live(tmp_path: Path) -> Live:
    with open_log(tmp_path / "log.db") as opened:
        yield opened


def rebuilt(live: Live, key: StreamKey = KEY, to: int | None = None) -> View:
    return fold(live.log.read(key, to=to))


def design_table(live: Live) -> list[str]:
    """The table of the design page, event by event; returns the view after each position."""
    calling = events.MessageAppended(
        dialect="openai_chat",
        source="model",
        call=4,
        message={
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "x", "type": "function", "function": {"name": "X", "arguments": "{}"}}
            ],
        },
    )
    appends: list[list[events.Event]] = [
        [events.SessionStarted(title="table")],
        [said("be brief", "system"), said("U1")],
        [events.ModelCalled(model="m", dialect="openai_chat", manifest=("2-3",))],
        [calling, events.ModelResponded(call=4)],
        [
            result("a long result"),
            events.PlaceholderSubstituted(item="7", kind="cut", content="a lo…"),
        ],
        [events.ModelCalled(model="m", dialect="openai_chat", manifest=("=2", "5", "7@8"))],
        [said("A2", "assistant"), events.ModelResponded(call=9)],
        [events.PlaceholderSubstituted(item="7", content="[cleared]")],
        [events.ContextCompacted(covered=("5", "7", "10"), messages=(summary(),))],
        [events.DecisionUndone(target=12)],
        [events.DecisionUndone(target=13)],
        [events.SessionRewound(to=9)],
        [said("U2")],
    ]
    for append in appends:
        live.append(KEY, *append)
    return [" · ".join(live.view(KEY, at).labels()) for at in range(1, 18)]


class TestTheDesignTable:
    """Without it the words of the design page and the code drift apart."""

    def test_each_row_gives_the_view_that_the_page_says(self, live: Live) -> None:
        views = design_table(live)
        assert views == [
            "",
            "2",
            "2 · 3",
            "2 · 3",
            "2 · 3 · 5",
            "2 · 3 · 5",
            "2 · 3 · 5 · 7",
            "2 · 3 · 5 · 7@8",
            "2 · 3 · 5 · 7@8",
            "2 · 3 · 5 · 7@8 · 10",
            "2 · 3 · 5 · 7@8 · 10",
            "2 · 3 · 5 · 7@12 · 10",
            "2 · 3 · 13.0",
            "2 · 3 · 13.0",
            "2 · 3 · 5 · 7@8 · 10",
            "2 · 3 · 5 · 7@8",
            "2 · 3 · 5 · 7@8 · 17",
        ]

    def test_undoing_a_covered_items_substitution_shows_once_the_compaction_is_undone(
        self, live: Live
    ) -> None:
        design_table(live)
        item = {i.id: i for i in live.items(KEY, 15)}["7"]
        assert item.rendition == "7@8"
        assert item.text == "a lo…"

    def test_a_session_without_messages_has_an_empty_view(self, live: Live) -> None:
        live.append(KEY, events.SessionStarted())
        assert live.items(KEY) == []

    def test_a_position_that_does_not_exist_is_a_clear_error(self, live: Live) -> None:
        live.append(KEY, events.SessionStarted())
        with pytest.raises(PositionNotFound, match="ends at 1"):
            live.view(KEY, 2)


class TestDecisions:
    """Each effect on the view, alone."""

    def test_a_truncation_is_a_compaction_without_messages(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), said("c"))
        live.append(KEY, events.ContextCompacted(covered=("1-2",)))
        assert live.view(KEY).labels() == ["3"]

    def test_messages_stand_where_the_first_covered_item_stood(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), said("c"), said("d"))
        live.append(KEY, events.ContextCompacted(covered=("2", "3"), messages=(summary(),) * 2))
        assert live.view(KEY).labels() == ["1", "5.0", "5.1", "4"]

    def test_a_layout_says_the_whole_context(self, live: Live) -> None:
        live.append(KEY, *(said(str(n)) for n in range(5)))
        live.append(
            KEY,
            events.ContextCompacted(
                covered=("2-4",), messages=(summary(),), layout=("1", "m0", "5", "3", "9")
            ),
        )
        view = live.view(KEY)
        assert view.labels() == ["1", "6.0", "5", "3"]
        assert rebuilt(live).notes[0].message == "layout names item 9, which is not there"

    def test_a_run_covers_only_what_stands_there(self, live: Live) -> None:
        live.append(KEY, said("a"), events.TaskClassified(task_type="x"), said("b"), said("c"))
        live.append(KEY, events.ContextCompacted(covered=("1-3",)))
        assert live.view(KEY).labels() == ["4"]

    def test_covering_what_left_is_ignored_and_noted(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        live.append(KEY, events.ContextCompacted(covered=("1",)))
        live.append(KEY, events.ContextCompacted(covered=("1", "2"), messages=(summary(),)))
        assert live.view(KEY).labels() == ["4.0"]
        assert rebuilt(live).notes[0].message == "covered item 1 is not there"

    def test_a_pass_of_substitutions_is_undone_together(self, live: Live) -> None:
        live.append(KEY, result("a", "1"), result("b", "2"))
        cleared = [
            events.PlaceholderSubstituted(item=i, content="-", pass_id="p") for i in ("1", "2")
        ]
        live.append(KEY, *cleared)
        assert live.view(KEY).labels() == ["1@3", "2@4"]
        live.append(KEY, events.DecisionUndone(pass_id="p"))
        assert live.view(KEY).labels() == ["1", "2"]
        live.append(KEY, events.DecisionUndone(target=5))
        assert live.view(KEY).labels() == ["1@3", "2@4"]

    def test_an_undone_rewind_brings_back_what_it_hid(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), events.SessionRewound(to=1), said("c"))
        assert live.view(KEY).labels() == ["1", "4"]
        live.append(KEY, events.DecisionUndone(target=3))
        assert live.view(KEY).labels() == ["1", "2", "4"]

    def test_an_item_may_enter_behind_another(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        new = events.MessageAppended(
            dialect="openai_chat",
            source="injected",
            after="1",
            message={"role": "user", "content": "between"},
        )
        live.append(KEY, new, said("c"))
        assert live.view(KEY).labels() == ["1", "3", "2", "4"]
        live.rebuild()
        assert live.view(KEY).labels() == ["1", "3", "2", "4"]

    def test_a_real_result_replaces_the_synthetic_one(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        block = {"role": "tool", "tool_call_id": "x", "content": "no result was recorded"}
        insert = events.RepairInsert(
            after="1", message=events.NewMessage(dialect="openai_chat", message=block)
        )
        live.append(KEY, events.RepairApplied(rule="r", inserted=(insert,), call_ids=("x",)))
        assert live.view(KEY).labels() == ["1", "3.0", "2"]
        live.append(KEY, result("late", "x"))
        assert live.view(KEY).labels() == ["1", "4", "2"]
        assert rebuilt(live) == live.view(KEY)

    def test_several_results_put_behind_one_item_stand_in_their_order(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        inserts = tuple(
            events.RepairInsert(
                after="1",
                message=events.NewMessage(
                    dialect="openai_chat",
                    message={"role": "tool", "tool_call_id": call, "content": "none"},
                ),
            )
            for call in ("x", "y")
        )
        live.append(KEY, events.RepairApplied(rule="r", inserted=inserts))
        assert live.view(KEY).labels() == ["1", "3.0", "3.1", "2"]

    def test_every_renamed_call_of_a_message_is_renamed(self, live: Live) -> None:
        calls = [
            {"id": call, "type": "function", "function": {"name": "run", "arguments": "{}"}}
            for call in ("x", "y")
        ]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        live.append(
            KEY,
            events.MessageAppended(dialect="openai_chat", source="model", message=message),
            events.MessageRevised(item="1", patch={"content": "now"}),
        )
        renamed = tuple(
            events.Rename(item="1", rendition="1@2", old=call, new=f"{call}_1")
            for call in ("x", "y")
        )
        live.append(KEY, events.RepairApplied(rule="r", renamed=renamed))
        (item,) = live.items(KEY)
        assert item.rendition == "1@3"
        assert item.call_ids == ("x_1", "y_1")
        assert item.message["content"] == "now"

    def test_an_unknown_critical_event_stops_the_fold_and_nothing_else(self, live: Live) -> None:
        live.append(KEY, said("a"))
        with closing(sqlite3.connect(live.log.path)) as db, db:
            db.execute(
                "insert into events (sequence, stream, position, id, type, schema_version,"
                " critical, recorded_at, salt, chain, payload) values "
                "(2, 1, 2, randomblob(16), 'context_folded', 1, 1, 0, x'', zeroblob(32), '{}')"
            )
        with pytest.raises(CriticalUnknown):
            live.view(KEY)
        live.append(KEY, said("b"))
        with pytest.raises(CriticalUnknown):
            live.view(KEY)
        assert live.view(KEY, 1).labels() == ["1"]


class TestForks:
    """A fork shares its parent's events, and nothing that happens later."""

    def test_a_fork_begins_with_the_parents_view_there(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"), said("c"))
        live.append(KEY, events.ContextCompacted(covered=("1-3",), messages=(summary(),)))
        child = StreamKey("local", "agent", "child")
        live.log.fork(child, KEY, 2)
        live.append(child, said("d"))
        assert live.view(child).labels() == ["1", "2", "4"]
        assert live.view(child, 2).labels() == ["1", "2"]
        live.append(child, events.SessionRewound(to=1), said("e"))
        assert live.view(child).labels() == ["1", "6"]
        assert rebuilt(live, child) == live.view(child)
        assert live.view(KEY).labels() == ["4.0"]

    def test_calls_and_compactions_go_on_with_the_parents_numbers(self, live: Live) -> None:
        called = events.ModelCalled(model="m", dialect="openai_chat")
        live.append(KEY, said("a"), called, events.ContextCompacted(covered=("1",)), called)
        child = StreamKey("local", "agent", "child")
        live.log.fork(child, KEY, 3)
        live.append(child, called, events.ContextCompacted(covered=()))
        assert live.position(child, "c", 1) == 2
        assert live.position(child, "c", 2) == 5
        assert live.position(child, "k", 2) == 6
        assert live.position(KEY, "c", 2) == 4
        with pytest.raises(PositionNotFound, match="it has 2 calls"):
            live.position(child, "c", 3)


class TestKeptViews:
    """The kept view is what makes an append cheap; it is worth nothing if it can be wrong."""

    @settings(max_examples=150)
    @given(log=LOG, fork_at=st.integers(1, 20), reopen=st.integers(0, 3))
    def test_live_equals_rebuilt_after_every_append_of_any_log(
        self, log: list[list[events.Event]], fork_at: int, reopen: int
    ) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "log.db"
            live = open_log(path, durability="normal")
            key = KEY
            for number, append in enumerate(log):
                live.append(key, *append)
                if number % 4 == reopen:
                    live.close()
                    live = open_log(path, durability="normal")
                assert live.view(key) == rebuilt(live, key)
                assert live.messages(key) == [dict(item.message) for item in live.items(key)]
                if number == fork_at:
                    child = StreamKey("local", "agent", f"fork{number}")
                    live.log.fork(child, key, min(fork_at, live.log.version(key)))
                    key = child
            for at in range(live.log.version(key) + 1):
                assert live.view(key, at) == rebuilt(live, key, at)
            expected = live.view(key)
            live.rebuild()
            assert live.view(key) == expected
            live.close()
            with open_log(path, read_only=True) as reader:
                assert reader.view(key) == expected

    @settings(max_examples=150)
    @given(log=LOG, hidden=st.integers(1, 30))
    def test_also_where_barriers_are_thinned_at_every_compaction(
        self, log: list[list[events.Event]], hidden: int
    ) -> None:
        """Logs of a few events never reach the slack, so it is taken away."""
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr("projections.context.SLACK", -1000)
            path = Path(folder) / "log.db"
            with open_log(path, durability="normal") as live:
                live.append(KEY, *(said(str(n)) for n in range(hidden)))
                live.append(KEY, events.SessionRewound(to=hidden // 2))
                for append in log:
                    live.append(KEY, *append)
                expected = rebuilt(live)
            with open_log(path, durability="normal") as live:
                assert live.view(KEY) == expected
                for at in range(1, live.log.version(KEY) + 1):
                    assert live.view(KEY, at) == rebuilt(live, to=at)

    def test_what_a_rewind_hid_stays_hidden_after_a_compaction_and_a_reopening(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "a.db") as live:
            live.append(KEY, *(said(str(n)) for n in range(103)))
            live.append(KEY, events.SessionRewound(to=3))
            live.append(KEY, events.ContextCompacted(covered=("2",)), said("a"), said("b"))
            live.append(KEY, events.SessionRewound(to=106), said("c"))
            live.append(KEY, events.SessionRewound(to=106), said("d"))
            labels = live.view(KEY).labels()
        with open_log(tmp_path / "a.db") as live:
            assert live.view(KEY).labels() == labels == rebuilt(live).labels()

    def test_snapshots_stand_at_every_thousandth_position(self, live: Live) -> None:
        live.append(KEY, *(said(str(n)) for n in range(2500)))
        rows = live.log.query("select position, state from snapshots").fetchall()
        assert [row[0] for row in rows] == [1000, 2000]
        assert rows[1][1] == '{"runs": ["1-"]}'
        assert live.view(KEY, 1500).labels() == [str(n) for n in range(1, 1501)]

    def test_a_writer_without_the_views_is_caught_up_with(self, tmp_path: Path) -> None:
        from eventlog import EventLog

        with open_log(tmp_path / "a.db") as live:
            live.append(KEY, said("a"), said("b"))
            assert live.view(KEY).labels() == ["1", "2"]
            with EventLog(tmp_path / "a.db") as bare:
                bare.append(KEY, events.ContextCompacted(covered=("1",)), said("c"))
            assert live.view(KEY).labels() == ["2", "4"]
            with EventLog(tmp_path / "a.db") as bare:
                bare.append(KEY, events.DecisionUndone(target=3))
            live.append(KEY, said("d"))
            assert live.view(KEY).labels() == ["1", "2", "4", "6"]


class TestRuns:
    """A run names items in few characters; it must never name one too many."""

    @given(
        origins=st.lists(st.integers(1, 60), unique=True),
        renditions=st.sets(st.integers(1, 60)),
        gone=st.sets(st.integers(1, 60)),
        end=st.booleans(),
    )
    def test_expanding_gives_back_what_was_encoded(
        self, origins: list[int], renditions: set[int], gone: set[int], end: bool
    ) -> None:
        gone -= set(origins)
        items = [(o, 99 if o in renditions else 0) for o in origins]
        exist = sorted(set(origins) | gone)
        entries = encode(items, sorted(gone), 61 if end else None)

        def positions(low: int, high: int) -> list[int]:
            return [p for p in exist if low <= p <= high]

        assert list(expand(entries, positions, 60)) == items
        assert barriers_between(entries) == sorted(barriers_between(entries))
