"""Texts that a memory holds: one line, clean, and not longer than they need to be."""

from __future__ import annotations

import re

from projections.titles import clean

_LEFT_OUT = "…"
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
"""Also those that turn the direction of writing round: a memory is shown between others."""


def one_line(text: str, most: int) -> str:
    """A text on one line, cut between two code points where it is longer than ``most``."""
    head = text[: 4 * most + 64]
    words = " ".join(_CONTROLS.sub(" ", clean(head)).split())
    if len(words) <= most and len(head) == len(text):
        return words
    return words[: most - 1].rstrip() + _LEFT_OUT
