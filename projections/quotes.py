"""Verbatim quotes of one text in others.

A quote is a run of at least 24 characters inside one line that is a whole line on either side
(blanks at its ends aside), or of at least 120 characters anywhere. So a file that was read and
written again, a title cut from a message and a sentence in a summary are found, and two texts that
share a path or a common phrase are not. It takes time in proportion to the text that is looked
through, whatever is looked for.

``texts_in`` gives every text of a payload, ``content_in`` only what was said, written or read: an
id, a path or a branch that the source noted beside it stands in every record of a session, and is
no quote of any.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from projections.spans import Span

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
        "new",
        "old",
        "item",
        "kind",
        "format",
        "source",
        "ownership",
        "parent_call",
        "parent_session",
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
        "reply_id",
        "salt",
        "template_digest",
        "rendered_digest",
        "area",
        "asked",
        "embedder",
        "how",
        "of",
        "section",
        "stream",
    }
)
"""Fields of events and messages whose text is a name or a seal."""

_LISTS = frozenset(
    {
        "blobs",
        "call_ids",
        "covered",
        "dropped",
        "layout",
        "left_out",
        "manifest",
        "memories",
        "records",
        "shown",
    }
)
"""Fields that hold nothing but names."""

_FREE = frozenset(
    {"entities", "input", "rest", "metadata", "variables", "state", "value", "values"}
)
"""Fields in which every name belongs to somebody else."""


_RECORDED = frozenset({"rest", "metadata", "raw"})
"""Fields that hold what a source noted, beside what was said."""

_CARRYING = frozenset({"raw", "arguments"})
"""Fields that hold JSON as text, of which what it holds is meant."""

_PLACE = re.compile(r"(?:^|_)(?:path|cwd)$|(?:Path|Cwd|CWD)$")
_NOTED = re.compile(
    r"(?:^|_)(?:u?uid|id|branch|version|timestamp|slug|hash|file)$"
    r"|(?:Uuid|UUID|Id|ID|Branch|Version|Timestamp|Hash)$"
)
"""Names of fields whose text says where or which, not what."""

_IDS = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z?")
"""Texts that say nothing by themselves: a UUID, a moment."""


def texts_in(value: Any) -> Iterator[str]:
    """Every text inside a payload, JSON inside strings included; names and ids are passed over."""
    return _walk(value, content=False)


def content_in(value: Any) -> Iterator[str]:
    """The same without ids, paths and other notes of a source that say nothing of what was said.

    Passed over are paths that a tool is called with, and, in what an importer left unmapped, in the
    metadata of a session and in records that were not understood, ids, versions and branches too.
    """
    return _walk(value, content=True)


def _walk(value: Any, *, content: bool) -> Iterator[str]:
    # Beside each node: whether its names are somebody else's, and whether a source noted it.
    stack = [(value, False, False, "")]
    while stack:
        node, free, noted, name = stack.pop()
        if isinstance(node, str):
            if content and noted and _IDS.fullmatch(node):
                continue
            inside: Any = None
            if node[:1] in ("{", "["):
                with contextlib.suppress(EventInvalid):
                    inside = loads(node)
            if inside is not None:
                stack.append((inside, True, noted, name))
            if inside is None or not content or name not in _CARRYING:
                yield node
        elif isinstance(node, dict):
            for key, child in node.items():
                is_text = isinstance(child, str)
                if not free and (key in _LISTS or (is_text and key in _NAMES)):
                    continue
                if content and free and is_text and _PLACE.search(key):
                    continue
                if content and noted and is_text and _NOTED.search(key):
                    continue
                known = noted or (not free and key in _RECORDED)
                stack.append((child, free or key in _FREE, known, key))
        elif isinstance(node, list):
            stack.extend((child, free, noted, name) for child in node)


class Quotes:
    """What can be quoted: some texts, of which at most 200,000 characters are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        # Each line once: a line that stands twice is quoted at one place.
        lines = dict.fromkeys(line.strip() for text in texts for line in text.split("\n"))
        self.text = text = "\n".join(lines)[:_BOUND]
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
        for start, end in self.spans_in(text):
            return self.text[start:end].strip()
        return ""

    def spans_in(self, text: str) -> Iterator[Span]:
        """Which parts of ``self.text`` a text quotes, in the order of the quotes."""
        at = 0
        while at <= len(text) - _GRAM:
            step = _GRAM
            for place in self._at.get(text[at : at + _GRAM], ()):
                found = self._around(text, at, place)
                if found is not None:
                    yield found
                    # Behind it, and on the grid on which a piece of every quote begins.
                    step = max(_GRAM, (found[1] - place) // _GRAM * _GRAM)
                    break
            at += step

    def _around(self, text: str, at: int, place: int) -> Span | None:
        """The quote around a place where both texts agree; None when there is none."""
        own = self.text
        back, most = 0, min(at, place, LONG)
        while back < most and text[at - back - 1] == own[place - back - 1] != "\n":
            back += 1
        ahead, most = _GRAM, min(len(text) - at, len(own) - place, LONG)
        while ahead < most and text[at + ahead] == own[place + ahead] != "\n":
            ahead += 1
        span = place - back, place + ahead
        long = len(text[at - back : at + ahead].strip())
        if long >= LONG:
            return span
        if long < LEAST:
            return None
        whole = _is_line(text, at - back, at + ahead) or _is_line(own, *span)
        return span if whole else None


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether a part of a line is all of it but blanks."""
    before, after = text[max(0, start - _MARGIN) : start], text[end : end + _MARGIN]
    if start > _MARGIN and "\n" not in before:
        return False
    if len(after) == _MARGIN and "\n" not in after:
        return False
    return not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
