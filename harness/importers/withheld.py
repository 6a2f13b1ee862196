"""What of a recorded request never reaches the log: keys, and whatever may hold one.

Recorders write headers down, and with them the keys that requests are paid with; some mask them,
some do not. Of headers only those named here are kept, of addresses nothing behind the path, and no
field anywhere around the bodies whose name says that it is a secret. The bodies are not touched:
what the model saw is what it saw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

KEPT_HEADERS = frozenset(
    {
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "request-id",
        "retry-after",
        "user-agent",
        "x-request-id",
        "x-should-retry",
    }
)
_NAME = (
    r"authorization|api[-_]?key|cookie|secret|password|credential|bearer"
    r"|(?:access|auth|session|id|refresh)[-_]?token"
)
_SECRET = re.compile(_NAME, re.IGNORECASE)
_IN_TEXT = re.compile(
    rf'("[^"\\]{{0,80}}(?:{_NAME})[^"\\]{{0,80}}"\s{{0,80}}:\s{{0,80}}")(?:[^"\\]|\\.)*',
    re.IGNORECASE,
)
_TOKENS = re.compile(r"\b(?:sk-[\w-]{8,}|Bearer\s+[\w.~+/=-]{8,})", re.IGNORECASE)
_ADDRESS = re.compile(r"^([a-z][a-z+.-]*://)?(?:[^/?#@]*@)?([^?#]*)", re.IGNORECASE)


def without_secrets(value: Any, bodies: frozenset[str], left_out: set[str]) -> Any:
    """A copy of a record without what may hold a key; the fields named as bodies are untouched.

    ``left_out`` gets the names of what was taken away.
    """
    if isinstance(value, list):
        return [without_secrets(each, bodies, left_out) for each in value]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, Any] = {}
    for name, each in value.items():
        if name in bodies:
            kept[name] = each
        elif name == "headers":
            kept[name] = _headers(each, left_out)
        elif name in ("url", "uri", "target") and isinstance(each, str):
            kept[name] = address(each)
        elif name == "queryString" or _SECRET.search(name):
            left_out.add(name)
        else:
            kept[name] = without_secrets(each, bodies, left_out)
    return kept


def address(url: str) -> str:
    """An address up to the end of its path, without a user."""
    found = _ADDRESS.match(url)
    return _TOKENS.sub("[withheld]", f"{found[1] or ''}{found[2]}") if found else ""


def _headers(headers: Any, left_out: set[str]) -> dict[str, Any]:
    """The headers that are kept, from an object or from a list of names and values."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, list):
        for each in headers:
            if isinstance(each, Mapping):
                pairs.append((each.get("name"), each.get("value")))
            elif isinstance(each, list) and len(each) == 2:
                pairs.append((each[0], each[1]))
    kept = {}
    for name, value in pairs:
        if isinstance(name, str) and name.lower() in KEPT_HEADERS:
            kept[name.lower()] = value
        elif isinstance(name, str):
            left_out.add(name.lower()[:80])
    return kept


def text_without_secrets(text: str) -> str:
    """The text of a record that cannot be read, without what looks like a key in it."""
    return _TOKENS.sub("[withheld]", _IN_TEXT.sub(r"\1[withheld]", text))
