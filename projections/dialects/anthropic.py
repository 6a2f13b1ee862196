"""Anthropic messages: items to and from ``system`` and ``messages``.

The tool results of one answer stand together at the front of the next user message, and neighbours
of one role are one message. System messages after the leading run have no place of their own here:
they are text of the user's turn.

Source: Anthropic Messages API, with the pages on tool use and extended thinking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eventlog.messages import Part
from projections.dialects import media
from projections.dialects.anthropic_marks import within_marks
from projections.dialects.anthropic_rules import problems, validate
from projections.dialects.entries import RequestEntry, message_list, parameters_of, with_rest
from projections.dialects.translate import (
    ANTHROPIC_ID,
    CallIds,
    Cleaned,
    Tool,
    arguments_object,
    body,
    clean,
    cleaned,
    inner_parts,
    note,
    tool_name,
    tools_of,
)
from projections.items import Item
from projections.reading import call_part, is_system, readable, results_of, role_of
from projections.splitting import split

__all__ = ["NAME", "from_request", "parameters", "problems", "render", "to_request", "validate"]

NAME = "anthropic"

_NAME_LIMIT = 128
_DATED = re.compile(r".+_\d{8}")
_FOREIGN = frozenset(
    {"image_url", "input_text", "output_text", "input_image", "input_file", "input_audio", "file"}
)
_THINKING = frozenset({"thinking", "redacted_thinking"})


def render(
    items: Sequence[Item],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
    cleaned: Cleaned = cleaned,
) -> dict[str, Any]:
    """The request body of these items. What a message cannot say here is noted or left out."""
    pieces = [piece for item in items if readable(item) for piece in split(item)]
    front = 0
    while front < len(pieces) and is_system(pieces[front]):
        front += 1
    system = _system(pieces[:front])
    writer = _Writer()
    for piece in pieces[front:]:
        writer.add(piece)
    fields: dict[str, Any] = {"system": system} if system else {}
    fields["messages"] = writer.finished()
    return within_marks(body(parameters, fields, tools_of(tools, _is_native, _tool), cleaned))


def from_request(request: Mapping[str, Any]) -> tuple[RequestEntry, ...]:
    """One entry for the system prompt and for each message; one for each tool result in a message.

    Raises InputRefused when there is no list of messages.
    """
    entries: list[RequestEntry] = []
    if "system" in request:
        message = {"role": "system", "content": request["system"]}
        entries.append(RequestEntry("system", "system", message, place="system"))
    for number, sent in enumerate(message_list(request, "messages")):
        entries += _entries(number, sent)
    return tuple(entries)


def _entries(number: int, message: Mapping[str, Any]) -> list[RequestEntry]:
    role = message.get("role")
    role = role if isinstance(role, str) else "user"
    blocks = message.get("content")
    results = (
        [at for at, block in enumerate(blocks) if _is_result(block)]
        if (isinstance(blocks, list))
        else []
    )
    if not isinstance(blocks, list) or not results:
        return [RequestEntry("message", role, message)]
    frame = {key: value for key, value in message.items() if key != "content"}
    if list(message)[-1] != "content":  # its place among the others is kept with them
        frame = {key: frame.get(key) for key in message}
    found = [
        RequestEntry("tool_result", "tool", blocks[at], group=number, blocks=(at,), frame=frame)
        for at in results
    ]
    rest = tuple(at for at in range(len(blocks)) if at not in results)
    if rest:
        inner: dict[str, Any] = {**message, "content": [blocks[at] for at in rest]}
        found.append(RequestEntry("message", role, inner, group=number, blocks=rest, frame=frame))
    return found


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def to_request(
    entries: Sequence[RequestEntry],
    tools: Sequence[Mapping[str, Any]] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request that ``from_request`` took apart."""
    fields: dict[str, Any] = {}
    messages: list[Mapping[str, Any]] = []
    group: int | None = None
    placed: dict[int, Any] = {}
    for entry in entries:
        if entry.place == "system":
            fields["system"] = entry.message["content"]
            continue
        if entry.group is None:
            messages.append(entry.message)
            group = None
            continue
        if entry.group != group:
            group, placed = entry.group, {}
            messages.append({})
        blocks = entry.message["content"] if entry.kind == "message" else [entry.message]
        placed.update(zip(entry.blocks, blocks, strict=True))
        content = [placed[at] for at in sorted(placed)]
        messages[-1] = {**(entry.frame or {}), "content": content}
    fields["messages"] = messages
    return with_rest(fields, tools, parameters)


def parameters(request: Mapping[str, Any]) -> dict[str, Any]:
    """What the request holds besides messages, system prompt and tools."""
    return parameters_of(request, ("system", "messages"))


def _system(items: Sequence[Item]) -> str | list[dict[str, Any]] | None:
    contents = [_system_content(item) for item in items]
    said = [content for content in contents if content]
    if len(said) == 1:
        return said[0]
    blocks: list[dict[str, Any]] = []
    for content in said:
        blocks += _as_blocks(content)
    return blocks or None


def _system_content(item: Item) -> str | list[dict[str, Any]]:
    content = item.message.get("content")
    if isinstance(content, str):
        return content if content.strip() else ""
    blocks: list[dict[str, Any]] = []
    for part in item.parts:
        if part.kind == "text" and part.text.strip():
            same = item.dialect == NAME and _fits_block(part.native, "system")
            blocks.append(part.native if same else {"type": "text", "text": part.text})
        elif part.kind in ("media", "other"):
            blocks.append({"type": "text", "text": note(part)})
    if len(blocks) == 1 and item.dialect != NAME:
        return str(blocks[0]["text"])
    return blocks


def _as_blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


class _Writer:
    """Messages of alternating roles."""

    def __init__(self) -> None:
        self._messages: list[tuple[str, Mapping[str, Any]]] = []
        self._ids = CallIds(ANTHROPIC_ID)

    def add(self, item: Item) -> None:
        results = results_of(item)
        if results:
            self._put("user", [self._result(item, part) for part in results], None)
            return
        role = "assistant" if role_of(item) == "assistant" else "user"
        content = item.message.get("content")
        if isinstance(content, str) and [(p.kind, p.text) for p in item.parts] == [
            ("text", content)
        ]:
            if content.strip():
                self._put(role, content, item.message if item.dialect == NAME else None)
            return
        blocks = self._blocks(item, role)
        if any(block.get("type") not in _THINKING for block in blocks):
            same = item.dialect == NAME and blocks == content
            self._put(role, blocks, item.message if same else None)

    def _put(
        self,
        role: str,
        content: str | list[dict[str, Any]],
        native: Mapping[str, Any] | None,
    ) -> None:
        if native is None or native.keys() != {"role", "content"} or native["role"] != role:
            native = {"role": role, "content": content}
        if self._messages and self._messages[-1][0] == role:
            before = self._messages[-1][1]["content"]
            native = {"role": role, "content": [*_as_blocks(before), *_as_blocks(content)]}
            self._messages[-1] = (role, native)
        else:
            self._messages.append((role, native))

    def _result(self, item: Item, part: Part) -> dict[str, Any]:
        native = part.native
        call_id = self._ids.of_result(part)
        if item.dialect == NAME and native.get("tool_use_id") == call_id:
            content = native.get("content")
            if (
                content is None
                or isinstance(content, str)
                or (isinstance(content, list) and all(_fits_block(b, "result") for b in content))
            ):
                found: dict[str, Any] = native
                return found
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
        blocks = [_said(item.dialect, p, "result") for p in inner_parts(item.dialect, part)]
        said = [inner for inner in blocks if inner is not None]
        if said:
            alone = len(said) == 1 and said[0].get("type") == "text"
            block["content"] = said[0]["text"] if alone else said
        return {**block, "is_error": True} if part.is_error else block

    def _blocks(self, item: Item, role: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for part in item.parts:
            call = call_part(item.dialect, part)
            if call is not None:
                if role == "assistant":
                    found.append(self._call(item, call))
            elif part.kind == "thinking":
                if role == "assistant" and item.dialect == NAME and _fits_thinking(part.native):
                    found.append(part.native)
            else:
                block = _said(item.dialect, part, role)
                if block is not None:
                    found.append(block)
        return found

    def _call(self, item: Item, part: Part) -> dict[str, Any]:
        native = part.native
        call_id = self._ids.of_call(item, part)
        name = tool_name(part.name, _NAME_LIMIT)
        if item.dialect == NAME and isinstance(native.get("input"), dict):
            if native.get("id") == call_id and native.get("name") == name:
                found: dict[str, Any] = native
                return found
            return {**native, "id": call_id, "name": name}
        arguments = arguments_object(part.text)
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}

    def finished(self) -> list[Mapping[str, Any]]:
        messages = [_in_order(role, message) for role, message in self._messages]
        if messages and messages[-1]["role"] == "assistant":
            messages[-1] = _without_trailing_blank(messages[-1])
        return messages


def _in_order(role: str, message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Results first in a user's turn; in a model's turn no thinking that its provider refuses."""
    content = message["content"]
    if isinstance(content, str):
        return message
    kinds = [block.get("type") for block in content]
    if role == "user":
        wanted = sorted(content, key=lambda block: block.get("type") != "tool_result")
    elif "tool_use" in kinds and kinds[0] not in _THINKING:
        # Text in front of the turn's thinking: joined turns. The thinking leaves whole.
        wanted = [block for block in content if block.get("type") not in _THINKING]
    else:
        last = max(at for at, kind in enumerate(kinds) if kind not in _THINKING)
        wanted = content[: last + 1]
    same = all(a is b for a, b in zip(wanted, content, strict=False)) and len(wanted) == len(
        content
    )
    return message if same else {**message, "content": wanted}


def _without_trailing_blank(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last answer without white space at its end, which is refused as a prefill."""
    content = message["content"]
    if isinstance(content, str):
        return message if content == content.rstrip() else {**message, "content": content.rstrip()}
    last = content[-1]
    if last.get("type") != "text" or last["text"] == last["text"].rstrip():
        return message
    return {**message, "content": [*content[:-1], {**last, "text": last["text"].rstrip()}]}


def _said(dialect: str, part: Part, role: str) -> dict[str, Any] | None:
    """A block for what is neither call nor thinking; None for blank text."""
    if part.kind == "text" and not part.text.strip():
        return None
    if dialect == NAME and part.native is not None and _fits_block(part.native, role):
        native: dict[str, Any] = part.native
        return native
    if part.kind == "text":
        return {"type": "text", "text": part.text}
    read = media.read(part.native) if part.kind == "media" and role != "assistant" else None
    block = media.to_anthropic(read) if read is not None else None
    return block or {"type": "text", "text": note(part)}


def _fits_block(block: Any, role: str) -> bool:
    """Whether a native block can be sent as it is, in a message of that role or in a result."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind or kind in _FOREIGN:
        return False
    if kind == "text":
        return isinstance(block.get("text"), str) and bool(block["text"].strip())
    if role == "system" or kind in ("tool_use", "tool_result") or kind in _THINKING:
        return False
    if kind in ("image", "document"):
        source = block.get("source")
        return (
            role != "assistant"
            and isinstance(source, dict)
            and (isinstance(source.get("type"), str))
        )
    return True


def _fits_thinking(block: Any) -> bool:
    """Signed, and with bytes that can be sent: nothing of it may be changed."""
    if not isinstance(block, dict) or clean(block) is not block:
        return False
    if block.get("type") == "redacted_thinking":
        return isinstance(block.get("data"), str) and bool(block["data"])
    signature = block.get("signature")
    return isinstance(signature, str) and bool(signature) and isinstance(block.get("thinking"), str)


def _is_native(tool: Mapping[str, Any]) -> bool:
    kind = tool.get("type")
    return "input_schema" in tool or (isinstance(kind, str) and bool(_DATED.fullmatch(kind)))


def _tool(tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = {"name": tool_name(tool.name, _NAME_LIMIT)}
    if tool.description:
        found["description"] = tool.description
    return {**found, "input_schema": tool.schema}
