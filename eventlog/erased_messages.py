"""What is left of an erased message: its role, its calls with their ids and names, and no text.

It stays a message of its dialect, part for part, so that a context rendered from it is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

REDACTED = "[redacted]"
"""What stands where text stood."""

Payload = dict[str, Any]


def message(dialect: str, value: Any) -> Any:
    """A message, or a merge patch of one, with its role and its calls and no text."""
    if not isinstance(value, dict):
        return {"role": "user", "content": REDACTED}
    if dialect == "openai_responses":
        if isinstance(value.get("items"), list):
            return {"items": [_responses(item, "assistant") for item in value["items"]]}
        return _responses(value, "user")
    if dialect == "anthropic":
        return _content({"content": REDACTED, **_named(value, ("role",))}, value, block)
    return _chat(value)


def guess(value: Any) -> str:
    """A revision does not say its dialect: by what only one of them has."""
    if not isinstance(value, dict):
        return ""
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    kinds = {str(block.get("type")) for block in blocks if isinstance(block, dict)}
    if "items" in value or "type" in value or "output" in value or kinds & _RESPONSES_TEXT:
        return "openai_responses"
    return "anthropic" if kinds & {"tool_use", "tool_result", "thinking"} else ""


_RESPONSES_TEXT = {"input_text", "output_text"}


def _named(value: Mapping[str, Any], names: tuple[str, ...]) -> Payload:
    return {name: value[name] for name in names if isinstance(value.get(name), str)}


def _content(kept: Payload, value: Mapping[str, Any], part: Callable[[Any], Any]) -> Payload:
    content = value.get("content")
    if isinstance(content, list) and content:
        kept["content"] = [part(block) for block in content]
    elif content is not None:
        kept["content"] = REDACTED
    elif "content" in value:
        kept["content"] = kept.get("content")
    return kept


def _plain(block: Any) -> Payload:
    return {"type": "text", "text": REDACTED}


def block(block: Any) -> Payload:
    """One of Anthropic's blocks."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        return {"type": kind, **_named(block, ("id", "name")), "input": {}}
    if kind == "tool_result":
        kept = {"type": kind, **_named(block, ("tool_use_id",)), "content": REDACTED}
        return {**kept, "is_error": True} if block.get("is_error") is True else kept
    return _plain(block)


def _chat(value: Mapping[str, Any]) -> Payload:
    kept = _named(value, ("role",))
    if kept.get("role") in ("tool", "function"):
        kept.update(_named(value, ("tool_call_id", "name")))
    for name in ("reasoning_content", "reasoning", "refusal"):
        if value.get(name) and isinstance(value[name], str):
            kept[name] = REDACTED
    _content(kept, value, _plain)
    if isinstance(value.get("tool_calls"), list):
        kept["tool_calls"] = [_call(call) for call in value["tool_calls"] if isinstance(call, dict)]
    if isinstance(value.get("function_call"), dict):
        kept["function_call"] = {**_named(value["function_call"], ("name",)), "arguments": "{}"}
    if kept.get("content") is None and not any(map(kept.get, ("tool_calls", "function_call"))):
        kept["content"] = REDACTED
    return kept


def _call(call: Mapping[str, Any]) -> Payload:
    kept: Payload = _named(call, ("id", "type"))
    inner: Payload
    for kind, field, empty in (("function", "arguments", "{}"), ("custom", "input", REDACTED)):
        if isinstance(call.get(kind), dict):
            inner = _named(call[kind], ("name",))
            kept[kind] = {**inner, field: empty}
    return kept


def _responses(item: Any, role: str) -> Payload:
    if not isinstance(item, dict):
        return _said(role)
    kind = item.get("type")
    if kind in (None, "message"):
        named = _named(item, ("type", "role"))
        text = "output_text" if named.get("role", role) == "assistant" else "input_text"
        return _content(named, item, lambda block: {"type": text, "text": REDACTED})
    named = _named(item, ("type", "call_id", "name"))
    if kind == "function_call":
        return {**named, "arguments": "{}"}
    if kind == "custom_tool_call":
        return {**named, "input": REDACTED}
    if kind == "tool_search_call":
        return {**named, "arguments": {}}
    if kind == "local_shell_call":
        action = {"type": "exec", "command": [], "env": {}}
        return {**named, **_named(item, ("id", "status")), "action": action}
    if isinstance(kind, str) and kind.endswith("_output"):
        return {**named, "output": REDACTED}
    # A thought, a search, a picture: bound to an id or a signature that holds for other bytes.
    return _said(role if kind == "agent_message" else "assistant")


def _said(role: str) -> Payload:
    text = "output_text" if role == "assistant" else "input_text"
    content = [{"type": text, "text": REDACTED}]
    return {"type": "message", "role": role, "content": content}


def tool(dialect: str, tool: Mapping[str, Any]) -> Payload:
    """The definition of a tool: its name."""
    kept = _named(tool, ("type", "name"))
    empty = {"type": "object", "properties": {}}
    if dialect == "anthropic":
        return (
            kept if "type" in kept and kept["type"] != "custom" else {**kept, "input_schema": empty}
        )
    if dialect == "openai_responses":
        return {**kept, "parameters": empty} if kept.get("type") == "function" else kept
    for kind in ("function", "custom"):
        if isinstance(tool.get(kind), dict):
            kept[kind] = _named(tool[kind], ("name",))
    return kept


def either(dialect: str, value: Any) -> Any:
    """A message, or the bare block that Anthropic's tool results are."""
    if isinstance(value, dict) and "role" not in value and value.get("type") == "tool_result":
        return block(value)
    return message(dialect, value)
