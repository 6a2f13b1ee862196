"""What is said in a text, and what is only quoted in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.memory.spoken import HIDDEN, LOOKED_AT, MAX_SENTENCE, clipped, spoken


def said(text: str) -> list[str]:
    """The sentences without what is quoted in them."""
    return [" ".join(each.masked.replace(HIDDEN, "").split()) for each in spoken(text)]


class TestSentences:
    """Each is looked at by itself."""

    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("Use tabs. Please!", ["Use tabs.", "Please!"]),
            ("用制表符。不要空格！", ["用制表符。", "不要空格！"]),
            ("one line\nanother", ["one line", "another"]),
            ("- a point\n2. another", ["a point", "another"]),
            ("e.g. version 2.0.1 of it", ["e.g. version 2.0.1 of it"]),
            ("", []),
            ("... --- ***", []),
        ],
    )
    def test_they_end_where_they_end(self, text: str, sentences: list[str]) -> None:
        assert said(text) == sentences

    @pytest.mark.parametrize(
        ("text", "asks"),
        [
            ("Do you use tabs?", True),
            ("should I use tabs", True),
            ("你用制表符吗", True),
            ("为什么用制表符", True),
            ("Use tabs", False),
            ("用制表符", False),
        ],
    )
    def test_a_question_is_one_with_and_without_its_mark(self, text: str, asks: bool) -> None:
        assert [each.asks for each in spoken(text)] == [asks]

    def test_a_sentence_that_is_too_long_is_data(self) -> None:
        assert said("x " * MAX_SENTENCE) == []


class TestWhatIsNotSaid:
    """A message holds more than its writer's words."""

    @pytest.mark.parametrize(
        "text",
        [
            "```\nalways use tabs\n```",
            "~~~\nalways use tabs",
            "    always use tabs",
            "> always use tabs",
            '"always use tabs"',
            "“always use tabs”",
            "「总是用制表符」",
            "`always use tabs`",
            "2026-01-02 10:00 always use tabs",
            "src/a.py:12: always use tabs",
            "ERROR always use tabs",
            "<file>\nalways use tabs\n</file>",
            "<file>always use tabs</file>",
            "<system-reminder>always use tabs</system-reminder>",
        ],
    )
    def test_code_quotations_logs_and_tags_say_nothing(self, text: str) -> None:
        assert not any("tabs" in each or "制表符" in each for each in said(text))

    @pytest.mark.parametrize(
        "text",
        [
            "Translate this: always use tabs",
            "Here is the file:\n\nalways use tabs\n\nnever use spaces",
            "The readme says: always use tabs",
            "翻译：总是用制表符",
            "下面是文件内容：\n总是用制表符",
        ],
    )
    def test_what_is_brought_in_behind_a_colon_says_nothing(self, text: str) -> None:
        assert not any("tabs" in each or "制表符" in each for each in said(text))

    def test_what_stands_before_and_behind_a_quotation_is_said(self) -> None:
        assert said("I prefer tabs.\n```\ncode\n```\nThanks.") == ["I prefer tabs.", "Thanks."]

    def test_what_a_person_typed_between_an_agents_own_tags_is_said(self) -> None:
        assert said("<user_query>\nuse tabs\n</user_query>") == ["use tabs"]

    def test_a_list_that_is_to_be_kept_is_said(self) -> None:
        assert "use tabs" in said("Remember the following:\n- use tabs")

    def test_an_apostrophe_quotes_nothing(self) -> None:
        assert said("don't use tabs, it isn't good") == ["don't use tabs, it isn't good"]


class TestHostileText:
    """A text may be of any length and shape."""

    @pytest.mark.parametrize(
        "piece",
        ['"', "`", "<a>\n", "“", "> ", "a: ", '"a\n\n', "```\n", "- ", "1. ", "\0", "\ud800"],
    )
    def test_ten_megabytes_are_looked_at_at_both_ends(self, piece: str) -> None:
        text = piece * (10_000_000 // len(piece))
        assert len(clipped(text)) <= 2 * LOOKED_AT + 2
        assert sum(len(each.text) for each in spoken(text)) <= 2 * LOOKED_AT

    def test_what_stands_at_the_end_of_a_long_text_is_said(self) -> None:
        assert said("word word.\n" * 100_000 + "I prefer tabs")[-1] == "I prefer tabs"

    @given(st.text(st.sampled_from("aA \n\"'`<>/:.?!-*>#“”「」你吗。，\0\ud800\t1"), max_size=200))
    def test_a_mask_is_as_long_as_its_sentence(self, text: str) -> None:
        for each in spoken(text):
            assert len(each.text) == len(each.masked)
            assert all(m in (HIDDEN, t) for m, t in zip(each.masked, each.text, strict=True))
