"""The ladder, the account and the window: what happens when a decision does not suffice."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from contexts_made import ANTHROPIC, answer, result, say
from replays_made import COUNTER, human, origins, recording_of, replayed, session, system, work

from projections.recording import Step
from projections.strategies import parse
from projections.strategies.account import account
from projections.strategies.base import Moment, Strategy
from projections.strategies.check import SUMMARIZERS, short
from projections.strategies.decisions import Compact, Decision, Restore, Substitute
from projections.strategies.made import made
from projections.strategies.window import Window
from projections.whatif import Runner

LONG = "word " * 200


class Promise(Strategy):
    """Promises a number and does nothing for it."""

    name = "promise"
    moment = "model_call"

    def __init__(self, tokens: int, after: int = 0) -> None:
        super().__init__()
        self._tokens = tokens
        self._after = after

    @property
    def limit(self) -> int:
        """The number."""
        return self._tokens

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether it is broken."""
        return window.calls >= self._after and window.tokens > self._tokens

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """Nothing."""
        return ()


def rungs(runner: Runner) -> list[str]:
    """The rungs in the order in which they were first taken."""
    return list(dict.fromkeys(change.rung for change in runner.result.changes))


class TestLadder:
    """Each rung is taken only when those above did not suffice, and is recorded."""

    @pytest.mark.parametrize(
        ("tokens", "expected"),
        [
            (1500, ["clear"]),
            (800, ["clear", "truncate"]),
            (300, ["clear", "truncate", "cut"]),
            (25, ["clear", "truncate", "cut", "over_budget"]),
        ],
    )
    def test_it_goes_down_as_far_as_it_must(self, tokens: int, expected: list[str]) -> None:
        items = [system(), human(2, LONG), *(m for n in range(6) for m in work(3 + 2 * n, LONG))]
        runner = replayed([*items, human(15, LONG)], (Promise(tokens, after=6),))
        assert rungs(runner) == expected
        assert runner.window.tokens <= tokens or "over_budget" in expected
        assert {change.strategy for change in runner.result.changes} == {"promise"}

    def test_what_cannot_be_reduced_is_named(self) -> None:
        pin = Step("pin", 35, origin=3)
        items = [system(text=LONG), human(2, "task"), say(3, "user", LONG)]
        runner = replayed(items, (Promise(50),), pin)
        (change,) = [c for c in runner.result.changes if c.kind == "over_budget"]
        assert change.before == runner.window.tokens
        assert change.after == 50
        for what in ("system 2", "last human message", "pinned 2"):
            assert what in change.reason

    def test_the_newest_results_are_cut_and_not_dropped_unread(self) -> None:
        items = [human(1), answer(2, "a", "b"), result(3, "a", LONG), result(4, "b", LONG * 2)]
        runner = replayed(items, (Promise(250),))
        assert origins(runner) == [1, 2, 3, 4]
        assert runner.window.tokens <= 250
        assert [c.items for c in runner.result.changes] == [(4,), (3,)]

    def test_a_cut_is_made_of_the_original_and_has_one_note(self) -> None:
        items = [human(1), *work(2, "head " + LONG * 4 + " tail")]
        runner = replayed(items, [*parse("cut:limit=3000"), Promise(300)])
        text = runner.items()[-1].text
        assert text.count("characters left out") == 1
        assert text.startswith("head")
        assert text.endswith("tail")

    def test_a_summary_that_is_too_long_is_declined_and_the_next_rung_taken(self) -> None:
        spec = "condense:tokens=1500,keep_last=2"
        items = session(12, LONG)
        runner = replayed(items, spec, summarize=SUMMARIZERS["inflated summaries"])
        assert runner.result.needs_summary
        assert not [c for c in runner.result.changes if c.kind == "summarised"]
        assert any("not smaller" in change.reason for change in runner.result.changes)
        assert runner.window.tokens <= 1500


class TestApplying:
    """A decision that nobody may take is not taken."""

    def test_a_restored_item_stands_as_it_was_and_can_be_cleared_again(self) -> None:
        class Back(Promise):
            """Clears at every call, and takes it back at the next human turn."""

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                if len(window.humans) == 2:
                    return [Restore(3)]
                return [Substitute(3, "[gone]", "test")]

        items = [human(1), *work(2, LONG), answer(4, text="ok"), human(5), answer(6, text="ok")]
        runner = replayed(items, (Back(0),))
        kinds = [c.kind for c in runner.result.changes if not c.rung and c.kind != "declined"]
        assert kinds[:2] == ["cleared", "restored"]

    def test_a_unit_named_in_part_stays_whole(self) -> None:
        class Part(Promise):
            """Wants only the call."""

            limit = None  # type: ignore[assignment]

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                return [Compact((2,)), Compact((3,)), Compact((1, 999))]

        runner = replayed([human(1), *work(2, LONG), human(4)], (Part(0),))
        assert origins(runner) == [2, 3, 4]

    def test_an_item_that_never_was_is_declined_and_told_once(self) -> None:
        class Gone(Promise):
            """Names nothing that stands."""

            limit = None  # type: ignore[assignment]

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                return [Substitute(77, "x", "x"), Compact((77,)), Restore(77)]

        runner = replayed(session(2), (Gone(0),))
        [told] = runner.result.changes
        assert (told.kind, told.reason) == ("declined", "there never was an item 77")
        assert len(runner.window) == 7


class TestAccount:
    """Every item is kept, edited, summarised, dropped or rewound; the tokens add up."""

    @pytest.mark.parametrize("seed", range(6))
    def test_the_tokens_of_all_states_are_those_that_came(self, seed: int) -> None:
        recording = made(seed)
        spec = "dedup | cut:limit=99 | compress:max_messages=9 | window:tokens=700"
        runner = Runner(recording, parse(spec), COUNTER, short)
        runner.run()
        book = account(runner.applier, recording.steps)
        states = ("kept", "edited", "summarised", "dropped", "rewound")
        assert sum(book.tokens(state) for state in states) == book.came  # type: ignore[arg-type]
        assert book.stands == runner.window.tokens
        came = sum(step.tokens for step in recording.steps if step.kind == "item")
        assert book.came == came + sum(runner.applier.brought.values())

    def test_each_state_has_its_reason(self) -> None:
        items = [*session(12, LONG, turns=3), human(99)]
        runner = replayed(items, "clear:keep=1 | compress:max_messages=12", summarize=short)
        lines = {
            line.origin: line for line in account(runner.applier, recording_of(items).steps).lines
        }
        assert lines[1].state == "kept"
        assert {line.state for line in lines.values()} >= {"kept", "summarised", "dropped"}
        unseen = [line for line in lines.values() if line.state == "dropped"]
        assert {line.reason for line in unseen} == {"not shown to the summarizer"}


class TestWindow:
    """Totals and queues that are kept by each change equal those counted from nothing."""

    @pytest.mark.parametrize("seed", range(8))
    def test_the_totals_are_those_of_what_stands(self, seed: int) -> None:
        spec = "dedup | cut:limit=99 | clear:keep=2 | compress:max_messages=9 | window:tokens=900"

        def counted(run: object, window: Window, touched: object) -> None:
            entries = list(window.entries.values())
            results = [e for e in entries if e.is_result]
            assert window.tokens == sum(e.tokens for e in entries)
            assert window.system_tokens == sum(e.tokens for e in entries if e.is_system)
            assert list(window.results) == [e.origin for e in results if not e.is_settled]
            assert window.settled == sum(e.is_settled for e in results)
            assert window.result_tokens == sum(e.tokens for e in results if not e.is_settled)
            assert list(window.humans) == [e.origin for e in entries if e.is_human]
            assert [e.order for e in entries] == sorted({e.order for e in entries})
            units = {e.origin: e.unit for e in entries}
            assert all(o in units[o].items for o in units)
            assert set(window.units) == {unit.number for unit in units.values()}

        Runner(made(seed), parse(spec), COUNTER, short, counted).run()

    def test_one_message_with_results_of_two_answers_makes_them_one_unit(self) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": call, "content": "ok"} for call in ("c2", "c3")
        ]
        carried = say(4, "user", blocks, ANTHROPIC)
        items = [human(1), answer(2, "c2", dialect=ANTHROPIC), answer(3, "c3", dialect=ANTHROPIC)]
        window = replayed([*items, carried], "none").window
        assert set(window.entries[2].unit.items) == {2, 3, 4}
        assert window.entries[4].unit.waiting == 0
