"""Lines in pieces that fit."""

from __future__ import annotations

from cli.safetext import display_width
from cli.style import Style
from cli.wrapping import flowed, wrapped


class TestWrapped:
    """A piece that is wider than the terminal is broken again by it, in the midst of a word."""

    def test_lines_are_broken_at_blanks(self) -> None:
        assert list(wrapped("one two three", 7)) == ["one two", "three"]

    def test_a_word_that_is_too_wide_is_broken_by_its_columns(self) -> None:
        pieces = list(wrapped("x 部署在星期四中午", 7))
        assert "".join(pieces).replace(" ", "") == "x部署在星期四中午"
        assert max(map(display_width, pieces)) <= 7

    def test_what_hangs_below_the_first_has_less_room(self) -> None:
        assert list(wrapped("one two three four", 8, 2)) == ["one two", "three", "four"]

    def test_an_empty_line_is_one(self) -> None:
        assert list(wrapped("", 7)) == [""]


class TestFlowed:
    """What comes from a log is told whole where there is an end to it, and no byte of it acts."""

    def test_it_is_one_paragraph_with_nothing_lost(self) -> None:
        lines = flowed("one\ntwo three\x1b[2J four", Style(), 12, hang="  ")
        assert "".join(lines).replace(" ", "") == "onetwothree\\u{1b}[2Jfour"
        assert max(map(display_width, lines)) <= 12
        assert all(line.startswith("  ") for line in lines[1:])

    def test_what_has_no_end_is_cut(self) -> None:
        lines = flowed("word " * 10_000, Style(), 20, lines=3)
        assert len(lines) <= 4
        assert lines[-1].endswith("…")
