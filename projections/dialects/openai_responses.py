"""OpenAI Responses: items to and from ``instructions`` and ``input``.

One message is one or several input items. The first system message becomes ``instructions`` when it
came from there (label ``instructions``) or from another dialect; every other one is an input item.

Reasoning goes with the item that it precedes, byte for byte. Where it has lost that item it leaves,
and the next thing the model said loses its provider's id, for the service refuses an item whose
reasoning is missing.

Source: OpenAI API reference, "Create a model response", and the guide on reasoning items.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from eventlog import messages
from eventlog.errors import InputRefused
from eventlog.messages import SYSTEM_ROLES, Part
from projections.dialects import media
from projections.dialects.entries import RequestEntry, message_list, parameters_of, with_rest
from projections.dialects.openai_responses_rules import problems, validate
from projections.dialects.openai_responses_tools import is_native, written_tool
from projections.dialects.translate import (
    SENDABLE_ID,
    CallIds,
    Cleaned,
    body,
    clean,
    cleaned,
    inner_parts,
    note,
    result_text,
    tool_name,
    tools_of,
)
from projections.items import Item
from projections.reading import call_part, is_system, readable, results_of, role_of
from projections.splitting import split

__all__ = [
    "INSTRUCTIONS",
    "NAME",
    "from_request",
    "parameters",
    "problems",
    "render",
    "to_request",
    "validate",
]

NAME = "openai_responses"

INSTRUCTIONS = "instructions"
"""Label of the item that stood in the request's ``instructions``."""

_OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
_INPUT_BLOCKS = frozenset({"input_text", "input_image", "input_file", "input_audio"})
_OUTPUT_BLOCKS = frozenset({"output_text", "refusal"})


def render(
    items: Sequence[Item],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    cleaned: Cleaned = cleaned,
) -> dict[str, Any]:
    """The request body of these items. What a message cannot say here is noted or left out."""
    pieces = [piece for item in items if readable(item) for piece in split(item)]
    fields: dict[str, Any] = {}
    if pieces and is_system(pieces[0]):
        first = pieces[0]
        said = "\n".join(p.text for p in first.parts if p.kind == "text")
        alone = all(part.kind == "text" for part in first.parts)
        if alone and said.strip() and (first.dialect != NAME or first.label == INSTRUCTIONS):
            fields["instructions"] = said
            pieces = pieces[1:]
    ids = CallIds(SENDABLE_ID)
    found = [native for piece in pieces for native in _items(piece, ids)]
    fields["input"] = _with_own_ids(_with_reasoning(_with_outputs(found)))
    return body(parameters, fields, tools_of(tools, is_native, written_tool), cleaned)


def from_request(request: Mapping[str, Any]) -> tuple[RequestEntry, ...]:
    """One entry for the instructions and one for each input item.

    Raises InputRefused when the input is neither text nor a list of items.
    """
    entries: list[RequestEntry] = []
    if request.get("instructions") is not None:
        message = {"role": "system", "content": request["instructions"]}
        entries.append(RequestEntry("system", "system", message, place="instructions"))
    given = request.get("input")
    if isinstance(given, str):
        message = {"role": "user", "content": given}
        return (*entries, RequestEntry("message", "user", message, place="input"))
    return (*entries, *(_entry(item) for item in message_list(request, "input")))


def _entry(item: Mapping[str, Any]) -> RequestEntry:
    kind = item.get("type")
    if kind is not None and not isinstance(kind, str):
        raise InputRefused("an input item whose type is no text")
    role = messages.role(NAME, item)
    if role == "tool":
        return RequestEntry("tool_result", "tool", item)
    if role in SYSTEM_ROLES:
        return RequestEntry("system", role, item)
    return RequestEntry("message", role, item)


def to_request(
    entries: Sequence[RequestEntry],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request that ``from_request`` took apart."""
    fields: dict[str, Any] = {}
    given: list[Mapping[str, Any]] = []
    fields["input"] = given
    for entry in entries:
        if entry.place == "instructions":
            fields["instructions"] = entry.message["content"]
        elif entry.place == "input":
            fields["input"] = entry.message["content"]
        else:
            given.append(entry.message)
    return with_rest(fields, tools, parameters)


def parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the request holds besides input, instructions and tools."""
    instructions = ("instructions",) if request.get("instructions") is not None else ()
    return parameters_of(request, ("input", *instructions))


# -- items ----------------------------------------------------------------------------------------


def _items(item: Item, ids: CallIds) -> list[Mapping[str, Any]]:
    results = results_of(item)
    if results:
        return [_result(item, part, ids) for part in results]
    role = role_of(item)
    if role == "assistant" and item.dialect == NAME:
        natives = item.message.get("items", [item.message])
        natives = natives if isinstance(natives, list) else []
        found = [_model_item(item, native, ids) for native in natives if isinstance(native, dict)]
        return [native for native in found if native is not None]
    if role == "assistant":
        return _answer(item, ids)
    if item.dialect == NAME and _fits_message(item.message, role):
        return [item.message]
    if item.dialect == NAME and _kind(item.message) != "message":
        # A compaction or a reference: a kind of item of its own, sent as it is.
        return [item.message]
    blocks = _blocks(item.dialect, item.parts, role)
    return [_message(role, blocks)] if blocks else []


def _message(role: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    if len(blocks) == 1 and blocks[0].get("type") == "input_text":
        return {"type": "message", "role": role, "content": blocks[0]["text"]}
    return {"type": "message", "role": role, "content": blocks}


def _answer(item: Item, ids: CallIds) -> list[Mapping[str, Any]]:
    """An answer of another dialect: its text, then its calls."""
    blocks = _blocks(item.dialect, item.parts, "assistant")
    found: list[Mapping[str, Any]] = [_message("assistant", blocks)] if blocks else []
    for part in item.parts:
        if part.kind == "call":
            found.append(_call(part, ids.of_call(item, part)))
    return found


def _call(part: Part, call_id: str) -> dict[str, Any]:
    native = part.native if isinstance(part.native, Mapping) else {}
    name = tool_name(part.name)
    if native.get("type") in ("custom", "custom_tool_call"):
        return {"type": "custom_tool_call", "call_id": call_id, "name": name, "input": part.text}
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": part.text}


def _model_item(item: Item, native: dict[str, Any], ids: CallIds) -> Mapping[str, Any] | None:
    """One item of an answer, as it is if it can be sent; None when nothing can."""
    kind = _kind(native)
    found = messages.parts(NAME, native)
    if kind == "message":
        if _fits_message(native, str(native.get("role"))):
            return native
        blocks = _blocks(NAME, found, "assistant")
        message = {**native, "type": "message", "role": "assistant", "content": blocks}
        return message if blocks else None
    if kind == "reasoning":
        whole = clean(native) is native
        bound = _is_text(native, "encrypted_content") or _is_text(native, "id")
        return native if whole and bound and isinstance(native.get("summary"), list) else None
    for part in found:
        call = call_part(NAME, part)
        if call is not None:
            call_id = ids.of_call(item, call)
            return native if _fits_call(native, call_id) else _call(call, call_id)
    return native


def _result(item: Item, part: Part, ids: CallIds) -> Mapping[str, Any]:
    call_id = ids.of_result(part)
    native = part.native
    if item.dialect == NAME and native.get("call_id") == call_id:
        output = native.get("output")
        blocks = _is_block_list(output)
        hosted = native.get("type") not in _OUTPUT_OF.values() and output is not None
        if isinstance(output, str) or blocks or hosted:
            found: Mapping[str, Any] = native
            return found
    inner = inner_parts(item.dialect, part)
    written: str | list[dict[str, Any]] = result_text(item.dialect, part)
    if any(p.kind == "media" and media.read(p.native) for p in inner):
        written = _blocks(item.dialect, inner, "user")
    return {"type": "function_call_output", "call_id": call_id, "output": written}


def _blocks(dialect: str, parts: Sequence[Part], role: str) -> list[dict[str, Any]]:
    kind = "output_text" if role == "assistant" else "input_text"
    allowed = _OUTPUT_BLOCKS if role == "assistant" else _INPUT_BLOCKS
    found: list[dict[str, Any]] = []
    for part in parts:
        if part.kind in ("call", "thinking", "result"):
            continue
        if part.kind == "text" and not part.text.strip():
            continue
        if dialect == NAME and _fits_block(part.native, allowed):
            found.append(part.native)
            continue
        read = media.read(part.native) if part.kind == "media" and role == "user" else None
        block = media.to_responses(read) if read is not None else None
        said = part.text if part.kind == "text" else note(part)
        found.append(block or {"type": kind, "text": said})
    return found


# -- rules over the whole input -------------------------------------------------------------------


def _with_outputs(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Each output has the type that belongs to its call.

    A hosted call answered by anything but its own kind of output is written as a function call.
    """
    calls: dict[str, int] = {}
    found = list(items)
    for at, item in enumerate(items):
        kind, call_id = str(item.get("type")), item.get("call_id")
        if not isinstance(call_id, str):
            continue
        if not kind.endswith("_output"):
            calls[call_id] = at
            continue
        if call_id not in calls:
            continue
        call = found[calls[call_id]]
        call_kind = str(call.get("type"))
        shell = call_kind == "local_shell_call" and kind == "function_call_output"
        if shell or kind == _OUTPUT_OF.get(call_kind, f"{call_kind}_output"):
            continue
        if call_kind not in _OUTPUT_OF:
            arguments = json.dumps(call.get("action", {}), ensure_ascii=False)
            name = tool_name(call_kind)
            call = {"type": "function_call", "call_id": call_id, "name": name}
            found[calls[call_id]] = {**call, "arguments": arguments}
        output = item.get("output")
        if not isinstance(output, str) and not _is_block_list(output):
            output = messages.shared_text(output)
        expected = _OUTPUT_OF[str(call["type"])]
        found[at] = {"type": expected, "call_id": call_id, "output": output}
    return found


def _is_block_list(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(_fits_block(block, _INPUT_BLOCKS) for block in value)
    )


def _with_reasoning(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Reasoning only where what it led to follows."""
    stays: list[bool] = []
    follows = False
    for item in reversed(items):
        is_reasoning = item.get("type") == "reasoning"
        stays.append(follows or not is_reasoning)
        if not is_reasoning:
            follows = _is_said(item)
    found: list[Mapping[str, Any]] = []
    lost = False
    for item, stay in zip(items, reversed(stays), strict=True):
        if not stay:
            lost = True
            continue
        if item.get("type") == "reasoning":
            lost = False
        elif lost and _is_said(item):
            item = {key: value for key, value in item.items() if key != "id"}
            lost = False
        found.append(item)
    return found


def _is_said(item: Mapping[str, Any]) -> bool:
    kind = _kind(item)
    return item.get("role") == "assistant" if kind == "message" else kind.endswith("_call")


def _with_own_ids(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """No provider's item id twice: the second is dropped, with an item that is nothing else."""
    seen: set[str] = set()
    found: list[Mapping[str, Any]] = []
    for item in items:
        item_id = item.get("id")
        if isinstance(item_id, str):
            if item_id in seen:
                if item.get("type") in ("reasoning", "item_reference", "compaction"):
                    continue
                item = {key: value for key, value in item.items() if key != "id"}
            seen.add(item_id)
        found.append(item)
    return found


# -- whether a native item can be sent as it is ---------------------------------------------------


def _kind(native: Mapping[str, Any]) -> str:
    return str(native["type"]) if _is_text(native, "type") else "message"


def _is_text(native: Mapping[str, Any], key: str) -> bool:
    return isinstance(native.get(key), str) and bool(native[key].strip())


def _fits_message(native: Mapping[str, Any], role: str) -> bool:
    if native.get("type") not in (None, "message") or native.get("role") != role:
        return False
    content = native.get("content")
    if isinstance(content, str):
        return bool(content.strip())
    allowed = _OUTPUT_BLOCKS if role == "assistant" else _INPUT_BLOCKS
    return (
        isinstance(content, list)
        and bool(content)
        and (all(_fits_block(block, allowed) for block in content))
    )


def _fits_block(block: Any, allowed: frozenset[str]) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in allowed:
        return False
    if kind in ("input_text", "output_text"):
        return _is_text(block, "text")
    if kind == "refusal":
        return _is_text(block, "refusal")
    if kind == "input_image":
        return _is_text(block, "image_url") or _is_text(block, "file_id")
    return True


def _fits_call(native: Mapping[str, Any], call_id: str) -> bool:
    if native.get("call_id") != call_id:
        return False
    kind = native.get("type")
    field = {"function_call": "arguments", "custom_tool_call": "input"}.get(str(kind))
    if field is None:
        return True
    name = native.get("name")
    return isinstance(native.get(field), str) and isinstance(name, str) and tool_name(name) == name
