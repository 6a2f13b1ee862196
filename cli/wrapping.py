"""Lines in pieces that fit, by columns and not by characters. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.safetext import display_width


def wrapped(line: str, room: int) -> Iterator[str]:
    """A line in pieces of at most so many columns, broken at blanks where there are any."""
    piece, width = "", 0
    for word in line.split(" "):
        for part in _parts(word, room):
            columns = display_width(part)
            joins = piece and width + 1 + columns <= room
            if joins:
                piece, width = f"{piece} {part}", width + 1 + columns
            else:
                if piece:
                    yield piece
                piece, width = part, columns
    yield piece


def _parts(word: str, room: int) -> Iterator[str]:
    """A word that is wider than the room in parts; any other as it is."""
    if len(word) <= room // 2 or display_width(word) <= room:
        yield word
        return
    start, width = 0, 0
    for at, char in enumerate(word):
        columns = display_width(char)
        if width + columns > room:
            yield word[start:at]
            start, width = at, 0
        width += columns
    yield word[start:]
