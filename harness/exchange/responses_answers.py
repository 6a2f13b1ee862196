"""A response of OpenAI's Responses API: its output items are one answer.

Source: OpenAI's reference of responses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.events import Usage
from harness.exchange.answers import Answer, text_of
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
