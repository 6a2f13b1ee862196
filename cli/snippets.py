"""A little of a text around what was found in it. Pure."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from cli.safetext import ELLIPSIS
from projections.search_query import Query

BEFORE = 60
"""Characters that are shown in front of the first match."""

BEHIND = 240
"""Characters from there on."""

AROUND = 3
"""Lines of an excerpt in front of a match, and behind it."""

LONGEST = 600
"""Characters of a line that an excerpt gives whole."""


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


class Excerpt(NamedTuple):
    """The lines around every match, with what was left out between them told."""

    text: str
    left_out: int
    """Lines."""
    is_cut: bool
    """A line, too, is not there to its end."""


def excerpt(query: Query, text: str) -> Excerpt:
    """The lines in which the matches stand, and ``AROUND`` of them on either side.

    Of a line that is longer than ``LONGEST`` it is what stands around its matches. A text in which
    nothing matches is shown from its beginning.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    spans = _merged(query.spans(text)) or [(0, 0)]
    marks: dict[int, list[tuple[int, int]]] = {}
    wanted: set[int] = set()
    for start, end in spans:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, max(end - 1, start)) - 1
        wanted.update(range(max(first - AROUND, 0), min(last + AROUND + 1, len(lines))))
        for at in range(first, last + 1):
            marks.setdefault(at, []).append((start - starts[at], end - starts[at]))
    shown: list[str] = []
    before, is_cut = -1, False
    for at in sorted(wanted):
        if at - before > 1:
            shown.append(_left_out(at - before - 1))
        line = _cut(lines[at], marks.get(at, []))
        is_cut = is_cut or line != lines[at]
        shown.append(line)
        before = at
    if before < len(lines) - 1:
        shown.append(_left_out(len(lines) - 1 - before))
    return Excerpt("\n".join(shown), len(lines) - len(wanted), is_cut)


def _left_out(count: int) -> str:
    return f"{ELLIPSIS} {count:,} line{'' if count == 1 else 's'} left out"


def _cut(line: str, marks: list[tuple[int, int]]) -> str:
    """A line, or of a long one the parts around its marks."""
    if len(line) <= LONGEST:
        return line
    parts = _merged(
        [(max(a - BEFORE, 0), min(max(b, a) + BEHIND, len(line))) for a, b in marks or [(0, 0)]]
    )
    found = ELLIPSIS.join(line[a:b] for a, b in parts)
    front, back = parts[0][0] > 0, parts[-1][1] < len(line)
    return (ELLIPSIS if front else "") + found + (ELLIPSIS if back else "")


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
