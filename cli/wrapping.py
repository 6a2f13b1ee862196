"""Lines in pieces that fit, by columns and not by characters. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.safetext import display_width
from cli.style import Style


def wrapped(line: str, room: int, hang: int = 0) -> Iterator[str]:
    """A line in pieces of at most so many columns, broken at blanks where there are any; all but
    the first have ``hang`` columns less."""
    piece, width, left = "", 0, room
    for word in line.split(" "):
        for part in _parts(word, room - hang):
            columns = display_width(part)
            joins = piece and width + 1 + columns <= left
            if joins:
                piece, width = f"{piece} {part}", width + 1 + columns
            else:
                if piece:
                    yield piece
                    left = room - hang
                piece, width = part, columns
    yield piece


def flowed(text: str, style: Style, room: int, *, hang: str = "", lines: int = 40) -> list[str]:
    """Dynamic text, safe and as one paragraph, in pieces of at most so many columns; ``hang``
    stands in front of all but the first. ``…`` ends what would take more than so many lines."""
    line = style.line(text, room)
    whole = style.line(text, lines * max(room - len(hang), 1))
    if line == whole:
        return [line]
    first, *rest = wrapped(whole, room, len(hang) if room > len(hang) else 0)
    return [first, *(f"{hang}{each}" for each in rest)]


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
