"""A response of OpenAI's Responses API, whole or streamed.

Its output items are one answer. Source: OpenAI's reference of responses and of their streaming
events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.errors import EventInvalid
from eventlog.events import Usage
from eventlog.jsonvalue import loads, value_fault
from harness.exchange.answers import Answer, text_of
from harness.exchange.streams import Streamed, stream_data
from harness.usage import tokens_in, uncached

_ENDED = frozenset({"completed", "incomplete"})
_SAID = frozenset({"id", "model", "object", "output", "usage", "status"})
_ECHOED = frozenset(
    {
        "background",
        "conversation",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
"""Of the request: the answer repeats them."""


def is_answer(value: Any) -> bool:
    """Whether it is a response that ended with output."""
    if not isinstance(value, Mapping) or value.get("object") != "response":
        return False
    return value.get("status", "completed") in _ENDED and isinstance(value.get("output"), list)


def answer_of(response: Mapping[str, Any]) -> Answer:
    """A response as the API returned it."""
    output = [item for item in response["output"] if isinstance(item, Mapping)]
    stopped = response.get("incomplete_details")
    reason = text_of(stopped.get("reason")) if isinstance(stopped, Mapping) else ""
    known = _SAID | _ECHOED
    return Answer(
        {"items": [dict(item) for item in output]},
        is_said=bool(output),
        id=text_of(response.get("id")),
        model=text_of(response.get("model")),
        finish_reason=reason or text_of(response.get("status")),
        usage=usage_of(response.get("usage")),
        rest={k: v for k, v in response.items() if k not in known and v is not None},
    )


def usage_of(found: Any) -> Usage | None:
    """The usage that a response names; None where it names none."""
    if not isinstance(found, Mapping):
        return None
    whole = tokens_in(found, "input_tokens")
    cached = tokens_in(found.get("input_tokens_details"), "cached_tokens")
    if whole is not None and cached is not None:
        cached = min(cached, whole)
    return Usage(
        input=uncached(whole, cached),
        cached=cached,
        output=tokens_in(found, "output_tokens"),
        reasoning=tokens_in(found.get("output_tokens_details"), "reasoning_tokens"),
        provider=Json(dict(found)),
    )


def read_events(text: str) -> Streamed:
    """Put the response of a stream together. Raises nothing, whatever the text is.

    The last event holds the whole response; where it is missing, the items that were done are kept
    beside the failure.
    """
    found = Streamed()
    done: dict[int, Any] = {}
    for piece in stream_data(text):
        try:
            event = loads(piece)
        except EventInvalid:
            event = None
        if value_fault(event, piece.encode("utf-8", "surrogatepass")):
            event = None
        kind = text_of(event.get("type")) if isinstance(event, dict) else ""
        if not isinstance(event, dict) or not kind.startswith(("response.", "error")):
            found.unread.append(piece)
            continue
        _take(found, done, kind, event)
    if not found.complete and done and found.message is not None:
        found.message = {**found.message, "output": [item for _, item in sorted(done.items())]}
    return found


def _take(found: Streamed, done: dict[int, Any], kind: str, event: Mapping[str, Any]) -> None:
    response = event.get("response")
    if kind == "error":
        found.error = {k: v for k, v in event.items() if k != "type" and v is not None}
    elif isinstance(response, dict):
        found.message = response
        if kind in ("response.completed", "response.incomplete"):
            found.complete = True
        elif kind == "response.failed":
            error = response.get("error")
            found.error = error if isinstance(error, dict) else {"message": "it failed"}
    elif kind == "response.output_item.done" and type(event.get("output_index")) is int:
        done[event["output_index"]] = event.get("item")
