"""The bodies of ``cli.report.requests``, put together as the page does it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from cli.report.pieces import Piece

ESCAPED = {1: "[^ -~]", 2: "[^ -~]", 4: "[<>&\u2028\u2029]", 5: "[^ -~]"}
"""What each style escapes beyond ``JSON.stringify``."""


class Table:
    """The long texts of a page."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The number of a text."""
        text.encode()  # a page is UTF-8
        assert len(text) >= 200
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def inside(text: str, style: int) -> str:
    """A text between its quotes, as the page writes it."""
    found = json.dumps(text, ensure_ascii=False)[1:-1]
    if style in ESCAPED:
        found = re.sub(ESCAPED[style], lambda each: escape(each[0]), found)
    return found.replace("/", "\\/") if style == 5 else found


def escape(char: str) -> str:
    units = char.encode("utf-16-be")
    pairs = zip(units[::2], units[1::2], strict=True)
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in pairs)


def joined(pieces: Sequence[Piece | int], texts: Sequence[str]) -> list[str]:
    """Each piece as text."""
    found: list[str] = []
    for piece in pieces:
        if isinstance(piece, int):
            assert isinstance(pieces[piece], tuple)
            found.append(found[piece])
            continue
        parts = []
        for part in piece:
            if isinstance(part, str):
                parts.append(part)
            else:
                style, number = part if isinstance(part, tuple) else (0, part)
                parts.append(inside(texts[number], style))
        found.append("".join(parts))
    return found
