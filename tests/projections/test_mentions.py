"""Which literals a text mentions, by one walk over it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from projections.metrics.mentions import Mentions, Words

TEXT = st.text(alphabet="ab /.-é\n", max_size=60)
LITERALS = st.lists(st.text(alphabet="ab /.-é", max_size=7), max_size=60)


def stands(literal: str, text: str) -> bool:
    """The definition: as a whole word, runs of white space being equal."""
    literal, text = " ".join(literal.split()), " ".join(text.split())
    return bool(literal) and any(
        not (re.fullmatch(r"(?a:\w\w)", text[max(at - 1, 0) : at + 1]) and at)
        and not re.fullmatch(r"(?a:\w\w)", text[at + len(literal) - 1 : at + len(literal) + 1])
        for at in range(len(text))
        if text.startswith(literal, at)
    )


class TestMentions:
    """Without it a literal counts as lost that stands there, or the other way round."""

    @given(LITERALS, st.lists(TEXT, max_size=3))
    def test_a_literal_is_mentioned_where_it_stands_as_a_whole_word(
        self, literals: list[str], texts: list[str]
    ) -> None:
        expected = {
            place
            for place, literal in enumerate(literals)
            if any(stands(literal, text) for text in texts)
        }
        assert Mentions(literals).inside(texts) == expected

    @given(st.text(alphabet="ab/.-é", min_size=1, max_size=4), TEXT)
    def test_words_are_counted_from_the_front(self, literal: str, text: str) -> None:
        flat = " ".join(text.split())
        number = Words(flat).first(literal)
        assert (number is not None) == (
            stands(literal, flat) and re.search(r"(?a:\w)", literal) is not None
        )
        if number is not None:
            ends = Words.ends(flat)
            low = ends[number - 1] if number else 0
            assert stands(literal, flat[low:])
            assert flat.find(literal, low) < ends[number]
