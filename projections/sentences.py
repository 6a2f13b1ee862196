"""The sentence, or the line, of a text in which something stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from projections.metrics.mentions import MANY, Words

LONGEST = 320
"""Code points of a sentence that is given whole; of a longer one the part around the place."""

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？；])")
_END_IN_LONG = re.compile(rf"{_END.pattern}|(?:\\+[nr])+\s*")
"""A longer line is mostly JSON, in whose strings a line ends with an escape."""
_LEFT_OUT = "…"


def sentences_around(text: str, literals: Collection[str]) -> dict[str, str]:
    """The sentence of each literal that stands in a text; it costs one walk over a long text.

    Where it first stands as a whole word, else where it first stands at all: see
    ``sentence_around``.
    """
    found = {}
    for literal, low in _from(text, literals):
        sentence = sentence_around(text, literal, low)
        if sentence:
            found[literal] = sentence
    return found


def _from(text: str, literals: Collection[str]) -> Iterable[tuple[str, int]]:
    """Each literal with the place from which on it is found."""
    if len(literals) <= MANY:
        yield from ((literal, 0) for literal in literals)
        return
    words, ends = Words(" ".join(text.split())), Words.ends(text)
    for literal in literals:
        first = words.first(" ".join(literal.split()))
        yield literal, ends[first - 1] if first else 0


def sentence_around(text: str, literal: str, low: int = 0) -> str:
    """The sentence in which a literal first stands from a place on; empty where it does not.

    A sentence ends at its line, but where that ends with a colon; in a line that is too long to be
    given whole also at an escaped end of a line, and what is cut off of one is cut at a word. Runs
    of white space in the literal are equal to any; upper and lower case are, where it stands
    nowhere as it is written.
    """
    words = literal.split()
    if not words:
        return ""
    place = _place(text, words, low)
    if place is None:
        return ""
    at, behind = place
    # Looked at only near the place: a line can be megabytes long.
    start = text.rfind("\n", max(0, at - LONGEST - 1), at) + 1
    end = text.find("\n", behind, behind + LONGEST + 1)
    end = len(text) if end < 0 else end
    near, high = max(start, at - LONGEST), min(end, behind + LONGEST)
    first, last = near, high
    marks = _END_IN_LONG if end - start > LONGEST else _END
    for mark in marks.finditer(text, near, high):
        if mark.end() <= at:
            first = mark.end()
        elif mark.start() >= behind:
            last = mark.start()
            break
    front = back = ""
    if first == near > start:
        front = _LEFT_OUT
        first = 1 + max(text.find(" ", near, at), near - 1)
    if last == high < end:
        back = _LEFT_OUT
        space = text.rfind(" ", behind, high)
        last = space if space >= 0 else high
    whole = text[first:last].strip()
    if whole.endswith((":", "：")) and last == end:  # what it announces stands on the next line
        lines = text[end : end + 4 * LONGEST].split("\n", 3)[:3]
        whole += " " + next(filter(None, map(str.strip, lines)), "")[:LONGEST]
    return front + " ".join(whole.split()) + back


def _place(text: str, words: list[str], low: int) -> tuple[int, int] | None:
    """Where some words first stand, with any white space between."""
    if len(words) == 1:  # to compile a pattern for each costs more than to look
        at = text.find(words[0], low)
        if at >= 0:
            return at, at + len(words[0])
    pattern = r"\s+".join(map(re.escape, words))
    found = re.compile(pattern).search(text, low)
    found = found or re.compile(pattern, re.IGNORECASE).search(text, low)
    return found.span() if found is not None else None
