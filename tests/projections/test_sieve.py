"""What is passed over holds nothing that would have been found."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.findings import detectors
from projections.sieve import EXACT, FOLDED, OUTLINE, Sieve, needed, views

PATTERNS = [(name, pattern) for name, known in detectors().items() for pattern in known.denylist]


def holds(text: str, pattern: re.Pattern[str]) -> bool:
    return Sieve({"it": [pattern]}).may_match(text) == ("it",)


class TestSieve:
    """Without these a secret is passed over, to save time."""

    @pytest.mark.parametrize(("name", "pattern"), PATTERNS)
    def test_of_every_detector_something_is_known(
        self, name: str, pattern: re.Pattern[str]
    ) -> None:
        assert any(len(word) > 2 for _, words in needed(pattern) for word in words), name

    @settings(max_examples=120)
    @given(st.data())
    def test_whatever_a_detector_matches_gets_through(self, data: st.DataObject) -> None:
        _, pattern = data.draw(st.sampled_from(PATTERNS))
        text = data.draw(st.from_regex(pattern))
        assert holds(text, pattern)
        assert holds(f"é\n{text}\n한", pattern)

    @settings(max_examples=120)
    @given(st.data())
    def test_whatever_pattern_it_is(self, data: st.DataObject) -> None:
        pattern = data.draw(patterns())
        assert holds(data.draw(st.from_regex(pattern)), pattern)

    def test_a_character_that_matches_a_letter_when_case_is_ignored(self) -> None:
        letters = "abcdefghijklmnopqrstuvwxyz"
        some = re.compile(f"[{letters}]", re.IGNORECASE)
        for code in range(sys.maxunicode + 1):
            character = chr(code)
            if some.match(character):
                [letter] = [a for a in letters if re.match(a, character, re.IGNORECASE)]
                assert views(character)[FOLDED] == letter.encode()
                assert views(character)[OUTLINE] == b"a"

    def test_a_character_is_one_in_the_outline(self) -> None:
        assert views("a9_-é한\U0001f511\udc80.\n:")[OUTLINE] == b"aaaaaaaa.\n:"

    def test_what_it_knows_keeps_most_texts_out(self) -> None:
        sieve = Sieve({name: known.denylist for name, known in detectors().items()})
        assert sieve.may_match("https://docs.python.org/3/library/re.html at 12:30, a@b.org") == (
            "basic_auth",
        )
        assert sieve.may_match("def test_keys(self) -> None: # see AP-12, sk-learn") == ()

    def test_a_detector_without_patterns_is_always_tried(self) -> None:
        assert Sieve({"b": None, "a": [re.compile("x+y")], "c": []}).may_match("") == ("b",)

    @pytest.mark.parametrize("unknown", [".*", "a?", "(?i:key)", r"(a)\1?", "[^a]{40}", r"\s+"])
    def test_a_pattern_of_which_nothing_is_known_is_always_tried(self, unknown: str) -> None:
        assert needed(re.compile(unknown)) == ()
        assert holds("", re.compile(unknown))

    def test_among_those_that_are_asked_for(self) -> None:
        sieve = Sieve({"a": [re.compile("key-a")], "b": [re.compile("key-b"), re.compile("-a")]})
        assert sieve.may_match("key-a") == ("a", "b")
        assert sieve.may_match("key-a", ("b",)) == ("b",)
        assert sieve.may_match("no", ("b",)) == ()

    @pytest.mark.parametrize(
        ("pattern", "words"),
        [
            ("(?:A3T[A-Z0-9]|AKIA)[0-9A-Z]{16}", (b"A3T", b"AKIA")),
            ("(gho|ghp)_x*", (b"gho_", b"ghp_")),
            ("(?<!a)key(?=b)", (b"key",)),
            ("(?:key|token|api_key)=", (b"key=", b"token=")),
        ],
    )
    def test_words_of_which_one_is_needed(self, pattern: str, words: tuple[bytes, ...]) -> None:
        assert (EXACT, words) in needed(re.compile(pattern))


def patterns() -> st.SearchStrategy[re.Pattern[str]]:
    """Patterns of the parts of which detectors are made."""
    parts = st.sampled_from(
        ["key", "AB", "é", "ſk", "[a-f]", r"\d", r"[\w-]", "[kK_]", r"\.", "(?:x|yz|)", "(?:q|r.)"]
    )
    times = st.sampled_from(["", "", "", "?", "*", "+", "+?", "{2}", "{3,5}", "{9,}", "{20}"])
    sequences = st.lists(st.builds("(?:{}){}".format, parts, times), min_size=1, max_size=5)
    either = st.lists(sequences.map("".join), min_size=1, max_size=2).map("|".join)
    flags = st.sampled_from([re.RegexFlag(0), re.IGNORECASE])
    return st.builds(re.compile, either, flags)
