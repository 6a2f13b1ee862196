"""Whether a text repeats what was said before, as a message does that begins with a summary."""

from __future__ import annotations

from collections.abc import Sequence

_LINE = 40
"""Characters of a line that is long enough to be found again by its words."""


def lines_of(text: str) -> list[str]:
    """The lines of a text that can be found again."""
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if len(line) >= _LINE]


def repeats(text: str, lines: Sequence[str]) -> bool:
    """Whether most of these lines stand in a text."""
    return 2 * sum(line in text for line in lines) >= len(lines)
