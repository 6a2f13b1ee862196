"""Two rankings are made one as the papers say, and a common word costs nothing."""

from __future__ import annotations

import pytest

from projections.memory.fusing import POSTINGS, SPAN, WORDS, chosen, fused, rarity, share, weight_of


def test_a_rank_counts_one_over_sixty_and_itself() -> None:
    assert fused([7, 8], [8, 9]) == {7: 1 / 61, 8: 1 / 62 + 1 / 61, 9: 1 / 62}


def test_what_both_name_comes_before_what_one_names_first() -> None:
    found = fused([1, 2], [3, 2])
    assert max(found, key=lambda row: found[row]) == 2


def test_the_weights_are_those_of_bm25() -> None:
    assert rarity(1, 10) == pytest.approx(1.9924301646902063)  # ln(1 + 9.5 / 1.5)
    assert share(10, 10.0) == pytest.approx(1.0)
    assert share(20, 10.0) < 1 < share(5, 10.0)


def test_rare_words_are_looked_for_and_one_that_most_hold_is_not() -> None:
    found = {"rare": 2, "some": 300, "most": 600}
    assert chosen(found, 1_000) == [("rare", 2), ("some", 300)]


def test_among_few_memories_every_word_counts() -> None:
    assert chosen({"tabs": 3}, 3) == [("tabs", 3)]


def test_no_more_rows_are_read_than_there_is_room_for_but_for_one_word() -> None:
    assert chosen({"a": 4_000, "b": 5_000, "c": 6_000}, 100_000) == [("a", 4_000), ("b", 5_000)]
    assert chosen({"only": POSTINGS * 2}, 100_000) == [("only", POSTINGS * 2)]


def test_of_a_long_question_the_rarest_words_are_looked_for() -> None:
    found = chosen({f"w{n}": n for n in range(1, 200)}, 10_000)
    assert [count for _, count in found] == list(range(1, WORDS + 1))


def test_of_a_long_message_only_the_rarest_words_are_weighed() -> None:
    assert weight_of([0] * 100, 50) == pytest.approx(SPAN * rarity(0, 50))
    assert weight_of([3, 0], 50) == pytest.approx(rarity(0, 50) + rarity(3, 50))
