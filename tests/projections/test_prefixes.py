"""One row a call: what a cache could have had of its request, and what broke it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import recorded_calls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_logs import LOG
from recorded_sessions import Session, long_session

from eventlog import StreamKey, events
from eventlog.jsonvalue import Json
from harness.importers import import_path
from projections import open_log
from projections.items import Item
from projections.live import Live
from projections.metrics.ground import Ground
from projections.metrics.prefix import curve
from projections.observed import observed
from projections.prefixes import PrefixRow, prefix_rows
from projections.sent import Requests
from projections.tokens import count_item, counter

KEY = StreamKey("local", "agent", "s")
COUNTING = counter()
NOON = "2026-09-20T12:00:00Z"


def rows(made: Session, ttl: float | None = None) -> list[PrefixRow]:
    return prefix_rows(made.events, COUNTING, ttl=ttl)


def why(row: PrefixRow) -> tuple[object, ...]:
    """What broke, where, and by what."""
    return (row.cause, row.break_at, row.now_at, *(one.name for one in row.by))


def working(*usage: int) -> Session:
    """Two calls with a result of 100 tokens, at position 5, between them."""
    made = Session()
    made.system("You help.")
    made.human("read it")
    made.call(("read_file", {"path": "a.py"}))
    made.result("x" * 400)
    made.call(text="read")
    return made


def naive(contexts: Sequence[Sequence[Item]]) -> list[tuple[int, int, int]]:
    """(reusable, rewritten, lost) of each context, held against the one before by looking at it."""
    found, before = [], list[tuple[str, int]]()
    for items in contexts:
        now = [(item.rendition, count_item(COUNTING, item)) for item in items]
        same = 0
        while same < min(len(now), len(before)) and now[same][0] == before[same][0]:
            same += 1
        known = {name for name, _ in before[same:]}
        rewritten = sum(size for name, size in now[same:] if name in known)
        lost = sum(size for _, size in before[same:])
        found.append((sum(size for _, size in now[:same]), rewritten, lost))
        before = now
    return found


def figures(found: Sequence[PrefixRow]) -> list[tuple[int, int, int]]:
    return [(row.reusable, row.rewritten, row.lost) for row in found]


class TestUnbroken:
    """Without this a session that only grows would be said to waste its cache."""

    def test_a_context_that_only_grows_can_reuse_all_that_was_sent(self) -> None:
        first, second = rows(working())
        assert (first.against, first.reusable, first.cause) == (None, 0, None)
        assert (second.against, second.reusable, second.cause) == (1, first.tokens, None)
        assert (second.rewritten, second.lost, second.by) == (0, 0, ())
        assert second.share == pytest.approx(first.tokens / second.tokens, abs=1e-6)

    def test_a_substitution_that_was_taken_back_in_time_broke_nothing(self) -> None:
        made = working()
        cleared = made.cleared(5)
        made.add(events.DecisionUndone(target=cleared))
        made.call(text="go on")
        assert why(rows(made)[2]) == (None, None, None)

    def test_what_was_replaced_before_it_was_ever_sent_broke_nothing(self) -> None:
        made = Session()
        made.human("read it")
        made.call(("read_file", {"path": "a.py"}))
        made.cleared(made.result("x" * 400))
        made.call(text="read")
        assert [row.cause for row in rows(made)] == [None, None]


class TestCauses:
    """Without this a person finds the culprit by hand, as twelve reports tell."""

    def test_a_substitution(self) -> None:
        made = working()
        made.cleared(5)
        made.call(text="go on")
        assert why(rows(made)[2]) == ("substitution", "5", "5@8", "8")

    def test_a_compaction_by_its_number(self) -> None:
        made = working()
        made.compacted([2, 4, 5], "Read.")
        made.call(text="go on")
        made.compacted([7], "Again.")
        made.call(text="on")
        found = rows(made)
        assert why(found[2]) == ("compaction", "2", "8.0", "k1")
        assert found[2].reusable == found[0].tokens - count_item(COUNTING, item(made, 2))
        assert why(found[3]) == ("compaction", "7", "11.0", "k2")

    def test_a_compaction_that_puts_nothing_there(self) -> None:
        made = working()
        made.compacted([4, 5])
        made.call(text="go on")
        assert why(rows(made)[2]) == ("compaction", "4", "7", "k1")

    def test_a_revised_system_prompt(self) -> None:
        made = working()
        made.add(events.MessageRevised(item="1", patch=Json({"content": "You help now."})))
        made.call(text="go on")
        row = rows(made)[2]
        assert why(row) == ("revision", "1", "1@8", "8")
        assert (row.reusable, row.rewritten) == (
            0,
            row.tokens - size(made, "1@8") - size(made, "7"),
        )

    def test_a_rewind(self) -> None:
        made = working()
        made.add(events.SessionRewound(to=2))
        made.human("other")
        made.call(text="go on")
        assert why(rows(made)[2]) == ("rewind", "4", "9", "8")

    def test_an_undo_names_the_undo(self) -> None:
        made = working()
        made.cleared(5)
        made.call(text="go on")
        made.add(events.DecisionUndone(target=8))
        made.call(text="on")
        assert why(rows(made)[3]) == ("undo", "5@8", "5", "11")

    def test_an_undone_compaction_too(self) -> None:
        made = working()
        made.compacted([2, 4, 5], "Read.")
        made.call(text="go on")
        made.add(events.DecisionUndone(target=8))
        made.call(text="on")
        assert why(rows(made)[3]) == ("undo", "8.0", "2", "11")

    def test_a_result_that_came_late(self) -> None:
        made = working()
        made.add(
            events.MessageAppended(
                dialect="openai_chat",
                source="injected",
                message=Json({"role": "user", "content": "late"}),
                after="2",
            )
        )
        made.call(text="go on")
        assert why(rows(made)[2]) == ("insertion", "4", "8", "8")

    def test_of_several_decisions_the_one_that_lies_in_front(self) -> None:
        made = working()
        made.cleared(5)
        made.add(events.MessageRevised(item="1", patch=Json({"content": "You help now."})))
        made.call(text="go on")
        assert why(rows(made)[2]) == ("revision", "1", "1@9", "9")


class TestInFrontOfAllItems:
    """Without this the dearest breaks, those of everything, would not be seen at all."""

    def test_other_tools(self) -> None:
        made = working()
        made.add(events.ToolsDeclared(dialect="openai_chat", definitions=Json([{"name": "run"}])))
        made.add(events.ModelCalled(model="m", dialect="openai_chat", tools=8))
        row = rows(made)[2]
        assert why(row) == ("tools", None, None, "8")
        assert (row.reusable, row.lost) == (0, rows(made)[1].tokens)
        assert row.rewritten == rows(made)[1].tokens

    def test_another_model_and_back(self) -> None:
        made = working()
        made.add(events.ModelCalled(model="other", dialect="openai_chat"))
        made.human("on")
        made.call(text="go on")
        found = rows(made)
        assert why(found[2]) == ("model", None, None)
        assert (found[2].against, found[2].reusable) == (2, 0)
        assert (found[3].against, found[3].reusable) == (2, found[1].tokens)
        assert why(found[3]) == (None, None, None)

    def test_a_decision_made_meanwhile_counts_when_the_model_is_back(self) -> None:
        made = working()
        made.add(events.ModelCalled(model="other", dialect="openai_chat"))
        made.cleared(5)
        made.call(text="go on")
        row = rows(made)[3]
        assert (row.against, why(row)) == (2, ("substitution", "5", "5@9", "9"))

    @pytest.mark.parametrize(("ttl", "cause"), [(None, None), (301, None), (299, "ttl")])
    def test_time_that_ran_out(self, ttl: float | None, cause: str | None) -> None:
        made = Session(when=NOON)
        made.human("hello")
        made.call(text="hi")
        made.when = "2026-09-20T12:05:00Z"
        made.human("on")
        made.call(text="on")
        first, second = rows(made, ttl)
        assert (second.seconds, second.cause) == (300, cause)
        assert second.reusable == (0 if cause else first.tokens)
        assert second.rewritten == (first.tokens if cause else 0)

    def test_where_no_time_is_known_none_ran_out(self) -> None:
        assert {row.seconds for row in rows(working(), ttl=1)} == {None}
        assert {row.cause for row in rows(working(), ttl=1)} == {None}


class TestBill:
    """Without this an estimate would be taken for what was paid."""

    def test_what_was_billed_stands_beside_it(self) -> None:
        made = Session()
        made.human("hello")
        made.call(text="hi", input=5, cache_write=4_000)
        made.human("on")
        made.call(text="on", input=3, cached=3_900, cache_write=90)
        first, second = rows(made)
        assert (first.missed, first.held) == (None, None)
        assert second.billed is not None
        assert (second.billed.input, second.billed.cached, second.billed.cache_write) == (
            *(3, 3_900),
            90,
        )
        assert (second.held, second.missed, second.contradicts) == (4_005, 105, False)

    def test_a_bill_that_says_otherwise_contradicts(self) -> None:
        made = Session()
        made.human("hello")
        made.call(text="hi", cache_write=40_000)
        made.call(text="on", cached=19_000, cache_write=21_100)
        second = rows(made)[1]
        assert (second.cause, second.missed, second.contradicts) == (None, 21_000, True)

    def test_a_broken_call_says_nothing_of_what_was_missed(self) -> None:
        made = Session()
        made.human("hello")
        made.call(text="hi", cache_write=40_000)
        made.compacted([1], "Hello.")
        made.call(text="on", input=100)
        assert (rows(made)[1].missed, rows(made)[1].contradicts) == (None, False)

    def test_no_usage_is_no_bill_of_zero(self) -> None:
        assert [row.billed for row in rows(working())] == [None, None]


class TestAgainstEveryContext:
    """Without this the quick way, by what was touched, could miss what a look at all would see."""

    @settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(LOG)
    def test_of_any_log(self, log: list[list[events.Event]]) -> None:
        with TemporaryDirectory() as place, open_log(Path(place) / "log.db") as live:
            for batch in log:
                live.append(KEY, *batch, events.ModelCalled(model="m", dialect="openai_chat"))
            found = prefix_rows(live.log.read(KEY), COUNTING)
            contexts = [live.items(KEY, row.position - 1) for row in found]
            assert figures(found) == naive(contexts)
            assert [row.items for row in found] == [len(items) for items in contexts]
            assert not [row for row in found if row.cause == "unexplained"]

    def test_of_a_long_session_it_is_what_a_comparison_counts(self) -> None:
        made = long_session()
        for at in (10, 30):
            made.compacted(list(range(at, at + 6)), f"Summary {at}")
            made.call(text="go on")
        given = made.recording()
        _, breaks = curve(observed(given), Ground(given, COUNTING).calls, ttl=None, least=0)
        broken = [row for row in rows(made) if row.is_broken]
        assert [(row.call, row.lost) for row in broken] == [
            (each.call, each.rewritten) for each in breaks
        ]

    def test_of_real_sessions(self, samples: Path, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            import_path(live.log, samples / "claude-code/cc03_compact_2microcompact_v2.1.17.jsonl")
            (stream,) = live.log.streams()
            found = prefix_rows(live.log.read(stream.key), COUNTING)
            assert figures(found) == naive(
                [live.items(stream.key, row.position - 1) for row in found]
            )
        causes = [(row.call, row.cause) for row in found if row.is_broken]
        assert causes == [(45, "substitution"), (75, "substitution"), (101, "compaction")]
        assert [row.call for row in found if row.contradicts] == [4, 30]
        known = [row for row in found if row.missed is not None]
        read = 1 - sum(row.missed or 0 for row in known) / sum(row.held or 0 for row in known)
        assert read > 0.99


MESSAGE = st.sampled_from(["hello", "x" * 90, "on"]).map(lambda t: {"role": "user", "content": t})


@st.composite
def requests(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Requests that mostly grow, and now and then lose, change or repeat a message."""
    sent = [{"role": "system", "content": "Be brief."}]
    found = []
    for _ in range(draw(st.integers(2, 8))):
        sent = [*sent, *draw(st.lists(MESSAGE, min_size=1, max_size=3))]
        kind = draw(st.sampled_from(["grow", "grow", "grow", "drop", "change"]))
        at = draw(st.integers(0, len(sent) - 1))
        if kind == "drop" and len(sent) > 2:
            sent = sent[:at] + sent[at + 1 :]
        elif kind == "change":
            sent = [*sent[:at], {**sent[at], "content": "[changed]"}, *sent[at + 1 :]]
        found.append(copy.deepcopy(sent))
    return found


class TestAsSent:
    """Without this the row of a recorded request would rest on what should have been sent."""

    @settings(max_examples=60)
    @given(requests())
    def test_rows_are_those_of_the_manifests(self, sent: list[list[dict[str, Any]]]) -> None:
        with TemporaryDirectory() as place, open_log(Path(place) / "log.db") as live:
            for messages in sent:
                record(live, messages)
            called = list(live.log.read(KEY, types=["model_called"]))
            found = prefix_rows(live.log.read(KEY), COUNTING)
            contexts = [Requests(live).sent(KEY, call).items for call in called]
            assert figures(found) == naive(contexts)
            assert {row.kind for row in found} <= {"as_sent"}

    def test_a_context_that_was_not_sent_like_that_is_told(self, tmp_path: Path) -> None:
        """The manifest says that item 3 was left out, and no decision does."""
        with open_log(tmp_path / "log.db") as live:
            record(live, [{"role": "user", "content": text} for text in ("a", "b", "c")])
            live.append(
                KEY, events.ModelCalled(model="m", dialect="openai_chat", manifest=("=1", "3"))
            )
            found = prefix_rows(live.log.read(KEY), COUNTING)
        assert why(found[1]) == ("unexplained", "2", "3")

    def test_entries_of_every_form_are_read(self, tmp_path: Path) -> None:
        """Several items sent as one message, a rendition, a run, and what stands of an earlier."""
        with open_log(tmp_path / "log.db") as live:
            record(live, [{"role": "user", "content": text} for text in ("a", "b", "c", "d")])
            substituted = events.PlaceholderSubstituted(item="3", content="[c]")
            made = live.append(KEY, substituted).last
            for stored in ((("1", "2"), "3-4"), ("=1", f"3@{made}", "4"), ("=2", "4/1")):
                live.append(
                    KEY, events.ModelCalled(model="m", dialect="openai_chat", manifest=stored)
                )
            found = prefix_rows(live.log.read(KEY), COUNTING)
        assert [row.items for row in found] == [4, 4, 4, 4]
        assert [row.cause for row in found] == [None, None, "unexplained", None]
        assert (found[2].break_at, found[2].now_at) == ("3", f"3@{made}")
        assert (found[1].reusable, found[3].reusable) == (found[0].tokens, found[2].tokens)

    def test_folded_and_sent_calls_can_alternate(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            messages = [{"role": "user", "content": "a"}]
            for number in range(4):
                record(live, messages)
                messages = [*messages, {"role": "user", "content": f"b{number}"}]
                live.append(KEY, events.ModelCalled(model="m", dialect="openai_chat"))
            found = prefix_rows(live.log.read(KEY), COUNTING)
        assert [row.kind for row in found] == ["as_sent", "as_folded"] * 4
        assert not any(row.is_broken for row in found)


def record(live: Live, messages: list[dict[str, Any]]) -> None:
    recorded_calls.record(live, KEY, "openai_chat", {"model": "m", "messages": messages})


def item(made: Session, position: int) -> Item:
    step = next(step for step in made.recording().steps if step.origin == position)
    assert step.item is not None
    return step.item


def size(made: Session, rendition: str) -> int:
    """The tokens of a rendition, from the run."""
    found: dict[str, int] = {}
    observed(
        made.recording(),
        lambda _, window, __: found.update(
            (e.item.rendition, e.tokens) for e in window.entries.values()
        ),
    )
    return found[rendition]
