"""What of a recorded request never reaches the log: keys, and whatever may hold one.

Recorders write headers down, and with them the keys that requests are paid with; some mask them,
some do not. Of headers only those named here are kept, of addresses nothing behind the path, and no
field anywhere around the bodies whose name says that it is a secret. Of a body what the model is
given is not touched: it saw what it saw. Among its parameters keys do stand (those of MCP servers,
of headers that a gateway is to add); a request without them is not the one that was sent.
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
WITHHELD = "[withheld]"
_ADDRESS_NAME = re.compile(r"(?:^|_)ur[li]$", re.IGNORECASE)
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
            left_out.add(name[:80])
        else:
            kept[name] = without_secrets(each, bodies, left_out)
    return kept


def body_without_secrets(body: dict[str, Any], left_out: set[str]) -> dict[str, Any]:
    """A request whose parameters hold no key; the same object where none held one."""
    kept = {name: _given(name, each, left_out) for name, each in body.items()}
    return body if kept == body else kept


def _given(name: str, value: Any, left_out: set[str]) -> Any:
    if name in ("messages", "system"):
        return value
    if name == "tools" and isinstance(value, list):  # in a schema such a name is no secret
        return [
            _parameter("", tool, left_out)
            if isinstance(tool, Mapping) and tool.get("type") == "mcp"
            else tool
            for tool in value
        ]
    return _parameter(name, value, left_out)


def _parameter(name: str, value: Any, left_out: set[str]) -> Any:
    if isinstance(value, list):
        return [_parameter(name, each, left_out) for each in value]
    if isinstance(value, Mapping):
        if name.lower().endswith("headers"):
            return _headers(value, left_out)
        return {key: _parameter(key, each, left_out) for key, each in value.items()}
    if not isinstance(value, str):
        return value
    shown = value
    if _SECRET.search(name):
        shown = WITHHELD
    elif _ADDRESS_NAME.search(name):
        shown = address(value)
    if shown != value:
        left_out.add(name[:80])
    return shown


def address(url: str) -> str:
    """An address up to the end of its path, without a user."""
    found = _ADDRESS.match(url)
    return _TOKENS.sub(WITHHELD, f"{found[1] or ''}{found[2]}") if found else ""


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
    return _TOKENS.sub(WITHHELD, _IN_TEXT.sub(r"\1[withheld]", text))
