"""A little of a text around what was found in it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from cli.safetext import ELLIPSIS
from projections.search_query import Query

BEFORE = 60
"""Characters that are shown in front of the first match."""

BEHIND = 240
"""Characters from there on."""


class Snippet(NamedTuple):
    """One line, not made safe yet, and where in it the matches stand."""

    text: str
    marks: list[tuple[int, int]]


def snippet(query: Query, text: str) -> Snippet:
    """The surroundings of the first match: white space of every kind is one blank."""
    first = query.first_in(text) or (0, 0)
    start = max(0, first[0] - BEFORE)
    end = min(len(text), max(first[1], start + BEFORE + BEHIND))
    # With a character more on either side, so that a word that is cut there is not taken for one.
    low, high = max(0, start - 1), min(len(text), end + 1)
    inside = [
        (low + a, low + b)
        for a, b in query.spans(text[low:high])
        if start <= low + a and low + b <= end
    ]
    line, places = _folded(text[start:end])
    front = ELLIPSIS if start else ""
    marks = [
        (places[a - start] + len(front), places[b - 1 - start] + 1 + len(front))
        for a, b in _merged(inside)
    ]
    back = ELLIPSIS if end < len(text) else ""
    return Snippet(front + line + back, marks)


def _folded(text: str) -> tuple[str, list[int]]:
    """The text on one line, and for each of its characters the place there."""
    kept: list[str] = []
    places: list[int] = []
    for char in text:
        blank = char.isspace()
        if blank and (not kept or kept[-1] == " "):
            places.append(max(len(kept) - 1, 0))
            continue
        places.append(len(kept))
        kept.append(" " if blank else char)
    return "".join(kept), places


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found
