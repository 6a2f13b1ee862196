"""Transcripts are hostile input, and a terminal obeys what it is sent."""

from __future__ import annotations

import tracemalloc
import unicodedata

import pytest
from hanging import no_hang
from hypothesis import given
from hypothesis import strategies as st

from cli.safetext import display_width, one_line, safe_text

ANY_TEXT = st.text(st.characters())  # surrogates included


def of(*ranges: tuple[int, int]) -> list[int]:
    return [code for low, high in ranges for code in range(low, high + 1)]


DANGEROUS = {
    "C0": of((0x00, 0x08), (0x0B, 0x1F)),
    "DEL and C1": of((0x7F, 0x9F)),
    "bidi controls": of((0x202A, 0x202E), (0x2066, 0x2069), (0x200E, 0x200F), (0x061C, 0x061C)),
    "separators": of((0x2028, 0x2029)),
    "zero width": of((0x200B, 0x200B), (0x2060, 0x2064), (0xFEFF, 0xFEFF)),
    "invisible letters": [0x00AD, 0x034F, 0x115F, 0x1160, 0x180E, 0x3164, 0xFFA0],
    "format controls": of((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xFFF9, 0xFFFB)),
    "tags": of((0xE0000, 0xE00FF), (0xE01F0, 0xE0FFF)),
    "lone surrogates": [0xD800, 0xDBFF, 0xDC00, 0xDFFF],
}
SEEN = of((0x0600, 0x0605), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2))
SEEN += [0x110BD, 0x110CD]
"""Format characters that are drawn: signs over or under numbers, and of abbreviations."""

INVISIBLE = {chr(code) for codes in DANGEROUS.values() for code in codes}


class TestWhatATerminalWouldObeyOrHide:
    """One class left out is a clipboard overwritten by the output of a tool."""

    @pytest.mark.parametrize("kind", DANGEROUS)
    def test_is_shown_as_its_code_point(self, kind: str) -> None:
        for code in DANGEROUS[kind]:
            assert safe_text(f"a{chr(code)}b") == f"a\\u{{{code:x}}}b"

    @pytest.mark.parametrize(
        ("attack", "shown"),
        [
            ("\x1b]52;c;cm0gLXJm\x07", r"\u{1b}]52;c;cm0gLXJm\u{7}"),
            (
                "\x1b]8;;https://evil.example\x1b\\click",
                r"\u{1b}]8;;https://evil.example\u{1b}\click",
            ),
            ("\x9b2J", r"\u{9b}2J"),
            ("ok\rrm -rf", r"ok\u{d}rm -rf"),
            ("invoice\u202efdp.exe", r"invoice\u{202e}fdp.exe"),
            ("hi\U000e0069\U000e0067", r"hi\u{e0069}\u{e0067}"),
        ],
    )
    def test_covers_the_known_attacks(self, attack: str, shown: str) -> None:
        assert safe_text(attack) == shown

    def test_covers_every_format_character_that_is_not_seen(self) -> None:
        every = [code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
        kept = [code for code in every if safe_text(f"a{chr(code)}b") == f"a{chr(code)}b"]
        assert kept == sorted(set(SEEN) & set(every))

    def test_covers_bytes_hidden_in_joiners_of_hieroglyphs(self) -> None:
        hidden = "\U00013000" + "\U00013430" * 3
        assert safe_text(hidden) == "\U00013000\U00013430" + r"\u{13430}" * 2

    def test_covers_bytes_hidden_in_variation_selectors(self) -> None:
        assert safe_text("❤\ufe0f\ufe01\U000e0101") == "❤\ufe0f" + r"\u{fe01}\u{e0101}"

    @given(ANY_TEXT)
    def test_is_never_in_the_result(self, text: str) -> None:
        safe = safe_text(text)
        assert not INVISIBLE & set(safe)
        assert safe.encode("utf-8").decode("utf-8") == safe
        assert all(unicodedata.category(c) != "Cc" or c in "\n\t" for c in safe)

    @given(ANY_TEXT)
    def test_is_escaped_once(self, text: str) -> None:
        assert safe_text(safe_text(text)) == safe_text(text)


class TestWhatPeopleWrite:
    """An escape in the middle of somebody's language is a defect as well."""

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "plain ASCII",
            "tabs\tand\nlines",
            "naïve café — “quoted”",
            "中文,日本語、한국어",
            "שלום עולם",
            "می\u200cخواهم",
            "क्\u200dष",
            "👩\u200d👩\u200d👧",
            "👩🏽\u200d🚀",
            "❤\ufe0f\u200d🔥",
            "🇩🇪 ❤️",
            "葛\U000e0100",
            "\u182d\u180b",
            "\u0600\u0661\u0662",
            "\U00013000\U00013430\U00013001",
            r"C:\users\u{1b}",
        ],
    )
    def test_stays_as_it_is(self, text: str) -> None:
        assert safe_text(text) == text

    @pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
    @pytest.mark.parametrize("around", ["a{}b", "{}", "中{}中", "a{}", "{}👩", "👩{}a"])
    def test_has_joiners_only_where_writing_needs_them(self, joiner: str, around: str) -> None:
        assert joiner not in safe_text(around.format(joiner))

    def test_can_be_held_on_one_line(self) -> None:
        assert safe_text("a\nb\tc", newlines=False) == "a\\u{a}b\tc"

    def test_long_texts_are_gone_through(self) -> None:
        clean, hostile = "some clean text\n" * 200_000, "\x1b" * 1_000_000
        with no_hang():
            assert safe_text(clean) == clean
            assert len(safe_text(hostile)) == 6_000_000


class TestOneLine:
    """A title of two lines breaks a table; a cut inside a character breaks a terminal."""

    @pytest.mark.parametrize(
        ("text", "width", "shown"),
        [
            ("short", 10, "short"),
            ("exactly ten", 11, "exactly ten"),
            ("  two\n\n lines\t\u2028 ", 20, "two lines"),
            ("abcdef", 5, "abcd…"),
            ("ab cdef", 4, "ab…"),
            ("中文字符", 8, "中文字符"),
            ("中文字符", 7, "中文字…"),
            ("中文字符", 6, "中文…"),
            ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
            ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
            ("abc\x1b[31mred", 9, "abc…"),
            ("abc\x1b[31mred", 10, r"abc\u{1b}…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
            ("", 5, ""),
        ],
    )
    def test_folds_and_cuts_by_columns(self, text: str, width: int, shown: str) -> None:
        assert one_line(text, width) == shown

    @given(ANY_TEXT, st.integers(0, 40))
    def test_fits_is_safe_and_has_no_line_end(self, text: str, width: int) -> None:
        line = one_line(text, width)
        assert display_width(line) <= width
        assert safe_text(line) == line
        assert len(line.splitlines()) <= 1

    @given(st.text(st.characters(codec="ascii", categories=["L", "N"])), st.integers(1, 40))
    def test_says_when_something_is_missing(self, text: str, width: int) -> None:
        assert one_line(text, width).endswith("…") == (len(text) > width)

    @pytest.mark.parametrize("text", ["a" * 10**7, "a " * 5 * 10**6, "e" + "\u0301" * 10**6])
    def test_costs_what_is_shown(self, text: str) -> None:
        tracemalloc.start()
        try:
            assert one_line(text, 80).endswith("…")
            assert tracemalloc.get_traced_memory()[1] < 100_000, "no copy of the whole text"
        finally:
            tracemalloc.stop()
