"""The conformance kit finds what is wrong: a kit that cannot fail proves nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from contexts_made import ANTHROPIC, RESPONSES, answer, item, reasoning, result, signed
from replays_made import COUNTER, human, recording_of, session, system, work

from eventlog.errors import InputRefused
from projections.items import Item
from projections.recording import Recording, Step
from projections.strategies import conformance, parse
from projections.strategies.at_call import Seen
from projections.strategies.base import Moment, Strategy
from projections.strategies.check import check, run, short
from projections.strategies.decisions import Compact, Decision, Revise, Said, Substitute
from projections.strategies.made import made
from projections.strategies.window import Window


def rules(findings: Iterable[object]) -> set[str]:
    return {str(finding).partition(" ")[0] for finding in findings}


class TestStrategies:
    """A user's strategy that breaks a rule is told which one."""

    def test_a_good_function_has_no_findings(self) -> None:
        def keep_errors(window: Window, moment: Moment) -> Iterable[Decision]:
            return [
                Substitute(entry.origin, f"[item {entry.origin} was cleared]", "no error")
                for entry in list(window.results.values())[:-2]
                if not entry.failed
            ]

        assert check(keep_errors, seeds=range(4)) == []

    def test_a_strategy_that_counts_its_calls_is_not_deterministic(self) -> None:
        numbers = itertools.count()

        def counting(window: Window, moment: Moment) -> Iterable[Decision]:
            return [Substitute(o, f"[{next(numbers)}]", "counted") for o in list(window.results)]

        assert "I1" in rules(check(counting, seeds=range(2)))

    def test_a_mark_that_says_its_place_in_the_list_moves(self) -> None:
        def placed(window: Window, moment: Moment) -> Iterable[Decision]:
            places = {origin: n for n, origin in enumerate(window.entries)}
            return [Substitute(o, f"[no. {places[o]}]", "placed") for o in list(window.results)]

        assert rules(check(placed, seeds=range(2))) == {"I15"}

    def test_a_strategy_that_edits_a_message_in_place_changes_the_log(self) -> None:
        def editing(window: Window, moment: Moment) -> Iterable[Decision]:
            for entry in window.results.values():
                if isinstance(entry.item.message, dict):
                    entry.item.message["content"] = "x"
            return ()

        assert "I3" in rules(check(editing, seeds=range(2)))

    def test_a_strategy_that_knows_the_future_is_found(self) -> None:
        class Prophet(Strategy):
            name = "prophet"
            moment = "model_call"
            longest = 0

            def triggered(self, window: Window, moment: Moment) -> bool:
                Prophet.longest = max(Prophet.longest, len(window))
                return len(window) * 2 > Prophet.longest

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                return [Substitute(o, "[gone]", "known") for o in list(window.results)]

        assert rules(check(Prophet(), seeds=range(3))) & {"I1", "I2"}

    def test_a_strategy_that_raises_is_found(self) -> None:
        def raising(window: Window, moment: Moment) -> Iterable[Decision]:
            raise KeyError("no such item")

        findings = check(raising, seeds=range(1))
        assert "KeyError" in str(findings[0])

    def test_a_strategy_that_puts_its_summary_in_a_summary_nests(self) -> None:
        def nesting(window: Window, moment: Moment) -> Iterable[Decision]:
            items = tuple(e.origin for e in window.oldest())
            marks = "<summary-of-earlier-conversation>" * 2
            return [Compact(items, (Said("user", marks),), "nested")] if len(items) > 8 else []

        assert "I16" in rules(check(nesting, seeds=range(2)))

    def test_a_summary_that_the_model_is_said_to_have_written_first_is_found(self) -> None:
        def talking(window: Window, moment: Moment) -> Iterable[Decision]:
            items = tuple(e.origin for e in window.oldest())
            return [Compact(items, (Said("assistant", "so far: all well"),))] if items[8:] else []

        assert rules(check(talking, seeds=range(3))) == {"I9"}

    def test_a_first_task_that_is_turned_into_the_models_words_is_found(self) -> None:
        def turning(window: Window, moment: Moment) -> Iterable[Decision]:
            if window.task is None or window.turns < 2:
                return []
            said = {"role": "assistant", "content": "I fix it."}
            return [Revise(window.task.origin, said, "shorter")]

        items = [system(), human(2, "word " * 60), *work(3), human(5), *work(6), human(8)]
        assert rules(check(turning, recordings={"made": recording_of(items)})) == {"I9"}

    def test_a_strategy_that_remembers_outside_of_the_window_is_found(self) -> None:
        class Once(Strategy):
            name = "once"
            moment = "model_call"
            compacted = False

            def triggered(self, window: Window, moment: Moment) -> bool:
                return len(window) > 8 and not self.compacted

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                self.compacted = True
                items = tuple(e.origin for e in window.oldest())
                return [Compact(items[:6], (Said("user", "all well"),), "once")]

        assert {"I1", "I2"} <= rules(check(Once(), recordings={"back": gone_back(12)}))

    def test_a_promise_that_is_not_kept_is_found(self) -> None:
        class Promises(Strategy):
            name = "promises"
            moment = "model_call"
            limit = 50  # type: ignore[assignment]

            def triggered(self, window: Window, moment: Moment) -> bool:
                return False

            def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
                return ()

        assert rules(check(Promises(), seeds=range(2))) == {"I12"}

    def test_what_is_forbidden_is_not_done_even_if_it_is_decided(self) -> None:
        def wild(window: Window, moment: Moment) -> Iterable[Decision]:
            everything = list(window.entries)
            return [
                *(Substitute(origin, "", "all") for origin in everything),
                *(Compact((origin,), reason="one by one") for origin in everything),
                Compact(tuple(everything), reason="all"),
            ]

        assert check(wild, seeds=range(6)) == []

    def test_a_spec_that_is_none_is_refused(self) -> None:
        with pytest.raises(InputRefused, match="no strategy"):
            check("no-such")


class TestRecordings:
    """Made recordings that are not the same everywhere prove nothing twice."""

    def test_the_same_seed_gives_the_same_recording(self) -> None:
        assert made(7) == made(7)
        assert made(7) != made(8)

    def test_they_hold_every_shape(self) -> None:
        items = [s.item for n in range(12) for s in made(n).steps if s.item is not None]
        kinds = {s.kind for n in range(12) for s in made(n).steps}
        assert kinds == {"item", "call", "revise", "pin", "unpin", "rewind", "task"}
        assert {each.dialect for each in items} == {"openai_chat", "openai_responses", ANTHROPIC}
        assert {part.kind for each in items for part in each.parts} == {
            *("text", "thinking", "call", "result", "media")
        }


def gone_back(to: int) -> Recording:
    """Four rounds, back to behind an item of them, and two more rounds."""
    return recording_of(session(6), Step("rewind", 135, to=to * 10))


def _contexts() -> tuple[Recording, list[Seen]]:
    items = [
        system(),
        human(2, "never touch migrations/ " * 9),
        answer(3, "c3", dialect=ANTHROPIC, thinking=[signed()]),
        result(4, "c3", "text " * 99, ANTHROPIC),
        item(5, RESPONSES, reasoning(), role="assistant", source="model"),
        answer(6, "c6", dialect=RESPONSES),
        result(7, "c6", "more " * 99, RESPONSES),
        *work(8, "x " * 200),
        human(10, "and now?"),
        answer(11, "c11", text="looking"),
    ]
    recording = recording_of(items)
    return recording, run(parse("none"), recording, COUNTER, None)


def without(*origins: int) -> Callable[[Seen], Seen]:
    return lambda seen: replace(seen, items=tuple(p for p in seen.items if p[0] not in origins))


def changed(origin: int, text: str) -> Callable[[Seen], Seen]:
    def change(seen: Seen) -> Seen:
        def other(each: Item) -> Item:
            return replace(each, message={"role": "user", "content": text})

        items = tuple((o, other(i) if o == origin else i) for o, i in seen.items)
        return replace(seen, items=items)

    return change


class TestRules:
    """Each rule, on a context that somebody spoiled: the runner itself never makes one."""

    @pytest.mark.parametrize(
        ("rule", "spoil"),
        [
            ("I4", lambda seen: replace(seen, items=())),
            ("I5", without(8)),
            ("I5", without(9)),
            ("I6", changed(3, "hm")),
            ("I7", without(5)),
            ("I8", without(1)),
            ("I8", changed(1, "You are another.")),
            ("I10", without(10)),
            ("I10", changed(10, "cut")),
            ("I11", without(11)),
            ("I14", without(2)),
            ("I17", changed(9, "half \ud83d")),
            ("I20", lambda seen: replace(seen, tokens=seen.tokens + 1)),
        ],
    )
    def test_a_spoiled_context_is_found(self, rule: str, spoil: Callable[[Seen], Seen]) -> None:
        recording, seen = _contexts()
        broken = next(each.broken for each in conformance.RULES if each.name == rule)
        assert not list(broken(recording, seen, seen))
        assert list(broken(recording, seen, [*seen[:-1], spoil(seen[-1])]))

    def test_a_change_that_saves_nothing_is_found(self) -> None:
        recording = recording_of(session(4))
        plain = run(parse("none"), recording, COUNTER, None)
        seen = run(parse("clear:keep=1,at=model_call"), recording, COUNTER, None)
        gain = next(each.broken for each in conformance.RULES if each.name == "I13")
        assert not list(gain(recording, plain, seen))
        idle = [
            replace(each, changes=tuple(replace(c, after=c.before) for c in each.changes))
            for each in seen
        ]
        assert list(gain(recording, plain, idle))

    def test_a_summary_in_front_that_is_no_users_is_found(self) -> None:
        recording = recording_of(session(6))
        seen = run(parse("compact:keep_turns=1,at=model_call"), recording, COUNTER, short)
        first = next(each.broken for each in conformance.RULES if each.name == "I9")
        assert not list(first(recording, seen, seen))
        (origin, summary), *_ = (p for p in seen[-1].items if p[0] in seen[-1].summaries)
        other = replace(summary, message={"role": "assistant", "content": "so far"})
        items = tuple((o, other if o == origin else i) for o, i in seen[-1].items)
        spoiled = [*seen[:-1], replace(seen[-1], items=items)]
        assert list(first(recording, seen, spoiled))

    def test_the_same_attempt_at_every_call_is_found(self) -> None:
        recording = recording_of(session(6))
        seen = run(parse("window:tokens=10"), recording, COUNTER, None)
        progress = next(each.broken for each in conformance.RULES if each.name == "I18")
        assert not list(progress(recording, seen, seen))
        stuck = next(c for each in seen for c in each.changes if c.kind == "over_budget")
        again = [*seen, replace(seen[-1], changes=(stuck, stuck))]
        assert list(progress(recording, again, again))

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ("compact:keep_turns=1,at=model_call", "was taken back and stands"),
            ("compact:keep_turns=1,at=model_call", "does not begin as at call"),
            ("window:tokens=400", "away was taken back"),
            ("clear:keep=1,at=model_call", "what edited"),
        ],
    )
    def test_a_run_that_forgets_to_go_back_is_found(self, spec: str, message: str) -> None:
        recording = gone_back(4)
        plain = run(parse("none"), recording, COUNTER, None)
        seen = run(parse(spec), recording, COUNTER, short)
        branch = next(each.broken for each in conformance.RULES if each.name == "I19")
        assert not list(branch(recording, plain, seen))
        at = next(n for n, each in enumerate(seen) if each.call.position > 135)
        before = seen[at - 1]
        stays = replace(seen[at], items=before.items, originals=before.originals, changes=())
        found = [said for _, said in branch(recording, plain, [*seen[:at], stays, *seen[at + 1 :]])]
        assert any(message in said for said in found)

    def test_a_summary_of_what_is_on_another_branch_is_found(self) -> None:
        recording = gone_back(4)
        seen = run(parse("compact:keep_turns=1,at=model_call"), recording, COUNTER, short)
        branch = next(each.broken for each in conformance.RULES if each.name == "I19")
        last = max(n for n, each in enumerate(seen) if each.changes)
        assert seen[last].call.position > 135
        changes = tuple(replace(c, items=(*c.items, 13)) for c in seen[last].changes)
        spoiled = [*seen[:last], replace(seen[last], changes=changes), *seen[last + 1 :]]
        found = [said for _, said in branch(recording, seen, spoiled)]
        assert any("stands for what is not on its branch" in said for said in found)

    def test_no_rule_was_forgotten(self) -> None:
        named = {rule.name for rule in conformance.RULES}
        assert named == {"items", *(f"I{n}" for n in (*range(4, 15), *range(16, 21)))}


class TestDecisions:
    """Without it a typo in a strategy looks like a strategy that has nothing to decide."""

    @pytest.mark.parametrize("given", ["clear", ("7", "x", "r"), None, 7])
    def test_what_is_no_decision_is_told(self, given: object) -> None:
        def wrong(window: Window, moment: Moment) -> list[object]:
            return [given]

        found = check(wrong, seeds=[1])
        assert {each.invariant for each in found} == {"decisions"}
        assert "none of Substitute, Revise, Compact and Restore" in found[0].message

    @pytest.mark.parametrize("origin", ["9999", 9999, "7"])
    def test_an_item_that_never_was_is_told(self, origin: int | str) -> None:
        def wrong(window: Window, moment: Moment) -> list[Decision]:
            return [Substitute(origin, "x", "r"), Compact((origin,), (), "r")]

        found = check(wrong, seeds=[1])
        assert {each.invariant for each in found} == {"items"}
        assert f"there never was an item {origin!r}" in found[0].message
