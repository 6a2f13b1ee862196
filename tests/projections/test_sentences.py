"""The sentence around a literal: enough to know what it meant, never a whole file."""

from __future__ import annotations

import tracemalloc

import pytest

from projections.sentences import LONGEST, sentence_around, sentences_around

TEXT = (
    "It is red. The order is ORD-77120, from yesterday! Mend it.\n"
    "- Never touch migrations/.\nAlways run it so:\n\n    pytest -q\n"
)


@pytest.mark.parametrize(
    ("literal", "sentence"),
    [
        ("ORD-77120", "The order is ORD-77120, from yesterday!"),
        ("Never touch migrations/", "- Never touch migrations/."),
        ("never   TOUCH", "- Never touch migrations/."),
        ("Always run it so", "Always run it so: pytest -q"),
        ("It is red", "It is red."),
        ("nowhere", ""),
        ("", ""),
    ],
)
def test_the_sentence_is_given_in_which_it_stands(literal: str, sentence: str) -> None:
    assert sentence_around(TEXT, literal) == sentence


def test_chinese_sentences_end_at_their_own_marks() -> None:
    assert sentence_around("先看日志。订单是 ORD-1。再修。", "ORD-1") == "订单是 ORD-1。"


def test_in_a_long_line_of_json_an_escaped_end_of_a_line_is_one() -> None:
    escaped = TEXT.replace("\n", "\\n")
    line = '{"body": "' + "word " * LONGEST + "\\n" + escaped + "word " * LONGEST + '"}'
    assert sentence_around(line, "Never touch") == "- Never touch migrations/."
    assert sentence_around(line.replace("\\", "\\\\"), "pytest -q") == "pytest -q"
    short = "printf 'a\\nb'"  # it can be given whole
    assert sentence_around(short, "printf") == short


def test_what_is_cut_off_is_cut_at_a_word() -> None:
    line = "twelve words " * LONGEST + "ORD-1" + " twelve words" * LONGEST
    found = sentence_around(line, "ORD-1")
    assert set(found.strip("…").split()) == {"twelve", "words", "ORD-1"}
    assert found[0] == found[-1] == "…"


def test_of_an_endless_line_only_the_part_around_is_read() -> None:
    text = "x " * 5_000_000 + "ORD-1" + " y" * 5_000_000
    tracemalloc.start()
    try:
        found = sentence_around(text, "ORD-1")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000, "no copy of the whole text"
    finally:
        tracemalloc.stop()
    assert "ORD-1" in found
    assert found[0] == found[-1] == "…"
    assert len(found) <= 2 * LONGEST + 7


class TestMany:
    """Without it what a long list of paths lost takes minutes to tell."""

    def test_each_of_many_has_the_sentence_that_it_has_alone(self) -> None:
        names = [f"ORD-{n}" for n in range(100, 140)]
        text = "\n".join(f"The order {name} is\tlate, see {name}.  Mend it!" for name in names)
        literals = [*names, "order ORD-117 is late", "THE ORDER ORD-120", "nowhere", "", "!"]
        expected = {one: sentence_around(text, one) for one in literals}
        assert sentences_around(text, literals) == {k: v for k, v in expected.items() if v}

    def test_where_it_is_a_word_comes_first(self) -> None:
        others = [f"x{n}" for n in range(20)]
        text = "See ORD-12. Then ORD-1. " + " ".join(others)
        assert sentences_around(text, [*others, "ORD-1"])["ORD-1"] == "Then ORD-1."
