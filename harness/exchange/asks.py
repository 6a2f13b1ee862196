"""What of a request, or of an answer, tells to which conversation it belongs. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import Any

from eventlog import messages
from eventlog.messages import SYSTEM_ROLES
from projections import forms
from projections.observe import Request

_SESSION = re.compile(r"session_([0-9A-Za-z-]{8,80})\b")

_LONG = 80
"""Characters of an answer, as JSON, that is not given to two conversations by chance."""

_LONG_ID = 16
"""Characters of a tool call id that is not given twice by chance; some servers count from 1."""

LOOKED_AT = 64
"""Newest messages of a request that are looked at, besides the first: a call costs no history."""

_PROMPT = 4_000
"""Characters of a system prompt by which it is known again, where a time stands in it."""

END = 8
"""Newest messages of a request by which it is known again."""

Keys = tuple[int, bytes, tuple[bytes, ...]]


@dataclass(frozen=True, slots=True)
class Said:
    """A message, as far as it is known again."""

    key: bytes
    ids: tuple[bytes, ...]
    """Of the tool calls that it makes, or gives the results of."""
    is_answer: bool
    """Whether a model said it, or is told to have said it."""
    is_sure: bool
    """Whether another conversation holds the same by no chance."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, as far as it is looked at."""

    size: int
    """How many messages it has, without the system prompt; each tool result is one of them."""
    said: tuple[Said, ...]
    """The newest of them."""
    first: bytes
    """The first one."""
    opening: str
    """Its text."""
    system: frozenset[bytes]
    prompt: str
    """The text of the system prompt, as far as it is compared."""
    tools: frozenset[str]
    session: str
    """The session that the client names in it; else nothing."""

    @property
    def newest_answer(self) -> Said | None:
        """The newest of them that is an answer."""
        return next((each for each in reversed(self.said) if each.is_answer), None)

    @property
    def end(self) -> tuple[bytes, ...]:
        """The last few of them."""
        return tuple(each.key for each in self.said[-END:])

    @property
    def keys(self) -> Keys:
        """Equal for requests that hold the same."""
        return self.size, self.first, tuple(each.key for each in self.said)


def ask_of(request: Request) -> Ask:
    """What a request is told by."""
    entries = request.entries
    leading = list(takewhile(lambda entry: entry.role in SYSTEM_ROLES, entries))
    blocks: list[Any] = []
    for entry in leading:
        content = entry.message.get("content")
        blocks += content if isinstance(content, list) else [content]
    rest = entries[len(leading) :]
    dialect, tools = request.dialect, request.tools if isinstance(request.tools, list) else []
    return Ask(
        len(rest),
        tuple(
            _said(dialect, entry.message, is_answer=entry.role == "assistant")
            for entry in rest[-LOOKED_AT:]
        ),
        key_of(rest[0].message)[0] if rest else b"",
        messages.text(dialect, rest[0].message) if rest else "",
        frozenset(key_of(block)[0] for block in blocks),
        "\n".join(messages.text(dialect, entry.message) for entry in leading)[:_PROMPT],
        frozenset(map(_name, tools)),
        _session_of(request.parameters),
    )


def answered(dialect: str, message: Mapping[str, Any]) -> list[Said]:
    """What came back, as a request holds it later: maybe in several parts."""
    items = message.get("items")
    parts: Sequence[Any] = items if isinstance(items, list) else [message]
    return [_said(dialect, part, is_answer=True) for part in parts if isinstance(part, Mapping)]


def key_of(value: Any) -> tuple[bytes, int]:
    """Equal for what is alike; and how long it is."""
    text = forms.canonical(forms.normalise(value))
    return sha256(text.encode()).digest()[:16], len(text)


def _said(dialect: str, message: Mapping[str, Any], *, is_answer: bool) -> Said:
    key, size = key_of(message)
    found = messages.result_parts(dialect, message)
    ids = [part.id for part in found if part.kind in ("call", "result") and part.id]
    return Said(
        key,
        tuple(sha256(b"id " + each.encode(errors="replace")).digest()[:16] for each in ids),
        is_answer,
        (is_answer and size >= _LONG) or any(len(each) >= _LONG_ID for each in ids),
    )


def _session_of(parameters: Mapping[str, Any]) -> str:
    """The session that a client names in its request, as Claude Code does; else nothing."""
    metadata = parameters.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    if not isinstance(user, str):
        return ""
    if user.lstrip()[:1] == "{":
        try:
            named = json.loads(user)
        except (ValueError, RecursionError):
            return ""
        found = named.get("session_id") if isinstance(named, dict) else None
        return found if isinstance(found, str) else ""
    match = _SESSION.search(user)
    return match[1] if match else ""


def _name(tool: Mapping[str, Any]) -> str:
    """The name of a tool; OpenAI's have it inside."""
    inner = tool.get("function")
    return str(tool.get("name", inner.get("name") if isinstance(inner, Mapping) else None))
