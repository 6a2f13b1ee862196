"""How much of one answer another one says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.agreement import agreement

TEXT = st.text(alphabet="ab 不要./-17\n", max_size=40)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("the order is paid", "The order is paid.", 1.0),
        ("a b c d", "a b x y", 0.5),
        ("a a b", "a b b", 0.6667),
        ("alpha", "beta", 0.0),
        ("", "", 1.0),
        ("", "x", 0.0),
        ("不要动", "不要改", 0.6667),
        ("改refund文件", "refund", 0.4),
    ],
)
def test_the_words_of_both_are_held_against_each_other(one: str, other: str, words: float) -> None:
    assert agreement(one, other).words == words


def test_literals_of_the_reference_that_are_missing_are_named() -> None:
    found = agreement("It is ORD-77120 in shop/refunds.py, 40 ms.", "ORD-77120, surely.")
    assert found.literals == 3
    assert [anchor.text for anchor in found.missing] == ["shop/refunds.py", "40 ms"]


def test_what_the_answer_adds_is_no_loss() -> None:
    assert agreement("It is ORD-77120.", "ORD-77120 in shop/refunds.py").missing == ()


@given(one=TEXT, other=TEXT)
def test_it_is_the_same_both_ways_and_whole_with_itself(one: str, other: str) -> None:
    held = agreement(one, other)
    assert held.words == agreement(other, one).words
    assert 0 <= held.words <= 1
    assert agreement(one, one).words == 1
    assert agreement(one, one).missing == ()
