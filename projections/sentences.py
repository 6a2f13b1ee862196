"""The sentence, or the line, of a text in which something stands. Pure."""

from __future__ import annotations

import re

LONGEST = 320
"""Code points of a sentence that is given whole; of a longer one the part around the place."""

_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？；])")
_END_IN_LONG = re.compile(rf"{_END.pattern}|(?:\\+[nr])+\s*")
"""A longer line is mostly JSON, in whose strings a line ends with an escape."""
_LEFT_OUT = "…"


def sentence_around(text: str, literal: str) -> str:
    """The sentence in which a literal first stands; empty where it does not.

    A sentence ends at its line, but where that ends with a colon; in a line that is too long to be
    given whole also at an escaped end of a line, and what is cut off of one is cut at a word. Runs
    of white space in the literal are equal to any; upper and lower case are, where it stands
    nowhere as it is written.
    """
    words = [re.escape(word) for word in literal.split()]
    if not words:
        return ""
    pattern = r"\s+".join(words)
    found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
    if found is None:
        return ""
    start = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end())
    end = len(text) if end < 0 else end
    # Looked at only near the place: a line can be megabytes long.
    low, high = max(start, found.start() - LONGEST), min(end, found.end() + LONGEST)
    first, last = low, high
    marks = _END_IN_LONG if end - start > LONGEST else _END
    for mark in marks.finditer(text, low, high):
        if mark.end() <= found.start():
            first = mark.end()
        elif mark.start() >= found.end():
            last = mark.start()
            break
    front = back = ""
    if first == low > start:
        front = _LEFT_OUT
        first = 1 + max(text.find(" ", low, found.start()), low - 1)
    if last == high < end:
        back = _LEFT_OUT
        space = text.rfind(" ", found.end(), high)
        last = space if space >= 0 else high
    whole = text[first:last].strip()
    if whole.endswith((":", "：")) and last == end:  # what it announces stands on the next line
        whole += (
            " " + next(filter(None, map(str.strip, text[end:].split("\n", 3)[:3])), "")[:LONGEST]
        )
    return front + " ".join(whole.split()) + back
