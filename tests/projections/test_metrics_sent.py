"""What a strategy sent of one session: tokens, prefixes, and whether it could be sent."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import message, result
from recorded_sessions import KEY, Session, long_session

from eventlog import events
from projections import legality
from projections.metrics.ground import Ground
from projections.metrics.measure import Measured, Options, measure
from projections.metrics.meter import Meter
from projections.observe import draft_at
from projections.observed import observed
from projections.reading import says_something
from projections.recording import recording
from projections.runs import Origin
from projections.strategies import parse
from projections.strategies.window import Window
from projections.tokens import counter
from projections.whatif import Runner, WhatIf

COUNTING = counter()


def measured(made: Session, spec: str = "none", **options: object) -> Measured:
    given_options = Options.model_validate(options)
    session = made.recording()
    ground = Ground(session, COUNTING)
    base = measure(ground, lambda observer: observed(session, observer), given_options)
    if spec == "observed":
        return base
    strategies = parse(spec)
    return measure(
        ground,
        lambda observer: Runner(session, strategies, COUNTING, observer=observer).run(),
        given_options,
        base,
    )


ASKED = events.ModelCalled(model="m", dialect="openai_chat")
"""A request that nobody answered: nothing says that it was taken."""


class TestTokens:
    """Without this the peak is not what a model would have been sent."""

    def test_the_curve_has_each_call_with_its_tools(self) -> None:
        made = Session()
        tools = made.add(
            events.ToolsDeclared(dialect="openai_chat", definitions=[{"name": "f" * 400}])
        )
        made.human("hello")
        at = made.add(events.ModelCalled(model="m", dialect="openai_chat", tools=tools))
        made.add(
            events.MessageAppended(
                dialect="openai_chat",
                source="model",
                message={"role": "assistant", "content": "hi"},
                call=at,
            )
        )
        made.human("again")
        made.call(text="yes")
        session = made.recording()
        declared = next(step.tokens for step in session.steps if step.kind == "tools")
        items = [step.tokens for step in session.steps if step.kind == "item"]
        found = measured(made)
        assert declared > 100
        assert found.tokens.curve == (declared + items[0], sum(items[:3]))
        assert found.tokens.peak == max(found.tokens.curve)
        assert [(b.cause, b.rewritten) for b in found.prefix.worst] == [
            ("tools", declared + items[0])
        ]

    def test_windows_are_held_against_what_would_have_been_billed(self) -> None:
        made = Session()
        made.human("x" * 4000)
        made.call(text="fine", input=1507, output=9)
        found = measured(made, window=2000, reserve=600)
        tokens = found.tokens
        assert tokens.peak == 1004
        assert (tokens.calibrated_peak, tokens.headroom, tokens.overflow_calls) == (1507, 0.2465, 1)
        assert (found.tokens.output, found.volume.output) == (9, 9)

    def test_of_a_session_without_calls_there_is_nothing_to_say(self) -> None:
        made = Session()
        made.human("hello")
        found = measured(made, window=100)
        assert (found.calls, found.tokens.peak, found.accounting) == (0, 0, None)
        assert found.prefix.hit_share is None


class TestPrefix:
    """Without this a strategy that breaks the cache at every call looks cheap."""

    def sent(self) -> Session:
        return long_session(6)

    def test_what_only_grows_is_all_cached_but_what_is_new(self) -> None:
        found = measured(self.sent(), least_cached=0)
        curve = found.tokens.curve
        assert found.prefix.breaks == 0
        assert found.prefix.cached == sum(curve[:-1])

    def test_under_the_smallest_size_nothing_is_cached_and_nothing_breaks(self) -> None:
        found = measured(self.sent(), least_cached=10**9)
        assert (found.prefix.cached, found.prefix.breaks) == (0, 0)

    def test_a_strategy_breaks_it_where_it_changes_what_was_sent(self) -> None:
        found = measured(self.sent(), "clear:keep=1,at=model_call", least_cached=0)
        curve, prefix = found.tokens.curve, found.prefix
        assert prefix.by_cause["edit"] == prefix.breaks > 5
        assert prefix.rewritten == sum(prefix.rewritten_by_cause.values())
        assert prefix.cached == sum(curve[:-1]) - prefix.rewritten

    def test_time_runs_out(self) -> None:
        made = Session()
        made.human("one")
        for when in ("2026-01-01T10:00:00Z", "2026-01-01T10:04:00Z", "2026-01-01T10:10:00Z", "?"):
            made.when = when
            made.call(text="word")
        assert measured(made).prefix.breaks == 0
        (found,) = measured(made, ttl=300).prefix.worst
        assert (found.call, found.cause) == (3, "ttl")

    def test_a_revision_of_what_was_sent_is_the_recordings_own_break(self) -> None:
        made = Session()
        first = made.human("one")
        made.call(text="two")
        made.add(events.MessageRevised(item=str(first), patch={"content": "won"}))
        made.call(text="three")
        (found,) = measured(made).prefix.worst
        assert (found.call, found.cause) == (2, "recording")


class TestValidity:
    """Without this a strategy whose every request has to be repaired looks as good as another."""

    @pytest.mark.parametrize("spec", ["none", "cut:limit=50", "clear:keep=1", "mask:n=2,polling=1"])
    def test_a_sound_session_stays_sound(self, spec: str) -> None:
        found = measured(long_session(), spec)
        assert [v.share for v in found.validity] == [1.0] * 3
        assert {v.first for v in found.validity} == {None}

    def test_the_first_failure_is_named(self) -> None:
        made = Session()
        first = made.human("one")
        made.call(text="two")
        made.compacted([first])
        made.human("three")
        made.add(ASKED)
        chat, responses, found = measured(made, "observed").validity
        assert (chat.valid, responses.valid) == (2, 2)
        assert (found.calls, found.valid, found.by_rule) == (2, 1, {"no_user_first": 1})
        assert found.first is not None
        assert (found.first.call, found.first.rule, found.first.items) == (
            2,
            "no_user_first",
            ("3",),
        )

    def test_a_request_that_was_answered_was_taken(self) -> None:
        made = Session()
        first = made.human("one")
        made.call(text="two")
        made.compacted([first])
        made.human("three")
        made.call(text="four")
        assert [v.by_rule for v in measured(made, "observed").validity] == [{}, {}, {}]
        what_if = measured(made, "truncate:turns=1,at=model_call").validity[2]
        assert what_if.by_rule == {"no_user_first": 1}, "that of a what-if nobody answered"

    def test_unless_the_record_shows_that_it_was_not_sent_so(self) -> None:
        made = Session()
        made.human("one")
        made.call(("read_file", {"path": "a.py"}))
        made.human("never mind")
        made.call(text="fine")
        made.call(text="so what?")
        assert measured(made, "observed").validity[0].by_rule == {"unanswered_call": 1}

    def test_a_result_that_came_later_was_on_its_way(self) -> None:
        made = Session()
        made.human("one")
        made.call(("read_file", {"path": "a.py"}))
        made.human("and?")
        made.call(text="wait")
        made.answered -= 1
        made.result("text")
        made.call(text="here")
        assert measured(made, "observed").validity[0].by_rule == {}

    def test_a_pair_that_a_decision_parted_cannot_have_been_sent(self) -> None:
        made = Session()
        made.human("one")
        asked = made.call(("read_file", {"path": "a.py"}))
        made.result("text")
        made.compacted([asked], "it read a file")
        made.call(text="done")
        assert measured(made, "observed").validity[0].by_rule == {"orphan_result": 1}

    @settings(max_examples=120)
    @given(
        st.lists(message() | result(), min_size=1, max_size=14),
        st.sampled_from(["none", "truncate:turns=2,at=model_call", "window:tokens=150"]),
    )
    def test_it_is_what_legality_would_have_to_repair(
        self, said: list[events.MessageAppended | events.ToolResultRecorded], spec: str
    ) -> None:
        """Rule by rule the same contexts fail, for all rules that both have."""
        made = Session()
        for number, event in enumerate(said):
            drafted = draft_at(event, KEY, len(made.events) + 1)
            item = recording([drafted], COUNTING).steps[0].item
            if item is None or not says_something(item):
                continue  # such are left out before anything else is judged
            made.events.append(drafted)
            if number % 2 == 0:
                made.add(events.ModelCalled(model="m", dialect="openai_chat"))
        session = recording(made.events, COUNTING)
        meter = Meter(Ground(session, COUNTING))
        rules = {
            *("orphan_result", "unanswered_call", "no_user_first", "second_result"),
            *("repeated_call_id", "misplaced_result", "no_context"),
        }

        def look(run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
            before = dict(meter.validity._by_rule["anthropic"])
            meter(run, window, touched)
            now = meter.validity._by_rule["anthropic"]
            broken = {r for r in now if now[r] != before.get(r, 0)}
            items = [entry.item for entry in window.entries.values()]
            found = {v.rule for v in legality.check(items, live_frontier=True)}
            assert bool(broken & rules) == bool(found & rules), (broken, found)

        Runner(session, parse(spec), COUNTING, observer=look).run()


class TestDigest:
    """Without this two runs that differ are taken for the same."""

    def test_equal_contexts_and_only_those_have_equal_digests(self) -> None:
        made = long_session(5)
        digests = {
            spec: measured(made, spec).digest
            for spec in ("none", "observed", "truncate:turns=500", "clear", "clear:keep=2")
        }
        assert digests["none"] == digests["observed"] == digests["truncate:turns=500"]
        assert len(set(digests.values())) == 3
