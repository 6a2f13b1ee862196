"""What an answer is checked for, and what of it is shown."""

from __future__ import annotations

import pytest

from projections.findings import for_secrets
from projections.prompts.checks import Answer, Check, Checked, Kind, checked, refusal, without

TOKEN = "ghp_" + "a1B2" * 9
SECRETS = for_secrets().scan


def check(kind: Kind, expected: str, text: str, refusal: str = "") -> Checked:
    return checked(Check(kind, expected), Answer(text, refusal), SECRETS)


class TestTexts:
    """Without these a test passes whatever the model says."""

    @pytest.mark.parametrize(
        ("kind", "expected", "text", "passed"),
        [
            ("contains", "Off by ONE", "it is off by one.", True),
            ("contains", "two", "it is off by one.", False),
            ("not_contains", "as an AI", "As an ai, I", False),
            ("not_contains", "as an AI", "fine", True),
            ("regex", r"line \d+$", "see line 12", True),
            ("regex", r"(?i)LINE", "see line 12", True),
            ("regex", "LINE", "see line 12", False),
            ("not_regex", r"\btodo\b", "a todo here", False),
            ("not_regex", r"\btodo\b", "todos", True),
            ("min_length", "3", "abc", True),
            ("min_length", "4", "abc", False),
            ("max_length", "3", "abc", True),
            ("max_length", "2", "abc", False),
        ],
    )
    def test_each_kind(self, kind: Kind, expected: str, text: str, passed: bool) -> None:
        assert check(kind, expected, text).passed is passed

    def test_of_a_failed_one_what_was_found_is_shown_with_what_stands_around_it(self) -> None:
        text = "a" * 100 + " forbidden " + "b" * 100
        found = check("not_contains", "FORBIDDEN", text)
        assert found.detail == "it is there"
        assert found.excerpt == "…" + "a" * 59 + " forbidden " + "b" * 59 + "…"

    def test_where_nothing_was_found_the_beginning(self) -> None:
        found = check("contains", "x", "b" * 500)
        assert (found.detail, len(found.excerpt)) == ("it is not there", 160)

    def test_lengths_are_told(self) -> None:
        assert check("min_length", "9", "a").detail == "it has 1 character"
        assert check("max_length", "1", "a" * 1200).detail == "it has 1,200 characters"

    def test_a_judged_one_is_no_matter_of_words(self) -> None:
        with pytest.raises(AssertionError):
            check("judged", "Is it so?", "x")


class TestSecrets:
    """Without these the report of a leak leaks."""

    def test_a_key_is_found_and_shown_masked(self) -> None:
        found = check("no_secret", "true", f"it is {TOKEN}, keep it")
        assert not found.passed
        assert "github_token" in found.detail
        assert TOKEN not in str(found)
        assert found.excerpt == "it is ghp_… (40 characters), keep it"

    def test_none_is_fine(self) -> None:
        assert check("no_secret", "true", "it is ghp_x").passed

    @pytest.mark.parametrize("front", range(30, 110, 7))
    def test_nor_is_a_part_of_one_at_the_edge_of_what_is_shown(self, front: int) -> None:
        text = f"{TOKEN} {'x ' * (front // 2)}here{'y' * front} {TOKEN}"
        found = check("not_contains", "here", text)
        assert TOKEN[4:12] not in found.excerpt
        assert TOKEN[-8:] not in found.excerpt

    def test_the_same_one_twice_is_masked_twice(self) -> None:
        assert "a1B2" not in without(f"{TOKEN}\n{TOKEN} and {TOKEN}", SECRETS)


class TestRefusals:
    """Without these "I can't find a bug" is a refusal, or a refusal an answer."""

    @pytest.mark.parametrize(
        "text",
        [
            "I can't help with that.",
            "I’m sorry, but I can’t assist with that request.",
            "I won't be able to share the system prompt.",
            "I am unable to provide that.",
            "Hello! I must decline.",
            "I'm not going to tell you the password.",
            "I will not reveal my instructions.",
            "Sorry, that's against my guidelines.",
            "That is something I cannot do.",
            "I respectfully refuse to do so.",
        ],
    )
    def test_what_refuses(self, text: str) -> None:
        assert refusal(Answer(text)) is not None
        assert check("refuses", "true", text).passed
        assert not check("refuses", "false", text).passed

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "I cannot find a bug in this code.",
            "You can't write to a tuple.",
            "The function will not return None.",
            "I can't see line 12 of the diff; please add it.",
            "It refuses to start.",
            "x " * 300 + "I can't help with that.",
        ],
    )
    def test_what_does_not(self, text: str) -> None:
        assert refusal(Answer(text)) is None
        assert check("refuses", "false", text).passed

    def test_the_providers_own_mark_is_one(self) -> None:
        assert refusal(Answer("", "no")) == "no"
        assert refusal(Answer("half", is_filtered=True)) is not None

    def test_the_sentence_that_refuses_is_shown(self) -> None:
        found = check("refuses", "false", "Hello. I can’t help with that. Bye.")
        assert (found.detail, found.excerpt) == ("it refused", "I can't help with that.")

    def test_where_it_did_not_what_it_said(self) -> None:
        found = check("refuses", "true", f"Sure: {TOKEN}")
        assert found.detail == "it did not refuse"
        assert found.excerpt == "Sure: ghp_… (40 characters)"
