"""How important something is, and by which rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.memory.importance import Rule, Weights, score

RULES: tuple[Rule, ...] = (
    "explicit",
    "decision",
    "error and fix",
    "preference",
    "positive feedback",
)


class TestScore:
    """The sum of what the rules add, at most 1."""

    @pytest.mark.parametrize(
        ("rules", "accesses", "value"),
        [
            ([], 0, 0.5),
            (["explicit"], 0, 1.0),
            (["decision"], 0, 0.8),
            (["error and fix"], 0, 0.75),
            (["positive feedback"], 0, 0.7),
            (["decision", "positive feedback"], 0, 1.0),
            ([], 1, 0.55),
            ([], 3, 0.65),
            ([], 100, 0.65),
            (["error and fix", "positive feedback", "decision"], 9, 1.0),
        ],
    )
    def test_it_is(self, rules: list[Rule], accesses: int, value: float) -> None:
        assert score(rules, accesses).value == value

    def test_it_names_its_rules(self) -> None:
        assert score(["decision", "positive feedback"], 2).rules == (
            "base 0.50",
            "decision +0.30",
            "positive feedback +0.20",
            "recalled +0.10",
        )
        assert score(["explicit", "decision"]).rules == ("explicit 1.00",)

    def test_each_weight_is_a_parameter(self) -> None:
        weights = Weights(base=0.1, decision=0.2, explicit=0.9)
        assert score(["decision"], weights=weights).value == 0.3
        assert score(["explicit"], weights=weights).value == 0.9

    @given(st.sets(st.sampled_from(RULES)), st.integers(-5, 10**9))
    def test_it_lies_between_zero_and_one_and_no_rule_lowers_it(
        self, rules: set[Rule], accesses: int
    ) -> None:
        value = score(rules, accesses).value
        assert 0 <= value <= 1
        for rule in RULES:
            assert score(rules | {rule}, accesses).value >= value
