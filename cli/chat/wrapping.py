"""Lines of a terminal, broken between words while the text is still coming. Pure.

Blocks of code stay as they are: whoever copies a line of one gets that line.
"""

from __future__ import annotations

from cli.safetext import display_width

_FENCE = "```"


class Wrapping:
    """One text that has been made safe, on its way into so many columns."""

    def __init__(self, width: int) -> None:
        self._width = max(width, 10)
        self._column = 0
        self._word = ""
        self._line = ""
        """The beginning of the line as it came: it tells where code begins and ends."""
        self._is_code = False

    def take(self, text: str) -> str:
        """What can be shown; a word waits for its end."""
        out = ""
        for char in text:
            if char == "\n":
                out += self.rest() + "\n"
                if self._line.startswith(_FENCE):
                    self._is_code = not self._is_code
                self._column, self._line = 0, ""
                continue
            if len(self._line) < len(_FENCE):
                self._line = (self._line + char).lstrip()
            if self._is_code or self._line.startswith(_FENCE):
                out += self.rest() + char
                self._column = 1
            elif char in " \t":
                out += self.rest()
                if self._column < self._width:  # at the edge none is needed
                    out += " "
                    self._column += 1
            elif display_width(char) == 2:  # scripts without blanks break anywhere
                out += self.rest()
                self._word = char
                out += self.rest()
            else:
                self._word += char
                if len(self._word) > self._width:
                    out += self.rest()
        return out

    def rest(self) -> str:
        """The word that is waiting."""
        word, self._word = self._word, ""
        if not word:
            return ""
        size = display_width(word)
        is_next = bool(self._column) and self._column + size > self._width
        reached = size if is_next else self._column + size
        # What is longer than a line is broken by the terminal.
        self._column = (reached - 1) % self._width + 1 if reached else 0
        return f"\n{word}" if is_next else word
