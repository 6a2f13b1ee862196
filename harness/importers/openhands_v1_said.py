"""What an event of OpenHands' SDK says as a message, and what of it the message leaves out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.importers import openhands_messages as sdk
from harness.importers.openhands_events import Row, Said, unmapped
from harness.importers.openhands_messages import text_of

_MESSAGE = frozenset(
    {
        "content",
        "name",
        "reasoning_content",
        "reasoning_details",
        "role",
        "thinking_blocks",
        "tool_call_id",
        "tool_calls",
    }
)
_CALL = frozenset({"arguments", "function", "id", "index", "name", "origin", "type"})


def said_by(rows: Sequence[Row]) -> Said:
    """The message of an answer, and what of its records it does not hold."""
    first = rows[0]
    answer = response_of(first)
    if first.kind != "ActionEvent":
        message = sdk.spoken_message(first.value)
        message["role"] = "assistant"
        own = unmapped(first, "source", "llm_message", "extended_content", "llm_response_id")
        origin = first.origin("visible", answer=answer)
        return Said(message, (origin,), {**own, **rest_of_message(first)})
    message = sdk.answer_message([row.value for row in rows])
    records = tuple(row.origin(f"call:{sdk.action_call(row.value)['id']}") for row in rows)
    rests = [_rest_of_action(row) for row in rows]
    rest: object = rests[0] if len(rests) == 1 else rests
    return Said(message, records, rest if any(rests) else None)


def rest_of_message(row: Row) -> dict[str, Any]:
    """What a message says besides what was made of it."""
    given = row.value.get("llm_message")
    given = given if isinstance(given, dict) else {}
    rest = {k: v for k, v in given.items() if k not in _MESSAGE and v not in (None, False, "", [])}
    return {"llm_message": rest} if rest else {}


def _rest_of_action(row: Row) -> dict[str, Any]:
    mapped = ("source", "thought", "tool_name", "tool_call_id", "llm_response_id")
    more = ("reasoning_content", "thinking_blocks", "reasoning_details")
    rest = unmapped(row, *mapped, *more)
    call, action = rest.pop("tool_call", None), rest.pop("action", None)
    arguments = _arguments(sdk.action_call(row.value))
    if isinstance(action, dict):
        kept = {k: v for k, v in action.items() if v is not None and arguments.get(k, ...) != v}
        action = kept if set(kept) - {"kind"} else kept.get("kind")
    if action:
        rest["action"] = action
    if isinstance(call, dict) and sdk.is_call(call):
        call = {k: v for k, v in call.items() if k not in _CALL and v is not None}
    if call:
        rest["tool_call"] = call
    return rest


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(call["function"]["arguments"])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def rest_of_result(row: Row, message: sdk.Message) -> dict[str, Any]:
    """The fields of an observation that its message does not repeat."""
    rest = unmapped(row, "source", "tool_name", "tool_call_id", "action_id", "extended_content")
    texts = {part["text"] for part in message["content"] if part["type"] == "text"}
    observation = rest.pop("observation", None)
    if isinstance(observation, dict):
        observation = {
            key: value
            for key, value in observation.items()
            if value not in (None, "", [], {})
            and not (isinstance(value, str) and value in texts)
            and not (key == "content" and isinstance(value, list))
        }
    if observation:
        rest["observation"] = observation
    for key in ("error", "rejection_reason"):
        if isinstance(rest.get(key), str) and any(rest[key] in text for text in texts):
            del rest[key]
    return rest


def response_of(row: Row) -> str:
    """What the records of one answer share; a record without a response is one of its own."""
    return text_of(row.value.get("llm_response_id")) or row.key
