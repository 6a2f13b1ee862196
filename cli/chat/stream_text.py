"""A text that comes in pieces, made safe for a terminal as it comes. Pure.

What a character becomes depends on those beside it (a joiner belongs into an emoji and nowhere
else), so a piece that ends in such a one waits for the next.
"""

from __future__ import annotations

from cli.safetext import safe_text

_WAITING = ("\r", "\u200c", "\u200d")
_FIRST_FORMAT, _LAST_FORMAT = "\U00013430", "\U0001343f"


class StreamText:
    """One text, on its way."""

    def __init__(self) -> None:
        self._before = ""
        self._held = ""

    def take(self, piece: str) -> str:
        """What can be shown of the text so far and was not yet."""
        text = self._held + piece
        end = len(text)
        while end and _waits(text[end - 1]):
            end -= 1
        self._held = text[end:]
        return self._safe(text[:end])

    def rest(self) -> str:
        """What was waiting; the text is at its end."""
        text, self._held = self._held, ""
        return self._safe(text)

    def _safe(self, text: str) -> str:
        if not text:
            return ""
        text = text.replace("\r\n", "\n")
        before = self._before
        self._before = text[-1]
        return safe_text(before + text)[len(safe_text(before)) :]


def _waits(char: str) -> bool:
    return char in _WAITING or _FIRST_FORMAT <= char <= _LAST_FORMAT
