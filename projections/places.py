"""Every text of a payload with its place: values and names alike. Pure.

``quotes.texts_in`` gives what was said; here is all else too that a person, a model or a provider
can have chosen: ids, names of tools, labels, names of fields. Passed over is what a program writes:
the words of our own events and of the dialects, and references to items.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

LEAST = 8
"""Characters of the shortest text that counts inside binary data, where anything stands."""

Path = tuple[str, ...]


class Place(NamedTuple):
    """A text, and the names of the fields that lead to it."""

    path: Path
    text: str


_WORD = re.compile(r"[A-Za-z]{1,40}(?:_[A-Za-z0-9]{1,40}){0,6}", re.ASCII)
_CHOICES = frozenset({"type", "role", "status", "media_type", "dialect", "kind", "ownership"})
_CHOICES_TOO = frozenset({"source", "detail"})
_DIGESTS = frozenset(
    {
        "request_digest",
        "wire_digest",
        "wire_salt",
        "prompt_digest",
        "salt",
        "template_digest",
        "rendered_digest",
    }
)
_HEX = re.compile(r"[0-9a-f]{16,}", re.ASCII)
_ITEMS = frozenset({"item", "rendition", "after", "asked"})
_ITEM = re.compile(r"[0-9][0-9a-z.@/-]*", re.ASCII)
_REASONS = frozenset({"no_gain", "empty", "failed", "refused", "inflated", "over_budget"})
_REFERENCES = frozenset(
    {
        "blobs",
        "covered",
        "dropped",
        "items",
        "layout",
        "left_out",
        "manifest",
        "memories",
        "result",
        "shown",
    }
)
_THEIRS = frozenset(
    {
        "input",
        "rest",
        "metadata",
        "properties",
        "provider",
        "$defs",
        "variables",
        "state",
        "value",
        "values",
    }
)
"""Fields whose value has names that somebody else chose."""


def places(payload: Any) -> Iterator[Place]:
    """The texts of a payload, as it is stored."""
    stack: list[tuple[Any, Path, bool]] = [(payload, (), False)]
    while stack:
        node, path, free = stack.pop()
        if isinstance(node, str):
            if free or not _is_ours(node, path):
                yield Place(path, node)
        elif isinstance(node, dict):
            for name, child in node.items():
                if free or (path and path[-1] in _THEIRS) or not _WORD.fullmatch(name):
                    yield Place((*path, "(name)"), name)
                if name in _REFERENCES and path in ((), ("summarizer",)):
                    continue
                deep = free or (name in _THEIRS and name != "properties")
                stack.append((child, (*path, name), deep))
        elif isinstance(node, list):
            stack.extend((child, path, free) for child in node)


def _is_ours(text: str, path: Path) -> bool:
    name = path[-1] if path else ""
    if path == ("role",):  # of a prompt template: anybody's word
        return False
    if name in _CHOICES or name in _CHOICES_TOO:
        return _WORD.fullmatch(text) is not None
    if name in _DIGESTS:
        return _HEX.fullmatch(text) is not None
    if name in _ITEMS:
        return _ITEM.fullmatch(text) is not None
    return name == "reason" and text in _REASONS


def is_word(text: str) -> bool:
    """Whether a text could be a word of a format, such as the name of a field."""
    return _WORD.fullmatch(text) is not None


# -- what reads a kept text ---------------------------------------------------------------------

_CALL_IDS = frozenset({"call_id", "call_ids", "id", "old", "new", "parent_call", "pairs"})
_CALL_IDS_TOO = frozenset({"tool_call_id", "tool_use_id"})
_LINKS = frozenset({"parent", "parent_session"})
_MEMORIES = {"stream": "source", "of": "of"}


def named(path: Path) -> tuple[str, str]:
    """The field at a place, for a person, and what it is kept for in an erased event."""
    name = path[-1] if path else ""
    if "records" in path:
        return f"origin {name}", "which the source is counted by"
    if path[:1] == ("by",):
        return "by", "which decisions are told apart by"
    if path[:1] == ("tasks",):
        return f"task {name}", "which tasks are told apart by"
    if name in _CALL_IDS or name in _CALL_IDS_TOO:
        return "call id", "which pairs calls with results"
    if name == "name":
        return "tool name", "which calls are read by"
    if name == "model":
        return "model", "which requests are made of"
    if name == "format":
        return "format", "which counting needs"
    if name == "pass_id":
        return "pass id", "which decisions are undone by"
    if name in _MEMORIES:
        return _MEMORIES[name], "which tells where a memory came from, or stands"
    if name in _LINKS:
        return name, "which sessions are linked by"
    return name, "which the log cannot be read without"


# -- binary data --------------------------------------------------------------------------------

_RUN = re.compile(
    rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
    rb"|[\xf0-\xf4][\x80-\xbf]{3}){%d,}" % LEAST
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{40,}={0,2}", re.ASCII)


def runs_in(data: bytes) -> Iterator[str]:
    """The texts inside binary data: runs of what can be read, of eight characters and more."""
    for run in _RUN.finditer(data):
        yield run[0].decode("utf-8", "replace")


def inside(text: str) -> Iterator[str]:
    """The texts inside a value that is base64, as it is or as a ``data:`` URL."""
    encoded = text.partition(";base64,")[2] if text.startswith("data:") else text
    if len(encoded) < 40 or not _BASE64.fullmatch(encoded):
        return
    plain = encoded.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    try:
        data = base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return
    yield from runs_in(data)
