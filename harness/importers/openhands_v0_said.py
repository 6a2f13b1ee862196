"""What of an OpenHands V0 event its message leaves out, and the bill that it carries.

Each event repeats the completion and the running totals of the whole session; of these only what
belongs to its own answer is kept, or the log would grow with the square of the session.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeGuard

from harness.importers import openhands_v0_messages as v0
from harness.importers.openhands_events import Row, unmapped
from harness.importers.openhands_messages import Message, text_of

_TOTALS = ("costs", "response_latencies", "token_usages")
_OF_COMPLETION = frozenset({"choices", "id", "model", "usage"})
_OF_MESSAGE = frozenset({"content", "role", "tool_calls"})


def rest_of(row: Row, message: Message, *mapped: str) -> dict[str, Any]:
    """The fields of an event that its message does not hold; ``mapped`` are held elsewhere."""
    rest = unmapped(row, "action", "observation", "cause", *mapped)
    if row.value.get("cause") is not None:
        rest["cause"] = row.value["cause"]
    texts = [p["text"] for p in message.get("content") or () if p.get("type") == "text"]
    for key in ("content", "message"):
        if isinstance(rest.get(key), str) and any(rest[key] in text for text in texts):
            del rest[key]
    for key in ("args", "extras"):
        if isinstance(rest.get(key), dict):
            rest[key] = _said_less(rest[key], texts, mapped)
    if isinstance(rest.get("tool_call_metadata"), dict):
        rest["tool_call_metadata"] = _metadata(rest["tool_call_metadata"])
    if isinstance(rest.get("llm_metrics"), dict):
        rest["llm_metrics"] = _own(rest["llm_metrics"], text_of(v0.completion(row.value).get("id")))
    return {key: value for key, value in rest.items() if value not in ({}, None)}


def _said_less(
    given: Mapping[str, Any], texts: Collection[str], mapped: Collection[str]
) -> dict[str, Any]:
    return {
        key: value
        for key, value in given.items()
        if key not in mapped
        and value not in (None, "", [], {})
        and not (isinstance(value, str) and any(value in text for text in texts))
    }


def _metadata(given: Mapping[str, Any]) -> dict[str, Any]:
    """What stands beside a call: of the completion what the answer does not hold."""
    response = v0.fields(given.get("model_response"))
    kept = {k: v for k, v in response.items() if k not in _OF_COMPLETION and v is not None}
    choices = response.get("choices")
    choices = choices if isinstance(choices, list) else []
    if choices:
        said = v0.fields(v0.fields(choices[0]).get("message"))
        more = {k: v for k, v in said.items() if k not in _OF_MESSAGE and v is not None}
        kept.update({"message": more} if more else {})
        kept.update({"choices": choices[1:]} if choices[1:] else {})
    rest = {k: v for k, v in given.items() if k not in ("model_response", "tool_call_id")}
    return {**rest, "model_response": kept} if kept else rest


def _own(metrics: Mapping[str, Any], response: str) -> dict[str, Any]:
    """The totals so far, and of the lists what names the answer, or is the newest."""
    found = {key: value for key, value in metrics.items() if key not in _TOTALS}
    for key in _TOTALS:
        listed = metrics.get(key)
        entries = [each for each in listed if isinstance(each, dict)] if _is_list(listed) else []
        named = [each for each in entries if response and each.get("response_id") == response]
        if named or entries:
            found[key] = named or entries[-1:]
    return found


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def metrics_of(
    event: Mapping[str, Any], response: str, billed: Collection[str]
) -> Mapping[str, Any]:
    """The tokens of an answer in the running totals: those of its response, else the newest ones
    that no earlier answer had."""
    usages = v0.fields(event.get("llm_metrics")).get("token_usages")
    found = [usage for usage in usages if isinstance(usage, dict)] if _is_list(usages) else []
    if response:
        return next((u for u in reversed(found) if u.get("response_id") == response), {})
    newest: Mapping[str, Any] = found[-1] if found else {}
    own = text_of(newest.get("response_id"))
    return newest if own and own not in billed else {}
