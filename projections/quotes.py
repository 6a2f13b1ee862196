"""Verbatim quotes of one text in others.

A quote is a run of at least 24 characters inside one line that is a whole line on either side
(blanks at its ends aside), or of at least 120 characters anywhere. So a file that was read and
written again, a title cut from a message and a sentence in a summary are found, and two texts that
share a path or a common phrase are not. It takes time in proportion to the text that is looked
through, whatever is looked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads

LEAST = 24
"""Characters of the shortest quote."""

LONG = 120
"""Characters of a quote that need not be a line."""

_GRAM = 12
"""A run of ``LEAST`` characters holds a piece of this length that begins at a multiple of it."""

_PLACES = 4
_BOUND = 200_000
_VARIETY = 4
_MARGIN = 200

_NAMES = frozenset(
    {
        "id",
        "type",
        "role",
        "name",
        "item",
        "dialect",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "signature",
        "encrypted_content",
        "request_digest",
        "response_id",
        "wire_digest",
        "wire_salt",
        "model",
        "pass_id",
    }
)
"""Fields of events and messages whose text is a name or a seal."""

_LISTS = frozenset({"blobs", "records", "manifest", "covered", "layout"})
"""Fields that hold nothing but names."""

_FREE = frozenset({"input", "rest", "metadata"})
"""Fields in which every name belongs to somebody else."""


def texts_in(value: Any) -> Iterator[str]:
    """Every text inside a payload, JSON inside strings included; names and ids are passed over."""
    stack = [(value, False)]
    while stack:
        node, free = stack.pop()
        if isinstance(node, str):
            yield node
            if node[:1] in ("{", "["):
                with contextlib.suppress(EventInvalid):
                    stack.append((loads(node), True))
        elif isinstance(node, dict):
            for key, child in node.items():
                is_name = key in _LISTS or (key in _NAMES and isinstance(child, str))
                if free or not is_name:
                    stack.append((child, free or key in _FREE))
        elif isinstance(node, list):
            stack.extend((child, free) for child in node)


class Quotes:
    """What can be quoted: some texts, of which at most 200,000 characters are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = text = "\n".join(dict.fromkeys(texts))[:_BOUND]
        self._at: dict[str, list[int]] = {}
        for at in range(len(text) - _GRAM + 1):
            gram = text[at : at + _GRAM]
            if "\n" in gram or len(set(gram)) < _VARIETY:
                continue
            places = self._at.setdefault(gram, [])
            if len(places) < _PLACES:
                places.append(at)

    def first_in(self, text: str) -> str:
        """The first quote in a text; empty when there is none."""
        for at in range(0, len(text) - _GRAM + 1, _GRAM):
            for place in self._at.get(text[at : at + _GRAM], ()):
                quote = self._around(text, at, place)
                if quote:
                    return quote
        return ""

    def _around(self, text: str, at: int, place: int) -> str:
        """The quote around a place where both texts agree; empty when there is none."""
        own = self._text
        back, most = 0, min(at, place, LONG)
        while back < most and text[at - back - 1] == own[place - back - 1] != "\n":
            back += 1
        ahead, most = _GRAM, min(len(text) - at, len(own) - place, LONG)
        while ahead < most and text[at + ahead] == own[place + ahead] != "\n":
            ahead += 1
        run = text[at - back : at + ahead].strip()
        if len(run) >= LONG:
            return run
        if len(run) < LEAST:
            return ""
        whole = _is_line(text, at - back, at + ahead) or _is_line(own, place - back, place + ahead)
        return run if whole else ""


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether a part of a line is all of it but blanks."""
    before, after = text[max(0, start - _MARGIN) : start], text[end : end + _MARGIN]
    if start > _MARGIN and "\n" not in before:
        return False
    if len(after) == _MARGIN and "\n" not in after:
        return False
    return not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
