"""OpenAI chat completions: items to and from ``messages``.

Each item is one message. Items of one answer that came apart (OpenAI's Responses) are one assistant
message here. The old ``function_call`` with its ``function`` message stays as it is; in other
dialects it gets an id.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eventlog.messages import SYSTEM_ROLES, Part
from projections.dialects import media
from projections.dialects.entries import RequestEntry, message_list, parameters_of, with_rest
from projections.dialects.openai_chat_rules import problems, validate
from projections.dialects.translate import (
    SENDABLE_ID,
    CallIds,
    Cleaned,
    Tool,
    body,
    cleaned,
    note,
    result_text,
    tool_name,
    tools_of,
)
from projections.items import Item
from projections.reading import call_part, calls_of, readable, results_of, role_of
from projections.renaming import is_legacy
from projections.splitting import split

__all__ = [
    "NAME",
    "attributed",
    "from_request",
    "parameters",
    "problems",
    "render",
    "to_request",
    "validate",
]

NAME = "openai_chat"

_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details")
_SEALED = ("extra_content", "provider_specific_fields")
"""Beside a call: where compatible endpoints put the signature that must come back with it."""
_FOREIGN = frozenset(
    {
        "image",
        "document",
        "input_text",
        "output_text",
        "input_image",
        "input_file",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
    }
)


def render(
    items: Sequence[Item],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    cleaned: Cleaned = cleaned,
) -> dict[str, Any]:
    """The request body of these items. What a message cannot say here is noted or left out."""
    writer = _Writer()
    for item in items:
        if readable(item):
            for piece in split(item):
                writer.add(piece)
    return body(
        parameters, {"messages": writer.messages}, tools_of(tools, _is_native, _tool), cleaned
    )


def attributed(items: Sequence[Item]) -> list[tuple[Mapping[str, Any], Item]]:
    """The messages of that request, each with the item that it comes from; of several that are one
    message, the first."""
    writer, origins = _Writer(), list[Item]()
    for item in items:
        if readable(item):
            for piece in split(item):
                before = len(writer.messages)
                writer.add(piece)
                origins += [item] * (len(writer.messages) - before)
    return list(zip(writer.messages, origins, strict=True))


def from_request(request: Mapping[str, Any]) -> tuple[RequestEntry, ...]:
    """One entry for each message. Raises InputRefused when there is no list of messages."""
    return tuple(_entry(message) for message in message_list(request, "messages"))


def _entry(message: Mapping[str, Any]) -> RequestEntry:
    role = message.get("role")
    if role in ("tool", "function"):
        return RequestEntry("tool_result", "tool", message)
    if isinstance(role, str) and role in SYSTEM_ROLES:
        return RequestEntry("system", role, message)
    return RequestEntry("message", role if isinstance(role, str) else "user", message)


def to_request(
    entries: Sequence[RequestEntry],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request that ``from_request`` took apart."""
    return with_rest({"messages": [entry.message for entry in entries]}, tools, parameters)


def parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the request holds besides messages and tools."""
    return parameters_of(request, ("messages",))


class _Writer:
    """The messages so far, and what of the last answer is still to be answered."""

    def __init__(self) -> None:
        self.messages: list[Mapping[str, Any]] = []
        self._ids = CallIds(SENDABLE_ID)
        self._legacy: str | None = None
        self._open: str | None = None
        """The dialect of the assistant message that stands last; None when another stands last."""

    def add(self, item: Item) -> None:
        results = results_of(item)
        if results:
            self.messages += [self._result(item, part) for part in results]
            self._open = None
            return
        if role_of(item) == "assistant":
            self._assistant(item)
            return
        message = _plain(item)
        if message is not None:
            self.messages.append(message)
            self._open = None

    def _result(self, item: Item, part: Part) -> Mapping[str, Any]:
        native = item.message
        if not part.id and self._legacy is not None:
            if _is_plain_result(native, role="function", name=self._legacy):
                return native
            content = result_text(item.dialect, part)
            return {"role": "function", "name": self._legacy, "content": content}
        call_id = self._ids.of_result(part)
        if item.dialect == NAME and _is_plain_result(native, role="tool", tool_call_id=call_id):
            return native
        return {"role": "tool", "tool_call_id": call_id, "content": result_text(item.dialect, part)}

    def _assistant(self, item: Item) -> None:
        calls = calls_of(item)
        ids = [self._ids.of_call(item, part) for part in calls]
        legacy = len(calls) == 1 and not calls[0].id and is_legacy(item, calls[0])
        message: Mapping[str, Any] | None = item.message
        if item.dialect != NAME or not _fits_assistant(item.message, ids, legacy):
            message = _assistant(item, calls, ids, legacy)
        if message is None:
            return
        self._legacy = tool_name(calls[0].name) if legacy else None
        last = self.messages[-1] if self._open is not None and self.messages else None
        both = self._open == item.dialect == "openai_responses"
        if last is not None and not legacy and (both or last.get("tool_calls")):
            self.messages[-1] = _joined(last, message)
        else:
            self.messages.append(message)
        self._open = item.dialect


def _plain(item: Item) -> Mapping[str, Any] | None:
    """A message of the system or of a user; None when nothing is left of it."""
    role = role_of(item)
    native = item.message
    if item.dialect == NAME and native.get("role") == role and _fits_plain(native, role):
        return native
    blocks = _blocks(item, only_text=role != "user")
    if not blocks:
        return None
    if item.dialect == NAME and isinstance(native.get("name"), str):
        return {"role": role, "name": native["name"], "content": _content(blocks)}
    return {"role": role, "content": _content(blocks)}


def _assistant(
    item: Item, calls: Sequence[Part], ids: Sequence[str], legacy: bool
) -> dict[str, Any] | None:
    blocks = _blocks(item, only_text=True)
    if not blocks and not calls:
        return None
    message: dict[str, Any] = {"role": "assistant"}
    message["content"] = _content(blocks) if blocks else None
    if item.dialect == NAME:
        message.update({k: item.message[k] for k in _THOUGHTS if k in item.message})
    if legacy:
        call = {"name": tool_name(calls[0].name), "arguments": calls[0].text}
        message["function_call"] = call
    elif calls:
        message["tool_calls"] = [_call(p, i) for p, i in zip(calls, ids, strict=True)]
    return message


def _call(part: Part, call_id: str) -> dict[str, Any]:
    native = part.native if isinstance(part.native, Mapping) else {}
    name = tool_name(part.name)
    if native.get("type") in ("custom", "custom_tool_call"):
        custom = {"name": name, "input": part.text}
        return {"id": call_id, "type": "custom", "custom": custom}
    function = {"name": name, "arguments": part.text}
    # Gemini refuses a call whose signature is lost.
    sealed = {key: native[key] for key in _SEALED if key in native}
    return {"id": call_id, "type": "function", "function": function, **sealed}


def _blocks(item: Item, *, only_text: bool) -> list[dict[str, Any]]:
    """What the item says, as content parts; its calls and its thinking aside."""
    found: list[dict[str, Any]] = []
    for part in item.parts:
        if part.kind in ("call", "thinking", "result") or call_part(item.dialect, part):
            continue
        if part.kind == "text":
            if part.text.strip():
                found.append({"type": "text", "text": part.text})
            continue
        if not only_text and item.dialect == NAME and _fits_block(part.native):
            found.append(part.native)
            continue
        read = media.read(part.native) if part.kind == "media" and not only_text else None
        block = media.to_chat(read) if read is not None else None
        found.append(block or {"type": "text", "text": note(part)})
    return found


def _content(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if len(blocks) == 1 and blocks[0].get("type") == "text":
        return str(blocks[0]["text"])
    return blocks


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Two messages of one answer as one."""
    joined = {**first, **{k: v for k, v in second.items() if k not in ("content", "tool_calls")}}
    said = [m["content"] for m in (first, second) if m.get("content")]
    if len(said) == 2:
        lists = [[{"type": "text", "text": c}] if isinstance(c, str) else list(c) for c in said]
        joined["content"] = [*lists[0], *lists[1]]
    else:
        joined["content"] = said[0] if said else None
    calls = [*(first.get("tool_calls") or ()), *(second.get("tool_calls") or ())]
    if calls:
        joined["tool_calls"] = calls
    return joined


# -- whether a native message can be sent as it is ------------------------------------------------


def _fits_plain(message: Mapping[str, Any], role: str) -> bool:
    if message.get("tool_calls") is not None or message.get("function_call") is not None:
        return False
    content = message.get("content")
    if isinstance(content, str):
        return bool(content.strip())
    if not isinstance(content, list) or not content:
        return False
    return all(_fits_block(b) and (role == "user" or b["type"] == "text") for b in content)


def _fits_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind or kind in _FOREIGN:
        return False
    if kind == "text":
        return isinstance(block.get("text"), str) and bool(block["text"].strip())
    if kind == "image_url":
        inner = block.get("image_url")
        return isinstance(inner, dict) and isinstance(inner.get("url"), str) and bool(inner["url"])
    if kind in ("input_audio", "file"):
        return isinstance(block.get(kind), dict)
    return kind != "refusal"


def _fits_assistant(message: Mapping[str, Any], ids: Sequence[str], legacy: bool) -> bool:
    content, calls = message.get("content"), message.get("tool_calls")
    said = isinstance(content, str) and bool(content.strip())
    if isinstance(content, list):
        said = bool(content) and all(_fits_said(block) for block in content)
        if not said:
            return False
    elif content is not None and not isinstance(content, str):
        return False
    refusal = message.get("refusal")
    said = said or (isinstance(refusal, str) and bool(refusal.strip()))
    function = message.get("function_call")
    if legacy:
        return calls is None and _fits_function(function)
    if function is not None:
        return False
    if calls is None:
        return said
    if not isinstance(calls, list) or len(calls) != len(ids) or not calls:
        return False
    return all(_fits_call(call, call_id) for call, call_id in zip(calls, ids, strict=True))


def _fits_said(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in ("text", "refusal"):
        return False
    return isinstance(block.get(kind), str) and bool(block[kind].strip())


def _fits_call(call: Any, call_id: str) -> bool:
    if not isinstance(call, dict) or call.get("id") != call_id:
        return False
    if call.get("type") == "custom":
        return _fits_function(call.get("custom"), "input")
    return call.get("type") == "function" and _fits_function(call.get("function"))


def _fits_function(function: Any, field: str = "arguments") -> bool:
    if not isinstance(function, dict) or not isinstance(function.get(field), str):
        return False
    name = function.get("name")
    return isinstance(name, str) and tool_name(name) == name


def _is_plain_result(message: Mapping[str, Any], **expected: str) -> bool:
    if any(message.get(key) != value for key, value in expected.items()):
        return False
    content = message.get("content")
    if isinstance(content, list):
        return bool(content) and all(_fits_said(b) and b["type"] == "text" for b in content)
    return isinstance(content, str)


# -- tools ----------------------------------------------------------------------------------------


def _is_native(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    return kind in ("function", "custom") and isinstance(tool.get(str(kind)), Mapping)


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool_name(tool.name), "parameters": tool.schema}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}
