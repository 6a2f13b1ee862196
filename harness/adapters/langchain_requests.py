"""A request that LangChain makes of a chat model, and its answer, as OpenAI's chat has them.

LangChain has one shape of messages for all providers, and it is near to that one. What has no place
there is kept as it is: blocks of content, reasoning among them, and calls whose arguments are no
JSON. What a chat model makes of it for its provider is not seen here.

Source: langchain 1.5.2, langchain-core 1.8.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from eventlog.events import Usage
from eventlog.jsonvalue import Json
from harness.exchange.answers import Answer
from projections.asked import TOLD_BY

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}

_CALLS = frozenset({"tool_use", "tool_call", "invalid_tool_call", "function_call"})
"""Blocks of content that say again what stands among the calls of the message."""


def body_of(request: ModelRequest[Any], framework: str) -> dict[str, Any]:
    """The request as a body of OpenAI's chat; ``framework`` is who tells of it."""
    model = request.model
    known = model._get_ls_params()
    parameters = {k.removeprefix("ls_"): v for k, v in known.items() if k != "ls_model_name"}
    parameters |= request.model_settings
    if request.tool_choice is not None:
        parameters["tool_choice"] = request.tool_choice
    if request.response_format is not None:
        parameters["response_format"] = _format(request.response_format)
    body: dict[str, Any] = {
        **json.loads(
            json.dumps(parameters, default=str)
        ),  # Python's objects as they call themselves
        "model": known.get("ls_model_name") or type(model).__name__,
        TOLD_BY: framework,
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    first = [request.system_message] if request.system_message is not None else []
    body["messages"] = [message_of(message) for message in (*first, *request.messages)]
    return body


def message_of(message: BaseMessage) -> dict[str, Any]:
    """One message."""
    found: dict[str, Any] = {"role": _ROLES.get(message.type, getattr(message, "role", "user"))}
    content = message.content
    if isinstance(message, ToolMessage):
        found["tool_call_id"] = message.tool_call_id
        if message.status == "error":
            found["is_error"] = True
    if isinstance(message, AIMessage):
        calls = [_call(c["id"], c["name"], json.dumps(c["args"])) for c in message.tool_calls]
        calls += [_call(c["id"], c["name"], c["args"]) for c in message.invalid_tool_calls]
        if calls:
            found["tool_calls"] = calls
        if isinstance(content, list):
            content = [block for block in content if not _is_call(block)]
    if message.name:
        found["name"] = message.name
    return {**found, "content": content}


def answer_of(result: Sequence[BaseMessage]) -> Answer | None:
    """What the model said; None where it is no message of a model."""
    said = next((message for message in result if isinstance(message, AIMessage)), None)
    if said is None:
        return None
    told = said.response_metadata
    names = ("finish_reason", "stop_reason", "status", "done_reason")
    return Answer(
        message_of(said),
        id=str(told.get("id") or said.id or ""),
        model=str(told.get("model_name") or told.get("model") or ""),
        finish_reason=next((str(told[name]) for name in names if told.get(name)), ""),
        usage=_usage(said),
    )


def _usage(said: AIMessage) -> Usage | None:
    found = said.usage_metadata
    if found is None:
        return None
    read, spent = found.get("input_token_details", {}), found.get("output_token_details", {})
    cached, written = read.get("cache_read") or 0, read.get("cache_creation") or 0
    return Usage(
        input=max(0, found["input_tokens"] - cached - written),
        cached=cached,
        cache_write=written,
        output=found["output_tokens"],
        reasoning=spent.get("reasoning") or 0,
        provider=Json(dict(found)),
    )


def _call(call: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    function = {"name": name or "", "arguments": arguments or ""}
    return {"type": "function", "id": call or "", "function": function}


def _is_call(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _CALLS


def _tool(tool: BaseTool | dict[str, Any]) -> dict[str, Any]:
    return dict(tool) if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _format(given: Any) -> dict[str, Any]:
    """What the answer shall look like: by which strategy, and the schemas."""
    specs = getattr(given, "schema_specs", None) or [getattr(given, "schema_spec", None)]
    schemas = [spec.json_schema for spec in specs if spec is not None]
    if not schemas:
        schema = getattr(given, "schema", given)
        schemas = [schema if isinstance(schema, dict) else convert_to_openai_tool(schema)]
    return {"strategy": type(given).__name__, "schemas": schemas}
