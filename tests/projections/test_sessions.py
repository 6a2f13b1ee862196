"""The statistics of sessions: what is counted, and that a table of them never says otherwise."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_calls
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import EVENT, ITEM

from eventlog import Draft, StreamKey, events
from eventlog.glance import glance
from eventlog.redaction import Target, redact
from projections import open_log
from projections.context import fold
from projections.known_context import KnownContext
from projections.live import Live
from projections.observe import draft_at
from projections.session_figures import SessionStats
from projections.session_rows import NAME, VERSION, newest
from projections.session_state import SessionStatistics
from projections.sessions import (
    Sessions,
    folded_stats,
    judged,
    keep_up,
    list_sessions,
    listed,
    row_of,
    session_query,
    session_stats,
)
from projections.usage import UsageTotals

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "s~2")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str, role: str = "user", **more: Any) -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    message = {"role": role, "content": text, **more}
    return events.MessageAppended(dialect="openai_chat", source=source, message=message)


def calling(*ids: str) -> events.MessageAppended:
    calls = [
        {"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in ids
    ]
    return said("", "assistant", tool_calls=calls)


def result(call: str) -> events.ToolResultRecorded:
    return events.ToolResultRecorded(tool_call_id=call, dialect="openai_chat", content="done")


CALLED = events.ModelCalled(model="m", dialect="openai_chat")


def tasks(*states: str) -> events.TasksSet:
    listed = [{"id": str(n), "title": "t", "status": state} for n, state in enumerate(states)]
    return events.TasksSet.model_validate({"tasks": listed})


def summarised(*covered: str, **more: Any) -> events.ContextCompacted:
    new = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": "so far"})
    return events.ContextCompacted(covered=covered, messages=(new,), **more)


class TestCounts:
    """Without these a number on the screen means something else than its name."""

    def test_each_count_is_of_what_its_name_says(self, live: Live) -> None:
        raw = {"file": "f", "offset": 0, "raw": "x"}
        spent = events.Usage(input=3, output=4)
        live.append(
            KEY,
            events.SessionStarted(title="fix the build"),
            said("be brief", "system"),
            said("fix it"),
            CALLED,
            calling("a", "b", "b"),
            events.ModelResponded(call=4, usage=spent),
            result("b"),
            result("zzz"),
            events.PlaceholderSubstituted(item="7", content="[cleared]"),
            summarised("3-8"),
            events.RecordUnrecognized(line=1, kind="unknown", **raw),
            events.RecordUnrecognized(line=2, kind="unreadable", **raw),
            events.RecordUnrecognized(line=3, kind="known", **raw),
            tasks("done", "in_progress", "dropped"),
        )
        stats = session_stats(live, KEY)
        assert stats.model_dump(exclude={"happened_at"}) == {
            "file": "",
            "is_deleted": False,
            "is_clocked": True,
            "key": "local/agent/s",
            "parent": None,
            "parent_session": None,
            "title": "fix the build",
            "provenance": "partial",
            "events": 14,
            "items": 6,
            "erased_items": 0,
            "human_messages": 1,
            "answers": 2,
            "calls": 1,
            "tool_calls": 3,
            "tool_results": 2,
            "orphan_tool_results": 1,
            "unanswered_tool_calls": 2,
            "compactions": 1,
            "placeholders": 1,
            "tasks": 3,
            "open_tasks": 1,
            "summary_length": 6,
            "unrecognized": 2,
            "usage": {
                "input": 3,
                "cached": None,
                "cache_write": None,
                "output": 4,
                "reasoning": None,
            },
            "usage_answers": {
                "input": 1,
                "cached": 0,
                "cache_write": 0,
                "output": 1,
                "reasoning": 0,
            },
            "billed_answers": 1,
            "output_is_partial": False,
            "source": None,
        }

    def test_no_tokens_are_told_where_no_provider_counted_any(self, live: Live) -> None:
        live.append(KEY, said("go"), CALLED, events.ModelResponded(call=2))
        before = session_stats(live, KEY)
        assert (before.usage, before.billed_answers) == (None, 0)
        zero = events.ModelResponded(call=4, usage=events.Usage(input=0))
        live.append(KEY, CALLED, zero)
        stats = session_stats(live, KEY)
        assert stats.usage == UsageTotals(input=0)  # a count of nothing is a count
        assert (stats.billed_answers, stats.answers) == (1, 2)

    def test_a_figure_says_of_how_many_answers_it_is_known(self, live: Live) -> None:
        told = (events.Usage(input=5), events.Usage(input=3, cached=2), None)
        for at, usage in enumerate(told):
            live.append(KEY, CALLED, events.ModelResponded(call=1 + 2 * at, usage=usage))
        stats = session_stats(live, KEY)
        assert stats.usage == UsageTotals(input=8, cached=2)
        known = {name: count for name, count in stats.usage_answers.items() if count}
        assert (known, stats.billed_answers) == ({"input": 2, "cached": 1}, 2)

    def test_an_answer_of_a_call_counts_once_in_however_many_messages(self, live: Live) -> None:
        part = {"dialect": "openai_chat", "source": "model", "call": 1}
        first, late = ({"role": "assistant", "content": text} for text in ("a", "b"))
        live.append(
            KEY,
            CALLED,
            events.MessageAppended(message=first, **part),
            events.ModelResponded(call=1),
            events.MessageAppended(message=late, **part),
        )
        assert session_stats(live, KEY).answers == 1

    def test_a_result_before_its_call_is_an_orphan_and_the_call_unanswered(
        self, live: Live
    ) -> None:
        live.append(KEY, result("a"), calling("a"))
        stats = session_stats(live, KEY)
        assert (stats.orphan_tool_results, stats.unanswered_tool_calls) == (1, 1)

    def test_a_tool_result_in_a_users_name_is_no_human_message(self, live: Live) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]
        message = {"role": "user", "content": blocks}
        live.append(
            KEY, events.MessageAppended(dialect="anthropic", source="human", message=message)
        )
        stats = session_stats(live, KEY)
        assert (stats.human_messages, stats.tool_results) == (0, 1)

    def test_a_message_of_a_hostile_shape_is_an_item_and_nothing_breaks(self, live: Live) -> None:
        message = {"role": ["user"], "content": [{"type": ["tool_use"]}], "tool_calls": 7}
        for dialect in ("openai_chat", "anthropic", "openai_responses"):
            hostile = events.MessageAppended(dialect=dialect, source="human", message=message)
            live.append(KEY, hostile, CALLED)
        assert session_stats(live, KEY).items == 3


class TestAFork:
    """Without these the same tokens are billed once a fork."""

    def test_only_its_own_events_count(self, live: Live) -> None:
        live.append(KEY, said("one"), CALLED, events.ModelResponded(call=2))
        live.log.fork(CHILD, KEY, at=3)
        live.append(CHILD, said("two"))
        stats = session_stats(live, CHILD)
        assert (stats.parent, stats.events, stats.calls, stats.human_messages) == (
            str(KEY),
            2,
            0,
            1,
        )

    def test_a_result_may_answer_an_inherited_call(self, live: Live) -> None:
        live.append(KEY, calling("a", "b"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, result("a"), result("a"))
        stats = session_stats(live, CHILD)
        assert (stats.orphan_tool_results, stats.unanswered_tool_calls) == (1, 0)

    def test_an_inherited_system_prompt_stands_at_its_calls(self, live: Live) -> None:
        live.append(KEY, said("be brief", "system"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, CALLED, events.ModelResponded(call=3))
        assert session_stats(live, CHILD).provenance == "rebuilt"

    def test_it_shows_the_title_of_its_parent_until_it_has_one(self, live: Live) -> None:
        live.append(KEY, said("one"))
        live.log.fork(CHILD, KEY, at=1)
        live.append(CHILD, said("two"))
        assert session_stats(live, CHILD).title == "one"
        live.append(CHILD, events.SessionTitled(title="the other way"))
        assert session_stats(live, CHILD).title == "the other way"


class TestTitleAndTime:
    """Without these a list of sessions cannot be read, or is in the wrong order."""

    def test_without_a_title_it_is_what_the_human_said_first(self, live: Live) -> None:
        live.append(KEY, said("\n"), said("fix\n  the " + "long " * 40))
        title = session_stats(live, KEY).title
        assert title.startswith("fix the long long")
        assert len(title) <= 60
        live.append(KEY, events.SessionTitled(title="given"))
        assert session_stats(live, KEY).title == "given"

    def test_a_lone_surrogate_in_it_is_no_obstacle(self, live: Live) -> None:
        live.append(KEY, said("a\ud83db"), calling("\ud83d"), result("\ud83d"))
        assert session_stats(live, KEY).title == "a?b"

    def test_without_anything_said_it_is_empty(self, live: Live) -> None:
        live.append(KEY, events.SessionStarted())
        assert session_stats(live, KEY).title == ""

    @pytest.mark.parametrize(
        ("label", "shown"),
        [
            ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:05.000Z"),
            ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
            ("1767323045.678", "2026-01-02T03:04:05.678Z"),
            ("1767323045678", "2026-01-02T03:04:05.678Z"),
        ],
    )
    def test_the_sources_clock_is_read_as_it_wrote_it(
        self, live: Live, label: str, shown: str
    ) -> None:
        live.append(KEY, Draft(said("x"), occurred_at=label))
        assert session_stats(live, KEY).happened_at == shown

    @pytest.mark.parametrize(
        "label", [None, "yesterday", "9" * 60, "0001-01-01T00:00:00+14:00", ".", ""]
    )
    def test_where_it_cannot_be_read_the_time_of_recording_stands(
        self, live: Live, label: str | None
    ) -> None:
        live.append(KEY, Draft(said("x"), occurred_at=label))
        recorded = next(live.log.read(KEY)).recorded_at
        assert listed(live)[0].updated == recorded

    def test_what_was_brought_in_went_on_when_its_source_says(self, live: Live) -> None:
        live.append(
            KEY,
            events.SessionStarted(format="mini-swe-agent", ownership="observed"),
            said("no time of its own"),
            Draft(CALLED, occurred_at="1767323045.678"),
            events.ModelResponded(call=3),
            result("without a time too"),
        )
        assert session_stats(live, KEY).happened_at == "2026-01-02T03:04:05.678Z"
        assert session_stats(live, KEY).is_clocked
        live.append(KEY, events.DecisionUndone(target=3))
        assert session_stats(live, KEY).happened_at == "2026-01-02T03:04:05.678Z"
        live.log.fork(KEY._replace(session="f"), KEY, 5)
        assert session_stats(live, KEY._replace(session="f")).happened_at > "2026-01-02T04"

    def test_without_any_clock_it_went_on_when_it_was_recorded(self, live: Live) -> None:
        live.append(KEY, events.SessionStarted(ownership="observed", format="swe-agent"), said("a"))
        first = listed(live)[0].updated
        live.append(KEY, said("b"))
        assert listed(live)[0].updated > first
        assert not session_stats(live, KEY).is_clocked

    @pytest.mark.parametrize("ownership", ["owned", "observed"])
    @pytest.mark.parametrize("clock", [None, "2026-01-02T03:04:05Z"])
    def test_a_note_is_no_going_on(self, live: Live, ownership: Any, clock: str | None) -> None:
        live.append(
            KEY, events.SessionStarted(ownership=ownership), Draft(said("x"), occurred_at=clock)
        )
        before = listed(live)[0].updated
        live.append(
            KEY,
            events.ItemPinned(item="2"),
            events.ItemUnpinned(item="2"),
            Draft(events.SessionTitled(title="t"), occurred_at="2026-05-05T00:00:00Z"),
            events.TaskClassified(task_type="debugging", by="me"),
            events.SessionDeleted(),
        )
        redact(live.log, [Target(KEY, 2)], stream=KEY, reason="asked to")
        assert listed(live, deleted=True)[0].updated == before
        assert session_stats(live, KEY).title == "t"

    def test_the_newest_is_listed_first_and_a_tombstone_hides(self, live: Live) -> None:
        for day, name in ((3, "c"), (1, "a"), (2, "b")):
            key = KEY._replace(session=name)
            live.append(key, Draft(said("x"), occurred_at=f"2026-01-0{day}T00:00:00Z"))
        assert [s.key[-1] for s in list_sessions(live)] == ["c", "b", "a"]
        live.append(KEY._replace(session="b"), events.SessionDeleted())
        assert [s.key[-1] for s in list_sessions(live)] == ["c", "a"]
        assert len(list_sessions(live, deleted=True)) == 3


class TestProvenance:
    """Without these a context that is only guessed passes for one that is known."""

    def test_without_calls_there_is_none(self, live: Live) -> None:
        live.append(KEY, said("x"))
        assert session_stats(live, KEY).provenance is None

    def test_a_call_whose_outcome_is_unknown_does_not_rank(self, live: Live) -> None:
        live.append(KEY, CALLED)
        assert session_stats(live, KEY).provenance is None
        live.append(KEY, events.ModelFailed(call=1, error="gone"))
        assert session_stats(live, KEY).provenance == "partial"

    def test_the_weakest_call_names_the_session(self, live: Live) -> None:
        live.append(KEY, CALLED, events.ModelResponded(call=1), said("s", "system"))
        live.append(KEY, CALLED, events.ModelResponded(call=4))
        assert session_stats(live, KEY).provenance == "partial"
        live.append(KEY, summarised("3", opaque=True), CALLED, events.ModelResponded(call=7))
        assert session_stats(live, KEY).provenance == "opaque"

    def test_an_opaque_summary_that_was_undone_no_longer_stands(self, live: Live) -> None:
        live.append(KEY, said("s", "system"), summarised(opaque=True))
        live.append(KEY, events.DecisionUndone(target=2), CALLED, events.ModelResponded(call=4))
        assert session_stats(live, KEY).provenance == "rebuilt"

    def test_a_system_prompt_that_a_layout_leaves_out_stands_no_longer(self, live: Live) -> None:
        live.append(KEY, said("s", "system"), said("x"), summarised(layout=("m0", "2")))
        live.append(KEY, CALLED, events.ModelResponded(call=4))
        assert session_stats(live, KEY).provenance == "partial"

    def test_a_recorded_call_is_exact_until_a_part_of_it_is_erased(self, live: Live) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        call = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=call))
        assert session_stats(live, KEY).provenance == "exact"
        assert list_sessions(live)[0].provenance == "exact"
        redact(live.log, [Target(KEY, 1)], stream=KEY)
        assert session_stats(live, KEY).provenance == "erased"

    def test_an_erased_item_is_counted_and_makes_a_folded_call_no_better_known(
        self, live: Live
    ) -> None:
        live.append(KEY, said("s", "system"), said("x"), summarised("2"), said("y"))
        live.append(KEY, CALLED, events.ModelResponded(call=5))
        redact(live.log, [Target(KEY, 2), Target(KEY, 3)], stream=KEY)
        live.log.fork(CHILD, KEY, at=6)
        stats = session_stats(live, KEY)
        assert (stats.items, stats.erased_items, stats.provenance) == (4, 2, "rebuilt")
        assert session_stats(live, CHILD).erased_items == 0

    def test_without_a_look_at_the_bytes_nothing_is_called_exact(self, live: Live) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        call = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=call))
        assert folded_stats(live.log.read(KEY)).provenance == "rebuilt"
        assert folded_stats(live.log.read(KEY), judged(live)).provenance == "exact"

    def test_an_encrypted_summary_of_the_provider_is_opaque(self, live: Live) -> None:
        sealed = {"type": "compaction", "encrypted_content": "x", "id": "c"}
        live.append(
            KEY,
            events.MessageAppended(dialect="openai_responses", source="model", message=sealed),
            CALLED,
            events.ModelResponded(call=2),
        )
        assert session_stats(live, KEY).provenance == "opaque"


SYSTEM = st.just(said("be brief", "system"))
MARKING = st.one_of(
    SYSTEM,
    st.builds(
        lambda covered, layout, opaque: summarised(*covered, layout=layout, opaque=opaque),
        st.lists(ITEM | st.just("1-20"), max_size=3),
        st.none() | st.lists(st.sampled_from(["m0", "1", "2", "1-9", "7.0"]), max_size=4),
        st.booleans(),
    ),
    st.builds(events.DecisionUndone, target=st.integers(1, 30)),
    st.builds(events.SessionRewound, to=st.integers(0, 20)),
)
EXTRA = st.one_of(
    MARKING,
    st.just(CALLED),
    st.builds(
        events.ModelResponded,
        call=st.integers(1, 30),
        usage=st.builds(events.Usage, input=st.integers(0, 9), output=st.integers(0, 9)),
    ),
    st.builds(events.SessionTitled, title=st.sampled_from(["", "t1", "t2"])),
    st.sampled_from(
        [
            events.SessionDeleted(),
            events.RecordUnrecognized(file="f", line=1, offset=0, raw="x"),
            events.RecordUnrecognized(file="f", line=1, offset=0, raw="x", kind="known"),
        ]
    ),
)
APPENDS = st.lists(st.lists(EVENT | EXTRA, min_size=1, max_size=4), min_size=1, max_size=10)


class TestTheMarksThatStand:
    """Without it a provenance rests on a rule of its own, which the contexts do not follow."""

    @settings(max_examples=150)
    @given(
        st.lists(MARKING, min_size=1, max_size=12)
        | st.lists(EVENT | MARKING, min_size=1, max_size=25)
    )
    def test_they_are_those_of_the_view_after_every_event(self, drawn: list[events.Event]) -> None:
        recorded = [draft_at(event, KEY, at) for at, event in enumerate(drawn, 1)]
        known = KnownContext()
        for at, event in enumerate(recorded, 1):
            known.evolve(event)
            view = fold(recorded[:at])
            wanted = {}
            for item in view.items:
                origin = recorded[int(str(item).partition(".")[0]) - 1].data
                if isinstance(item, int):
                    if origin.get("message", {}).get("role") == "system":
                        wanted[str(item)] = "system"
                elif origin.get("opaque"):
                    wanted[item] = "opaque"
                elif origin.get("messages"):
                    wanted[item] = "summary"
            assert known.standing == wanted


class TestTheTable:
    """Without these the list of sessions and the sessions themselves say different things."""

    @settings(max_examples=60)
    @given(APPENDS, st.integers(0, 2**32))
    def test_it_is_what_a_fold_from_nothing_gives(
        self, tmp_path_factory: pytest.TempPathFactory, drawn: list[Any], seed: int
    ) -> None:
        dice = random.Random(seed)
        path = tmp_path_factory.mktemp("log") / "log.db"
        with open_log(path, durability="normal") as live:
            keys = [KEY, KEY._replace(session="other")]
            for number, appended in enumerate(drawn):
                live.append(dice.choice(keys), *appended)
                parent = dice.choice(keys)
                if live.log.exists(parent) and dice.random() < 0.2:
                    child = KEY._replace(session=f"fork{number}")
                    live.log.fork(child, parent, at=dice.randint(1, live.log.version(parent)))
                    keys.append(child)
                if dice.random() < 0.2:
                    erase_one(live, dice)
                if dice.random() < 0.3:
                    list_sessions(live)
            assert_as_folded(live)
            erase_one(live, dice)
            assert_as_folded(live)

    def test_it_costs_nothing_when_nothing_came(self, live: Live) -> None:
        live.append(KEY, said("x"))
        list_sessions(live)
        before = live.log.query("select total_changes()").fetchone()[0]
        list_sessions(live)
        assert live.log.query("select total_changes()").fetchone()[0] == before

    def test_little_is_brought_up_in_passing_and_much_is_left(self, live: Live) -> None:
        def held() -> int | None:
            with glance(live.log.path, NAME, VERSION) as db:
                if db is None:
                    return None
                return int(db.execute("select sum(messages) from sessions").fetchone()[0])

        live.append(KEY, said("x"))
        keep_up(live)
        assert held() == 1
        live.append(KEY, *(said(str(number)) for number in range(1_001)))
        keep_up(live)
        assert held() is None
        list_sessions(live)
        live.append(KEY, said("x"))
        keep_up(live)
        assert held() == 1_003
        with open_log(live.log.path, read_only=True) as reader:
            keep_up(reader)

    def test_in_passing_recorded_calls_are_judged_too(self, live: Live) -> None:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        call = recorded_calls.record(live, KEY, "openai_chat", body).position
        live.append(KEY, events.ModelResponded(call=call))
        assert [row.unjudged for row in newest(session_query(live))] == [1]
        keep_up(live)
        assert [row.unjudged for row in newest(session_query(live))] == [0]

    def test_another_process_may_have_moved_it_on(self, live: Live) -> None:
        live.append(KEY, said("x"))
        with open_log(live.log.path) as other:
            list_sessions(other)
            other.append(KEY, said("y"))
            list_sessions(other)
            live.append(KEY, said("z"))
            assert session_stats(live, KEY).human_messages == 3
            assert session_stats(other, KEY).human_messages == 3

    def test_a_log_open_for_reading_only_is_listed_with_or_without_it(self, live: Live) -> None:
        live.append(KEY, said("x"))
        for _ in range(2):
            with open_log(live.log.path, read_only=True) as reader:
                assert [s.human_messages for s in list_sessions(reader)] == [1]
            list_sessions(live)

    def test_who_only_reads_goes_on_from_what_the_file_holds(self, live: Live) -> None:
        live.append(KEY, said("x"), CALLED)
        list_sessions(live)
        live.append(KEY, said("a secret"))
        live.log.fork(CHILD, KEY, at=3)
        with open_log(live.log.path, read_only=True) as reader:
            sessions = Sessions(reader.log)
            assert {row.key: row.calls for row in newest(sessions.query())}[str(KEY)] == 1
            live.append(CHILD, said("y"))
            redact(live.log, [Target(KEY, 3)], stream=KEY)
            live.append(KEY._replace(session="new"), said("z"))
            found = {row.key: row for row in newest(sessions.query())}
        folded = {
            str(info.key): row_of(SessionStatistics().fold(live.log.read(info.key)))
            for info in live.log.streams()
        }
        assert len(folded) == 3
        assert found == folded

    def test_the_words_of_an_erased_message_leave_it(self, live: Live) -> None:
        live.append(KEY, said("my password is hunter2"))
        live.log.fork(CHILD, KEY, at=1)
        assert {s.title for s in list_sessions(live)} == {"my password is hunter2"}
        redact(live.log, [Target(CHILD, 1)], stream=CHILD)
        assert {s.title for s in list_sessions(live)} == {"[redacted]"}
        stored = live.log.query(
            "select group_concat(state || title) from sessions_states join sessions using (stream)"
        ).fetchone()[0]
        assert "hunter2" not in stored


def erase_one(live: Live, dice: random.Random) -> None:
    rows = live.log.query(
        "select s.user, s.agent, s.session, e.position from events e "
        "join streams s on s.row = e.stream where e.type not in ('redacted', 'session_forked')"
    ).fetchall()
    user, agent, session, position = dice.choice(rows)
    key = StreamKey(user, agent, session)
    redact(live.log, [Target(key, position)], stream=key)


def assert_as_folded(live: Live) -> None:
    found = {s.key: s for s in list_sessions(live, deleted=True)}
    rows = {row.key: row for row in listed(live, deleted=True)}
    for info in live.log.streams():
        state = SessionStatistics().fold(live.log.read(info.key))
        state.judge(judged(live)(info.key, state.unjudged))
        assert rows[str(info.key)] == row_of(state)
    folded: dict[str, SessionStats] = {
        str(i.key): folded_stats(live.log.read(i.key), judged(live)) for i in live.log.streams()
    }
    assert found == folded


class TestImported:
    """Without these the figures of a file and those of its session cannot be compared."""

    def imported(self, live: Live, key: StreamKey, line: int, parent: str = "") -> None:
        def origin(at: int, *pairs: str) -> events.Origin:
            return events.Origin(records=(events.OriginRecord(line=at, pairs=pairs),))

        message = {"role": "user", "content": "x"}
        live.append(
            key,
            events.SessionStarted(
                format="some-agent", parent_session=parent, metadata={"file": "a.jsonl"}
            ),
            events.MessageAppended(
                dialect="anthropic", source="human", message=message, origin=origin(line, "call:a")
            ),
        )

    def test_a_file_is_counted_with_the_sub_agents_inside_it(self, live: Live) -> None:
        agent = KEY._replace(session="s.agent")
        self.imported(live, KEY, 1)
        first = session_stats(live, KEY).source
        assert first is not None
        assert first.records == 1
        self.imported(live, agent, 2, parent=str(KEY))
        source = session_stats(live, KEY).source
        assert source is not None
        assert (source.records, source.tool_calls) == (2, 2)
        assert session_stats(live, agent).parent_session == str(KEY)

    @pytest.mark.parametrize(("format", "partial"), [("claude-code", True), ("openai-chat", False)])
    def test_output_is_a_lower_bound_where_the_format_keeps_a_part(
        self, live: Live, format: str, partial: bool
    ) -> None:
        live.append(KEY, events.SessionStarted(format=format, ownership="observed"))
        assert session_stats(live, KEY).output_is_partial is partial

    def test_a_session_of_ones_own_has_no_source(self, live: Live) -> None:
        live.append(KEY, events.SessionStarted())
        assert session_stats(live, KEY).source is None


class TestWhileSomebodyWrites:
    """Without it a list of sessions fails because an import is under way."""

    def test_the_sessions_are_folded_anew(self, live: Live) -> None:
        live.append(KEY, said("hello"), CALLED)
        with live.log.writing(), open_log(live.log.path, lock_timeout=0.05) as reader:
            assert [state.key for state in listed(reader)] == [str(KEY)]
            assert [each.calls for each in list_sessions(reader)] == [1]
            assert session_stats(reader, KEY).items == 1
