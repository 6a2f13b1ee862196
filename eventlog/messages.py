"""The stored message, read in whatever dialect it was written.

A message is kept exactly as it was received. Everything else in the project (legality, rendering
into another dialect, counting, searching, showing) reads it through one neutral shape: a tuple of
parts.

Dialects and what one stored message is in each:

* ``openai_chat``: one entry of ``messages``, ``{"role": …, "content": …, "tool_calls": […]}``
* ``openai_responses``: one input or output item, or all output items of one answer as
  ``{"items": […]}``
* ``anthropic``: ``{"role": …, "content": str | [blocks]}``; the system prompt has role ``system``

A tool result is stored apart (``ToolResultRecorded``); its native form is the ``tool`` message, the
``function_call_output`` item, or the ``tool_result`` block.

Sources: OpenAI API reference (chat completions, responses) and Anthropic Messages API, 2026-11.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

Dialect = Literal["openai_chat", "openai_responses", "anthropic"]
PartKind = Literal["text", "thinking", "call", "result", "media", "other"]

SYSTEM_ROLES = frozenset({"system", "developer"})


class Part(NamedTuple):
    """One piece of a message."""

    kind: PartKind
    text: str
    """Text; the arguments of a call exactly as the model wrote them; the text of a result."""
    id: str = ""
    """The id of a call, or of the call that a result answers."""
    name: str = ""
    """The tool of a call or result, the media type of media, the native type of anything else."""
    is_error: bool = False
    signed: bool = False
    """Thinking that a signature or an encrypted blob binds to its bytes."""
    native: Any = None
    """The block as it stands in the message; None where the content was a plain string."""


class Call(NamedTuple):
    """A tool call."""

    id: str
    name: str
    arguments: str


class Result(NamedTuple):
    """A tool result."""

    call_id: str
    name: str
    text: str
    is_error: bool


def role(dialect: str, message: Mapping[str, Any]) -> str:
    """system, developer, user, assistant or tool; the message's own word when it is another."""
    value = message.get("role")
    if dialect == "openai_responses":
        kind = _string(message.get("type"))
        if "items" in message or kind in _RESPONSES_MODEL:
            return "assistant"
        if kind.endswith("_output"):
            return "tool"
    if value == "function":
        return "tool"
    return value if isinstance(value, str) else "user"


def parts(dialect: str, message: Mapping[str, Any]) -> tuple[Part, ...]:
    """The message as neutral parts, in their order; unknown blocks are kept as ``other``."""
    if dialect == "anthropic":
        return tuple(_anthropic(message.get("content")))
    if dialect == "openai_responses":
        items = _dicts(message.get("items", [message]))
        return tuple(part for item in items for part in _responses(item))
    return tuple(_chat(message))


def result_parts(dialect: str, native: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of a tool result in its native form (a block, an item or a ``tool`` message)."""
    if dialect == "anthropic" and "role" not in native:
        return tuple(_anthropic([native]))
    return parts(dialect, native)


def text(dialect: str, message: Mapping[str, Any]) -> str:
    """What a person or a model wrote, without calls, results and thinking."""
    return "\n".join(p.text for p in parts(dialect, message) if p.kind == "text")


def calls(dialect: str, message: Mapping[str, Any]) -> tuple[Call, ...]:
    """The tool calls of a message."""
    return tuple(Call(p.id, p.name, p.text) for p in parts(dialect, message) if p.kind == "call")


def results(dialect: str, message: Mapping[str, Any]) -> tuple[Result, ...]:
    """The tool results in a message."""
    found = (p for p in parts(dialect, message) if p.kind == "result")
    return tuple(Result(p.id, p.name, p.text, p.is_error) for p in found)


def result_block(
    dialect: str, call_id: str, name: str, content: str, *, is_error: bool = False
) -> dict[str, Any]:
    """The native form of a tool result that has only text."""
    if dialect == "anthropic":
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return {**block, "is_error": True} if is_error else block
    if dialect == "openai_responses":
        return {"type": "function_call_output", "call_id": call_id, "output": content}
    if not call_id:
        return {"role": "function", "name": name, "content": content}
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def with_content(dialect: str, native: Mapping[str, Any], content: str) -> dict[str, Any]:
    """A copy of a message or result whose content is replaced by text; ids and calls stay."""
    changed = dict(native)
    key = "output" if dialect == "openai_responses" and "output" in native else "content"
    if dialect == "openai_responses" and "items" in native:
        kept = [i for i in _dicts(native["items"]) if i.get("type") != "message"]
        new = {"type": "message", "role": "assistant"}
        return {"items": [*kept, {**new, "content": [{"type": "output_text", "text": content}]}]}
    if dialect == "anthropic" and isinstance(native.get("content"), list):
        kept_blocks = [
            b for b in native["content"] if isinstance(b, dict) and b.get("type") == "tool_use"
        ]
        if kept_blocks:
            changed["content"] = [{"type": "text", "text": content}, *kept_blocks]
            return changed
    changed[key] = content
    return changed


def rename_call(dialect: str, native: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """A copy in which the tool call with id ``old``, or the result of it, has the id ``new``."""
    key = {"anthropic": "tool_use_id", "openai_responses": "call_id"}.get(dialect, "tool_call_id")

    def renamed(block: Any) -> Any:
        if not isinstance(block, dict):
            return block
        kind = block.get("type")
        call = dialect == "openai_chat" or (dialect == "anthropic" and kind == "tool_use")
        own = "id" if call else key
        return {**block, own: new} if block.get(own) == old else block

    changed = dict(native)
    if changed.get(key) == old:
        changed[key] = new
    for field in ("tool_calls", "content", "items"):
        if isinstance(changed.get(field), list):
            changed[field] = [renamed(block) for block in changed[field]]
    return changed


def shared_text(value: Any) -> str:
    """The text inside a content value: a string, or the text blocks of a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        found = []
        for block in value:
            if isinstance(block, str):
                found.append(block)
            elif isinstance(block, dict) and isinstance(block.get("text"), str):
                found.append(block["text"])
        return "\n".join(found)
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "{}"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _chat(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message.get("content")
    if message.get("role") in ("tool", "function"):
        yield Part(
            "result",
            shared_text(content),
            id=_string(message.get("tool_call_id")),
            name=_string(message.get("name")),
            native=message,
        )
        return
    for field in ("reasoning_content", "reasoning"):
        if isinstance(message.get(field), str) and message[field]:
            yield Part("thinking", message[field], name=field)
    if isinstance(content, str):
        if content:
            yield Part("text", content)
    elif isinstance(content, list):
        yield from (_block(block) for block in content)
    if isinstance(message.get("refusal"), str):
        yield Part("text", message["refusal"], name="refusal")
    for call in _dicts(message.get("tool_calls")):
        inner = call.get("function") or call.get("custom") or {}
        inner = inner if isinstance(inner, dict) else {}
        arguments = _arguments(inner.get("arguments", inner.get("input")))
        name = _string(inner.get("name"))
        yield Part("call", arguments, id=_string(call.get("id")), name=name, native=call)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        arguments = _arguments(legacy.get("arguments"))
        yield Part("call", arguments, name=_string(legacy.get("name")), native=legacy)


_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_MEDIA_TYPES = frozenset(
    {"image", "image_url", "input_image", "input_audio", "document", "file", "input_file", "audio"}
)


def _block(block: Any) -> Part:
    if isinstance(block, str):
        return Part("text", block)
    if not isinstance(block, dict):
        return Part("other", json.dumps(block, ensure_ascii=False), native=block)
    kind = _string(block.get("type"))
    if kind in _TEXT_TYPES and isinstance(block.get("text"), str):
        return Part("text", block["text"], native=block)
    if kind == "refusal" and isinstance(block.get("refusal"), str):
        return Part("text", block["refusal"], name="refusal", native=block)
    if kind in _MEDIA_TYPES:
        source = block.get("source")
        media = source.get("media_type") if isinstance(source, dict) else None
        return Part("media", "", name=_string(media) or kind, native=block)
    return Part("other", "", name=kind, native=block)


def _anthropic(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Part("text", content)
        return
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("tool_use", "server_tool_use"):
            arguments = _arguments(block.get("input"))
            name = _string(block.get("name"))
            if kind == "tool_use":
                yield Part("call", arguments, id=_string(block.get("id")), name=name, native=block)
            else:
                yield Part("other", arguments, name="server_tool_use", native=block)
        elif kind == "tool_result":
            yield Part(
                "result",
                shared_text(block.get("content")),
                id=_string(block.get("tool_use_id")),
                is_error=bool(block.get("is_error")),
                native=block,
            )
        elif kind == "thinking":
            signed = bool(block.get("signature"))
            yield Part("thinking", _string(block.get("thinking")), signed=signed, native=block)
        elif kind == "redacted_thinking":
            yield Part("thinking", "", name="redacted_thinking", signed=True, native=block)
        else:
            yield _block(block)


_RESPONSES_CALLS = frozenset(
    {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"}
)
_RESPONSES_MODEL = _RESPONSES_CALLS | {
    "reasoning",
    "web_search_call",
    "file_search_call",
    "image_generation_call",
    "code_interpreter_call",
    "computer_call",
    "mcp_call",
}


def _responses(item: Mapping[str, Any]) -> Iterator[Part]:
    kind = _string(item.get("type")) or "message"
    if kind in ("message", "agent_message"):
        content = item.get("content")
        if isinstance(content, str):
            if content:
                yield Part("text", content)
        elif isinstance(content, list):
            yield from (_block(block) for block in content)
    elif kind in _RESPONSES_CALLS:
        arguments = _arguments(item.get("arguments", item.get("input", item.get("action"))))
        name = _string(item.get("name")) or kind
        yield Part("call", arguments, id=_string(item.get("call_id")), name=name, native=item)
    elif kind.endswith("_output"):
        output = shared_text(item.get("output"))
        yield Part("result", output, id=_string(item.get("call_id")), native=item)
    elif kind == "reasoning":
        said = [*_dicts(item.get("summary")), *_dicts(item.get("content"))]
        thought = "\n".join(_string(s.get("text")) for s in said)
        signed = bool(item.get("encrypted_content") or item.get("id"))
        yield Part("thinking", thought, id=_string(item.get("id")), signed=signed, native=item)
    else:
        yield Part("other", "", name=kind, native=item)


def _dicts(value: Any) -> Iterable[dict[str, Any]]:
    return (v for v in value if isinstance(v, dict)) if isinstance(value, list) else ()
