"""Single rules of the metrics that a whole session seldom meets."""

from __future__ import annotations

import pytest
from recorded_sessions import Session, long_session

from eventlog import events
from eventlog.jsonvalue import Json
from projections.captured import captured
from projections.metrics.compactions import compactions
from projections.metrics.ground import Ground
from projections.metrics.measure import Measured, Options, measure
from projections.metrics.taken import Taken, TakenBy
from projections.observed import observed
from projections.recording import Recording
from projections.strategies import parse
from projections.tokens import counter
from projections.whatif import Change, Runner, WhatIf

COUNTING = counter()


def seen(made: Recording) -> Measured:
    return measure(Ground(made, COUNTING), lambda observer: observed(made, observer), Options())


ASKED = events.ModelCalled(model="m", dialect="openai_chat")
"""A request that nobody answered: nothing says that it was taken."""


class TestTaken:
    """Without this a decision that was declined is blamed for a loss."""

    def test_the_latest_decision_that_changed_something_is_named(self) -> None:
        taken = TakenBy()
        changes = [
            Change(5, 1, "cut", (3,), 90, 40, "over 100 characters"),
            Change(6, 1, "declined", (3, 4), 90, 90, "no gain"),
        ]
        taken.catch_up(changes)
        assert taken == {3: Taken("cut", 5, "over 100 characters")}
        changes += [
            Change(8, 2, "dropped", (3, 4), 90, 0, "too old"),
            Change(9, 2, "restored", (4,), 9, 90, "restored"),
        ]
        assert [change.position for change in taken.catch_up(changes)] == [8, 9]
        assert taken == {3: Taken("dropped", 8, "too old")}


class TestCompactions:
    """Without this a summary costs what its summarizer never saw."""

    def test_what_a_summarizer_was_shown_is_what_is_paid_for(self) -> None:
        made = long_session(2).recording()
        ground = Ground(made, COUNTING)
        unseen = next(s for s in made.steps if s.item is not None and s.item.kind == "tool_result")
        run = WhatIf("x")
        run.changes = [
            Change(9, 2, "summarised", (2, unseen.origin), 1000, 50, "", unseen=(unseen.origin,)),
            Change(9, 2, "declined", (2,), 7, 7, "no gain"),
            Change(30, 6, "cleared", (8,), 100, 10, ""),
        ]
        found = compactions(run, ground)
        assert (found.shown, found.written) == (1000 - unseen.tokens, 50)
        assert (found.compactions, found.substitutions, found.no_ops) == (1, 1, 1)
        assert (found.passes, found.calls_between) == (2, 4.0)
        assert (found.before, found.after) == (1100, 60)


class TestValidity:
    """Without this a request that a provider refuses counts as one that it takes."""

    def rules(self, made: Session) -> dict[str, int]:
        """Of requests that nobody answered: those that were answered had been taken."""
        return dict(seen(made.recording()).validity[0].by_rule)

    def test_something_between_a_call_and_its_result(self) -> None:
        made = Session()
        made.human("read it")
        made.call(("read_file", {"path": "a.py"}))
        between = made.human("and be quick")
        made.result("text")
        made.add(ASKED)
        made.compacted([between])
        made.human("thanks")
        made.call(text="welcome")
        assert self.rules(made) == {"misplaced_result": 1}

    def test_an_id_is_repeated_only_while_both_stand(self) -> None:
        made = Session()
        made.human("read it")
        first = made.call(("read_file", {"path": "a.py"}))
        result = made.result("text")
        made.answered -= 1
        made.call(("read_file", {"path": "b.py"}))
        made.result("text")
        made.add(ASKED)
        made.compacted([first, result])
        made.call(text="more")
        found = seen(made.recording()).validity
        assert [dict(v.by_rule) for v in found] == [{}, {}, {"repeated_call_id": 1}]


class TestObserved:
    """Without this a compaction that lays the whole context out anew is shown in another order."""

    def test_a_layout_says_where_everything_stands(self) -> None:
        made = Session()
        first = made.human("one")
        second = made.call(text="two")
        new = events.NewMessage(
            dialect="openai_chat", message=Json({"role": "user", "content": "sum"}), label="summary"
        )
        third = made.human("three")
        laid = made.add(
            events.ContextCompacted(
                covered=(str(second),), messages=(new,), layout=(str(third), "m0", str(first))
            )
        )
        made.call(text="four")
        given = made.recording()
        found = captured(lambda observer: observed(given, observer), 2)
        assert found is not None
        assert [item.id for item in found.items] == [str(third), f"{laid}.0", str(first)]
        assert [(c.kind, c.items) for c in found.changes] == [("summarised", (second,))]


class TestCalibration:
    """Without this a strategy that sends less is billed at a higher rate for it."""

    def test_what_was_billed_is_held_against_what_was_sent(self) -> None:
        made = Session()
        made.human("look")
        made.call(("read_file", {"path": "a.py"}), input=9, output=5)
        made.result("x" * 8000)
        made.call(text="done", input=2040, output=5)
        given = made.recording()
        ground = Ground(given, COUNTING)
        base = measure(ground, lambda observer: observed(given, observer), Options())
        strategies = parse("cut:limit=40")
        less = measure(
            ground,
            lambda observer: Runner(given, strategies, COUNTING, observer=observer).run(),
            Options(),
            base,
        )
        assert less.tokens.cumulative < base.tokens.cumulative / 5
        held = less.calibration
        assert held == base.calibration
        added = held.unrecorded * less.calls
        assert less.tokens.calibrated_cumulative == pytest.approx(
            (less.tokens.cumulative + added) * held.factor, abs=1
        )

    def test_what_nobody_recorded_is_added_to_every_call_of_every_strategy(self) -> None:
        """Else what a strategy saves looks larger than it is, by what stands in front of it all."""
        made = Session()
        for number in range(8):
            made.human(f"task {number} " + "x" * 4000)
            made.call(text="done", input=20_000 + (number + 1) * 1010, output=5)
        given = made.recording()
        ground = Ground(given, COUNTING)
        base = measure(ground, lambda observer: observed(given, observer), Options())
        assert base.calibration.factor == pytest.approx(1, abs=0.02)
        assert base.calibration.unrecorded == pytest.approx(20_000, rel=0.01)
        few = parse("truncate:turns=1,at=model_call")
        found = measure(
            ground,
            lambda observer: Runner(given, few, COUNTING, observer=observer).run(),
            Options(window=24_000),
            base,
        )
        share = found.tokens.calibrated_cumulative / base.tokens.calibrated_cumulative
        assert 0.8 < share < 0.95
        assert found.tokens.cumulative < base.tokens.cumulative * 0.4
        assert found.tokens.overflow_calls == 0
        assert base.volume.cached / (base.volume.cached + base.volume.fresh) > 0.8
        assert found.volume.cached > 7 * 19_000
