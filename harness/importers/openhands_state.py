"""What lies beside the events of an OpenHands conversation: its configuration and its bill.

``base_state.json`` (V1) is written over and over, so nothing of it is a record. Of its
configuration a few fields that explain the transcript are kept; keys, tokens and headers never are.
The SDK writes keys as asterisks; a file in which one stands readable is told, without the key.

Source: ``ConversationState`` and ``Metrics`` of OpenHands' SDK.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eventlog import Json
from eventlog.events import Usage
from harness.importers.openhands_messages import text_of
from harness.usage import tokens_in, tokens_of, uncached

_SECRET = re.compile(r"key|token|secret|password|credential|authorization|cookie", re.IGNORECASE)
_NO_SECRET = frozenset({"max_input_tokens", "max_output_tokens", "max_tokens", "keep_first"})
_MASKED = re.compile(r"\**|<redacted>|<hidden>", re.IGNORECASE)

_LLM = (
    "model",
    "temperature",
    "top_p",
    "max_input_tokens",
    "max_output_tokens",
    "reasoning_effort",
    "caching_prompt",
    "native_tool_calling",
)
_CONDENSER = ("kind", "max_size", "max_tokens", "keep_first", "keep_last", "attention_window")
_PLAIN = (str, int, float, bool)


def configuration(state: Mapping[str, Any]) -> dict[str, Any]:
    """What of a base state is kept with the session."""
    agent = _dict(state.get("agent"))
    llm = _plain(_dict(agent.get("llm")), _LLM)
    condenser = condenser_of(state)
    workspace = _dict(state.get("workspace")).get("working_dir")
    found: dict[str, Any] = {
        "agent": text_of(agent.get("kind")),
        "llm": llm,
        "condenser": condenser,
        "workspace": text_of(workspace),
    }
    return {key: value for key, value in found.items() if value}


def condenser_of(state: Mapping[str, Any]) -> dict[str, Any]:
    """The kind and the numbers of the condenser, and the model that it asks."""
    given = _dict(_dict(state.get("agent")).get("condenser"))
    found = _plain(given, _CONDENSER)
    model = _dict(given.get("llm")).get("model")
    return {**found, "model": model} if isinstance(model, str) else found


def model_of(state: Mapping[str, Any]) -> str:
    """The model that the agent asks, by the last state that was written."""
    return text_of(_dict(_dict(state.get("agent")).get("llm")).get("model"))


def usages_of(state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tokens of each answer that the state has a bill of, by the id of the response."""
    found: dict[str, dict[str, Any]] = {}
    stats = _dict(state.get("stats"))
    for by in ("service_to_metrics", "usage_to_metrics"):
        for metrics in _dict(stats.get(by)).values():
            for usage in _list(_dict(metrics).get("token_usages")):
                if isinstance(usage, dict) and isinstance(usage.get("response_id"), str):
                    found.setdefault(usage["response_id"], usage)
    return found


def usage_of(given: Mapping[str, Any] | None) -> Usage | None:
    """Disjoint tokens: ``prompt_tokens`` counts what was read from and written to the cache too."""
    if not given:
        return None

    def count(*fields: str, part: tuple[str, str] | None = None) -> int | None:
        found = [tokens_of(given.get(field)) for field in fields]
        if part is not None:
            found.append(tokens_in(given.get(part[0]), part[1]))
        # A field that the agent always writes says 0 also where another one has the count.
        return next(filter(None, found), 0 if 0 in found else None)

    prompt = count("prompt_tokens")
    read = ("cache_read_tokens", "cache_read_input_tokens")
    cached = count(*read, part=("prompt_tokens_details", "cached_tokens"))
    written = count("cache_write_tokens", "cache_creation_input_tokens")
    together = (cached or 0) + (written or 0) <= (prompt or 0)
    return Usage(
        input=uncached(prompt, cached, written) if together else prompt,
        cached=cached,
        cache_write=written,
        output=count("completion_tokens"),
        reasoning=count("reasoning_tokens", part=("completion_tokens_details", "reasoning_tokens")),
        provider=Json(dict(given)),
    )


def readable_secrets(value: Any) -> list[str]:
    """The names of fields that should be masked and are not, in their order; never what they
    hold."""
    found: list[str] = []
    for path, text in _strings(value, ""):
        if _is_secret(path.rsplit(".", 1)[-1]) and not _MASKED.fullmatch(text):
            found.append(path)
    return found


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and name not in _NO_SECRET


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    stack: list[tuple[str, Any]] = [(path, value)]
    while stack:
        where, node = stack.pop()
        if isinstance(node, dict):
            stack += [(f"{where}.{k}" if where else k, v) for k, v in reversed(node.items())]
        elif isinstance(node, list):
            stack += [(where, each) for each in reversed(node)]
        elif isinstance(node, str):
            yield where, node


def _plain(given: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {k: given[k] for k in fields if isinstance(given.get(k), _PLAIN)}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
