"""Two texts against each other: the first character that differs, and the words that changed."""

from __future__ import annotations

import difflib
import re

_PIECE = re.compile(r"\s+|\w+|[^\w\s]")
_MOST = 4_000
"""Words of both texts over which only the parts that differ at all are shown: it is quadratic."""

_AROUND = 40
"""Characters that are shown of what is equal, on each side of a change."""

_NEAR = 24
"""Characters that are shown on each side of the first difference."""


def first_difference(left: str, right: str) -> tuple[int, str, str, str]:
    """The place of the first character that differs, what stands before, and what each text goes on
    with."""
    size = min(len(left), len(right))
    at = next((n for n in range(size) if left[n] != right[n]), size)
    return at, left[max(0, at - _NEAR) : at], left[at : at + _NEAR], right[at : at + _NEAR]


def word_diff(left: str, right: str) -> str:
    """``equal [-gone-]{+new+} equal``, with long equal parts cut in the middle."""
    one, other = _PIECE.findall(left), _PIECE.findall(right)
    front = 0
    while front < min(len(one), len(other)) and one[front] == other[front]:
        front += 1
    back = 0
    while back < min(len(one), len(other)) - front and one[-1 - back] == other[-1 - back]:
        back += 1
    inner, their = one[front : len(one) - back], other[front : len(other) - back]
    pieces = [_equal("".join(one[:front]), first=True)]
    if len(inner) + len(their) > _MOST:
        pieces += [_changed(inner, their)]
    else:
        matcher = difflib.SequenceMatcher(None, inner, their, autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            equal = tag == "equal"
            pieces += [_equal("".join(inner[i:j])) if equal else _changed(inner[i:j], their[k:m])]
    pieces.append(_equal("".join(one[len(one) - back :]), last=True))
    return "".join(pieces)


def _changed(gone: list[str], new: list[str]) -> str:
    old, fresh = "".join(gone), "".join(new)
    return (f"[-{old}-]" if old else "") + (f"{{+{fresh}+}}" if fresh else "")


def _equal(text: str, *, first: bool = False, last: bool = False) -> str:
    if len(text) <= 2 * _AROUND + 1:
        return text
    head = "" if first else text[:_AROUND]
    tail = "" if last else text[-_AROUND:]
    return f"{head}…{tail}"
