"""Two contexts held against each other, item by item."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from contexts_made import answer, result, say
from hypothesis import given
from hypothesis import strategies as st
from recorded_sessions import Session, long_session

from eventlog import messages
from harness.importers import import_path
from projections import open_log
from projections.captured import captured
from projections.diff import Became, Diff, became, diff
from projections.items import Item
from projections.observed import observed
from projections.recording import recording
from projections.strategies import parse
from projections.tokens import count_item, counter
from projections.whatif import Runner

COUNTING = counter()


def human(number: int, text: str) -> Item:
    return say(number, "user", text, source="human")


def cleared(item: Item, text: str = "[cleared]") -> Item:
    message = messages.with_content(item.dialect, item.message, text)
    return replace(item, rendition=f"{item.id}@9", form="cleared", message=message)


def summary(name: str, text: str) -> Item:
    made = human(1, text)
    return replace(made, id=name, rendition=name, kind="summary", source="injected")


def states(found: Diff) -> list[tuple[str, str]]:
    return [(line.item, line.state) for line in found.lines]


SYSTEM = say(1, "system", "Be kind.")
TASK = human(2, "Fix src/core/engine.py. Never push to main.")
ASK = answer(3, "x", arguments='{"path": "src/core/engine.py"}')
RESULT = result(4, "x", "port 8471, https://example.org/docs/start " + "text " * 40)
SAID = say(5, "assistant", "It is done.", source="model")


class TestStates:
    """Without this an item that was taken out looks as if it had never been there."""

    def test_the_same_is_kept(self) -> None:
        found = diff([SYSTEM, TASK], [SYSTEM, TASK], COUNTING)
        assert states(found) == [("1", "kept"), ("2", "kept")]
        assert (found.lost, found.prefix.right_behind) == ((), 0)

    def test_another_rendition_is_named_with_its_tokens(self) -> None:
        found = diff([ASK, RESULT], [ASK, cleared(RESULT)], COUNTING)
        line = found.lines[1]
        assert (line.state, line.left, line.right) == ("cleared", "4", "4@9")
        assert line.left_tokens > line.right_tokens > 0
        back = diff([ASK, cleared(RESULT)], [ASK, RESULT], COUNTING)
        assert back.lines[1].state == "restored"

    def test_what_left_is_summarised_where_a_summary_stands_in_its_gap(self) -> None:
        left = [SYSTEM, TASK, ASK, RESULT, SAID]
        found = diff(left, [SYSTEM, summary("57.0", "They asked."), SAID], COUNTING)
        assert states(found) == [
            *(("1", "kept"), ("2", "summarised"), ("3", "summarised"), ("4", "summarised")),
            *(("57.0", "new"), ("5", "kept")),
        ]
        assert {line.by for line in found.lines if line.state == "summarised"} == {"57"}

    def test_and_dropped_where_none_does(self) -> None:
        found = diff([SYSTEM, TASK, ASK, RESULT, SAID], [SYSTEM, SAID, human(6, "more")], COUNTING)
        assert states(found)[1:4] == [("2", "dropped"), ("3", "dropped"), ("4", "dropped")]
        assert states(found)[-1] == ("6", "new")

    def test_a_decision_that_is_known_says_it_better(self) -> None:
        said = {"2": Became("dropped", "40", "older than the last 2")}
        right = [SYSTEM, summary("57.0", "They asked.")]
        found = diff([SYSTEM, TASK, ASK], right, COUNTING, became=said)
        assert [(line.state, line.by) for line in found.lines[1:3]] == [
            ("dropped", "40"),
            ("summarised", "57"),
        ]
        assert found.lines[1].reason == "older than the last 2"

    def test_summaries_of_two_what_ifs_are_not_the_same_by_their_number(self) -> None:
        found = diff([summary("0.1", "one")], [summary("0.1", "another")], COUNTING)
        assert states(found) == [("0.1", "summarised"), ("0.1", "new")]
        same = diff([summary("0.1", "one")], [summary("0.1", "one")], COUNTING)
        assert states(same) == [("0.1", "kept")]

    @given(st.lists(st.integers(0, 8), unique=True), st.lists(st.integers(0, 8), unique=True))
    def test_every_item_has_one_line_and_the_tokens_add_up(
        self, left: list[int], right: list[int]
    ) -> None:
        made = [human(number, f"text {number} " * number) for number in range(9)]
        one, other = [made[n] for n in left], [made[n] for n in right]
        found = diff(one, other, COUNTING)
        assert sorted(line.item for line in found.lines) == sorted(map(str, {*left, *right}))
        assert found.left_tokens == sum(count_item(COUNTING, item) for item in one)
        assert found.right_tokens == sum(count_item(COUNTING, item) for item in other)
        assert sum(each.items for each in found.sums) == len(found.lines)


class TestPrefix:
    """Without this nobody sees what a change costs."""

    def test_it_ends_at_the_first_difference(self) -> None:
        left = [SYSTEM, TASK, ASK, RESULT, SAID]
        prefix = diff(left, [SYSTEM, TASK, ASK, cleared(RESULT), SAID], COUNTING).prefix
        assert (prefix.items, prefix.left_ends_at, prefix.right_ends_at) == (3, "4", "4")
        assert prefix.tokens == sum(count_item(COUNTING, item) for item in (SYSTEM, TASK, ASK))
        behind = count_item(COUNTING, cleared(RESULT)) + count_item(COUNTING, SAID)
        assert prefix.right_behind == behind

    def test_a_context_that_only_grew_loses_nothing_of_it(self) -> None:
        prefix = diff([SYSTEM, TASK], [SYSTEM, TASK, SAID], COUNTING).prefix
        assert (prefix.items, prefix.left_ends_at, prefix.left_behind) == (2, None, 0)
        assert prefix.right_ends_at == "5"


class TestLostAnchors:
    """Without this the port is gone, and the diff says that 200 tokens were saved."""

    def test_they_are_named_by_kind_with_the_item_they_came_from(self) -> None:
        found = diff([SYSTEM, TASK, ASK, RESULT], [SYSTEM, summary("9.0", "hm")], COUNTING)
        assert [(lost.kind, lost.text, lost.item, lost.state) for lost in found.lost] == [
            ("path", "src/core/engine.py", "3", "summarised"),
            ("url", "https://example.org/docs/start", "4", "summarised"),
            ("rule", "Never push to main", "2", "summarised"),
        ]

    @pytest.mark.parametrize(
        "said", ["never  push\nto main; src/core/engine.py", "NEVER PUSH TO MAIN"]
    )
    def test_a_rule_is_kept_in_any_case(self, said: str) -> None:
        found = diff([TASK], [summary("9.0", said)], COUNTING)
        assert "rule" not in {lost.kind for lost in found.lost}

    @pytest.mark.parametrize(
        ("said", "again"),
        [("push nothing to main, never", True), ("the engine was mended", False)],
    )
    def test_a_rule_may_be_said_again_in_other_words(self, said: str, again: bool) -> None:
        found = diff([TASK, SAID], [SAID, summary("9.0", said)], COUNTING)
        assert [(lost.kind, lost.is_reworded) for lost in found.lost] == [
            ("path", False),
            ("rule", again),
        ]

    def test_what_stood_before_says_nothing_again(self) -> None:
        stood = say(8, "assistant", "push nothing to main, never", source="model")
        found = diff([TASK, stood], [stood], COUNTING)
        assert [(lost.kind, lost.is_reworded) for lost in found.lost] == [
            ("path", False),
            ("rule", False),
        ]

    def test_a_literal_that_stands_elsewhere_is_not_lost(self) -> None:
        found = diff([TASK, ASK], [ASK], COUNTING)
        assert [lost.kind for lost in found.lost] == ["rule"]

    def test_what_later_items_used_is_said(self) -> None:
        later = [
            result(7, "y", "https://example.org/docs/start"),
            say(8, "assistant", "as https://example.org/docs/start says", source="model"),
        ]
        found = diff([ASK, RESULT], [ASK, cleared(RESULT)], COUNTING, later=later)
        assert [(lost.text, lost.used_by) for lost in found.lost] == [
            ("https://example.org/docs/start", ("8",))
        ]


class TestOfRuns:
    """Without this the sides of a diff are not what the runs had."""

    def test_two_strategies_on_one_session_at_one_call(self) -> None:
        given_session = long_session().recording()

        def at(spec: str) -> tuple[Item, ...]:
            found = captured(
                lambda observer: Runner(
                    given_session, parse(spec), COUNTING, observer=observer
                ).run(),
                40,
            )
            assert found is not None
            return found.items

        found = diff(at("none"), at("truncate:turns=5,at=model_call"), COUNTING)
        assert {each.state for each in found.sums} == {"kept", "dropped"}
        assert "Never edit files in migrations/" not in {lost.text for lost in found.lost}
        assert "OPS-1000" in {lost.text for lost in found.lost}

    def test_a_compaction_that_happened(self) -> None:
        made = Session()
        first = made.human("The port is 8471 ms")
        answered = made.call(text="ok")
        made.call(text="before")
        compacting = made.compacted([first, answered], "a port was named")
        made.call(text="after")
        given_session = made.recording()
        before, after = (
            captured(lambda observer: observed(given_session, observer), number)
            for number in (2, 3)
        )
        assert before is not None
        assert after is not None
        found = diff(before.items, after.items, COUNTING, became=became(after.changes))
        gone = [line for line in found.lines if line.state == "summarised"]
        assert [(line.item, line.by) for line in gone] == [
            (str(first), str(compacting)),
            (str(answered), str(compacting)),
        ]

    def test_a_real_compaction_names_what_was_used_later(
        self, samples: Path, tmp_path: Path
    ) -> None:
        name = "claude-code/cc03_compact_2microcompact_v2.1.17.jsonl"
        with open_log(tmp_path / "log.db") as live:
            import_path(live.log, samples / name)
            key = live.log.streams()[0].key
            given_session = recording(live.log.read(key), COUNTING)
        contexts = [
            captured(lambda observer: observed(given_session, observer), number)
            for number in (94, 95, 96, 97, 98, 99, 100, 101)
        ]
        pairs = [(a, b) for a, b in pairwise(contexts) if a and b]
        before, after = next(
            (a, b) for a, b in pairs if any(item.kind == "summary" for item in b.items)
        )
        later = [
            step.item
            for step in given_session.steps
            if step.item is not None and step.kind == "item" and step.position > after.position
        ]
        found = diff(before.items, after.items, COUNTING, later=later)
        assert [each.state for each in found.sums] == ["summarised", "new"]
        used = [lost for lost in found.lost if lost.used_by]
        assert used
        assert len(used) < len(found.lost)
