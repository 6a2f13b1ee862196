"""A message as Anthropic's API returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.events import Usage
from harness.exchange.answers import Answer, text_of
from harness.usage import tokens_of

_SAID = frozenset({"id", "model", "stop_reason", "usage"})
"""Of these what the event of an answer holds."""


def usage_of(message: Mapping[str, Any]) -> Usage | None:
    """The usage that a message names; None where it has none."""
    found = message.get("usage")
    if not isinstance(found, dict):
        return None

    return Usage(
        input=tokens_of(found.get("input_tokens")),
        cached=tokens_of(found.get("cache_read_input_tokens")),
        cache_write=tokens_of(found.get("cache_creation_input_tokens")),
        output=tokens_of(found.get("output_tokens")),
        provider=Json(found),
    )


def is_response(message: Any) -> bool:
    """Whether it is a message as the API returns it, and not as it is sent."""
    if not isinstance(message, Mapping):
        return False
    return message.get("type") == "message" and message.get("role") == "assistant"


def answer_of(message: Mapping[str, Any]) -> Answer:
    """A message as the API returned it."""
    known = {"role", "content", "type", *_SAID}
    managed = message.get("context_management")
    is_edited = isinstance(managed, dict) and bool(managed.get("applied_edits"))
    return Answer(
        {k: v for k, v in message.items() if k in ("role", "content")},
        is_said=bool(message.get("content")),
        id=text_of(message.get("id")),
        model=text_of(message.get("model")),
        finish_reason=text_of(message.get("stop_reason")),
        usage=usage_of(message),
        edits=("context_management",) if is_edited else (),
        rest={k: v for k, v in message.items() if k not in known and v is not None},
    )
