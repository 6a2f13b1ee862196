"""A strategy over a plain list of messages: the three layers, on examples that can be checked by
hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eventlog.errors import InputRefused, NoContext
from projections.items import Item
from projections.plain import applied
from projections.strategies.decisions import Summary
from projections.strategies.marks import ACKNOWLEDGEMENT, cut

Message = dict[str, Any]


def called(number: int) -> Message:
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number: int, text: str) -> Message:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def turn(number: int) -> list[Message]:
    question = f"question {number}: " + "why? " * 12
    answer = f"answer {number}: " + "since. " * 12
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def listed(wanted: Summary, items: Sequence[Item]) -> str:
    return "; ".join(item.text.partition(":")[0] for item in items)


class TestTheThreeLayers:
    """Whoever knows the scheme can see here what ours makes of its own examples."""

    def test_a_result_over_the_limit_keeps_its_head_and_its_tail(self) -> None:
        assert cut("0123456789", 4) == "01\n[… 6 characters left out …]\n89"
        shown = applied([*turn(1), called(1), result(1, "0123456789" * 40)], "cut:limit=4")
        assert shown[-1]["content"] == "01\n[… 396 characters left out …]\n89"

    def test_a_cut_that_would_make_it_longer_is_not_made(self) -> None:
        shown = applied([*turn(1), called(1), result(1, "0123456789")], "cut:limit=4")
        assert shown[-1]["content"] == "0123456789"

    def test_of_three_results_the_last_two_stay(self) -> None:
        texts = [f"result {n} " + "x" * 200 for n in (1, 2, 3)]
        worked = [each for n in (1, 2, 3) for each in (called(n), result(n, texts[n - 1]))]
        shown = applied([*turn(1), *worked], "clear:keep=2")
        results = [each["content"] for each in shown if each["role"] == "tool"]
        assert results[0].startswith("[The result of read was cleared.")
        assert results[1:] == texts[1:]
        assert [each for each in shown if each["role"] == "assistant"][1:] == [
            called(1),
            called(2),
            called(3),
        ]

    def test_of_eight_messages_the_last_two_turns_stay_behind_a_summary(self) -> None:
        eight = [message for number in (1, 2, 3, 4) for message in turn(number)]
        shown = applied(eight, "compact:keep_turns=2", listed)
        assert shown[2:] == eight[4:]
        assert "question 1; answer 1; question 2; answer 2" in shown[0]["content"]
        assert shown[1] == {"role": "assistant", "content": ACKNOWLEDGEMENT}

    def test_without_a_summary_the_old_turns_stay(self) -> None:
        eight = [message for number in (1, 2, 3, 4) for message in turn(number)]
        assert applied(eight, "compact:keep_turns=2") == eight


class TestWhatComesBack:
    """A list that no provider takes would be of no use."""

    def test_nothing_is_changed_where_nothing_is_decided(self) -> None:
        given = [{"role": "system", "content": "be brief"}, *turn(1), called(1), result(1, "ok")]
        assert applied(given, "none") == given

    def test_the_given_messages_stay_as_they_are(self) -> None:
        given = [*turn(1), called(1), result(1, "x" * 900)]
        before = [dict(message) for message in given]
        applied(given, "cut:limit=10")
        assert given == before

    def test_a_result_without_its_call_is_left_out(self) -> None:
        assert applied([*turn(1), result(7, "of nothing")], "none") == turn(1)

    def test_an_unknown_strategy_and_an_empty_list_are_refused(self) -> None:
        with pytest.raises(InputRefused):
            applied(turn(1), "shorten")
        with pytest.raises(NoContext):
            applied([], "none")
