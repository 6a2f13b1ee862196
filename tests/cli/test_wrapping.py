"""Lines in pieces that fit."""

from __future__ import annotations

from cli.safetext import display_width
from cli.wrapping import wrapped


class TestWrapped:
    """A piece that is wider than the terminal is broken again by it, in the midst of a word."""

    def test_lines_are_broken_at_blanks(self) -> None:
        assert list(wrapped("one two three", 7)) == ["one two", "three"]

    def test_a_word_that_is_too_wide_is_broken_by_its_columns(self) -> None:
        pieces = list(wrapped("x 部署在星期四中午", 7))
        assert "".join(pieces).replace(" ", "") == "x部署在星期四中午"
        assert max(map(display_width, pieces)) <= 7

    def test_an_empty_line_is_one(self) -> None:
        assert list(wrapped("", 7)) == [""]
