"""What a message of Anthropic's API says of itself: its usage, its id, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.events import ModelResponded, Origin, Usage

_SAID = frozenset({"id", "model", "stop_reason", "usage"})
"""Of these what the event of an answer holds."""


def text_of(value: object) -> str:
    """The value when it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def usage_of(message: Mapping[str, Any]) -> Usage | None:
    """The usage that a message names; None where it has none."""
    found = message.get("usage")
    if not isinstance(found, dict):
        return None

    def count(field: str) -> int:
        value = found.get(field)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    return Usage(
        input=count("input_tokens"),
        cached=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
        output=count("output_tokens"),
        provider=Json(found),
    )


def is_response(message: Any) -> bool:
    """Whether it is a message as the API returns it, and not as it is sent."""
    if not isinstance(message, Mapping):
        return False
    return message.get("type") == "message" and message.get("role") == "assistant"


def as_sent(message: Mapping[str, Any]) -> dict[str, Any]:
    """A returned message as it is sent back: its role and its content."""
    return {k: v for k, v in message.items() if k in ("role", "content")}


def beside(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a returned message holds that no event of an answer does."""
    known = {"role", "content", "type", *_SAID}
    return {k: v for k, v in message.items() if k not in known and v is not None}


def responded(message: Mapping[str, Any], call: int, origin: Origin) -> ModelResponded:
    """The end of a call that gave this message."""
    return ModelResponded(
        call=call,
        response_id=text_of(message.get("id")),
        finish_reason=text_of(message.get("stop_reason")),
        model=text_of(message.get("model")),
        usage=usage_of(message),
        origin=origin,
    )


def calls_of(message: Mapping[str, Any], place: str) -> list[tuple[str, str, str]]:
    """(id, name, what it is paired by) of the tool calls in a message; one without an id is paired
    by its place."""
    content = message.get("content")
    found = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_use":
            call_id = text_of(block.get("id"))
            found.append((call_id, text_of(block.get("name")), call_id or f"@{place}"))
    return found


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The texts in a message."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = [b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    return [text for text in found if isinstance(text, str)]
