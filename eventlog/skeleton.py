"""What is left of an erased event: all that a fold, a manifest or a count reads, and no text.

Kept: items, what a decision covers and leaves, layouts, manifests, roles, sources, labels, every
call id and tool name, usage, and where an imported event came from. Gone: text, arguments,
definitions, parameters, reasons, the provider's own objects, and what an importer left unmapped.

What is kept can be a text that somebody chose. With ``holds``, those of them that nothing reads
but a person go too where it says so: ``SPARED``. The others stay, whatever they hold: call ids and
tool names pair calls with results, a model is part of a request, a record of origin is counted.

A message becomes its role and ``[redacted]``, part for part in its own dialect, so that ``12/1``
still names a part and a context rendered from it is legal: calls stay with their ids and names and
empty arguments, a signed thought becomes plain text, since no signature holds for other bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eventlog import codec
from eventlog.errors import EventInvalid
from eventlog.events import EventBase
from eventlog.jsonvalue import loads

REDACTED = "[redacted]"
"""What stands where text stood."""

Payload = dict[str, Any]


Holds = Callable[[str], bool]
"""Whether a text holds something that is to be erased."""

SPARED = frozenset(
    {
        "cleared",
        "fell_back_from",
        "file",
        "finish_reason",
        "foreign_session_id",
        "label",
        "response_id",
        "rule",
        "server_edited",
        "strategy",
        "task_type",
        "trigger",
    }
)
"""Kept fields that no fold, manifest or count reads by their value."""


def skeleton(event: EventBase | codec.UnknownEvent) -> Payload:
    """The payload of the erased event; it decodes as the event's own type.

    Raises EventInvalid for a redaction and for the beginning of a fork: they hold no text, and the
    log cannot be read without them.
    """
    if isinstance(event, codec.UnknownEvent):
        return skeleton_of(event.type, {})
    encoded = codec.encode(event)
    return skeleton_of(encoded.type, loads(encoded.payload))


def skeleton_of(type_name: str, payload: Mapping[str, Any], holds: Holds | None = None) -> Payload:
    """The same from a stored payload, in the shape in which it is stored.

    With ``holds``, what is spared and holds it goes too.
    """
    if type_name in ("redacted", "session_forked"):
        raise EventInvalid(
            f"a {type_name} event is not erased: it holds no text, and others need it"
        )
    kept = {name: payload[name] for name in _KEPT.get(type_name, ()) if name in payload}
    for name, left in _LEFT.get(type_name, {}).items():
        if name in payload:
            kept[name] = left(payload[name], payload)
    by = payload.get("by")
    if isinstance(by, dict) and type_name in codec.CLASSES:
        kept["by"] = {"name": by.get("name", "")}
    if isinstance(payload.get("origin"), dict) and type_name in codec.CLASSES:
        kept["origin"] = {"records": payload["origin"].get("records", [])}
    if holds is not None:
        _spare(kept, holds)
        for new in kept.get("messages", ()) if type_name in _LEFT else ():
            _spare(new, holds)
        for each in kept.get("inserted", ()) if type_name in _LEFT else ():
            _spare(each["message"], holds)
    return kept


def _spare(kept: Payload, holds: Holds) -> None:
    for name in SPARED & kept.keys():
        value = kept[name]
        if isinstance(value, list):
            kept[name] = [REDACTED if isinstance(v, str) and holds(v) else v for v in value]
        elif isinstance(value, str) and holds(value):
            kept[name] = REDACTED


_KEPT: dict[str, tuple[str, ...]] = {
    "session_started": (
        "ownership",
        "parent_session",
        "parent_call",
        "format",
        "importer_version",
        "foreign_session_id",
    ),
    "session_resumed": ("cleared",),
    "session_stored": ("items",),
    "message_appended": ("dialect", "source", "label", "call", "after"),
    "tool_result_recorded": (
        "tool_call_id",
        "name",
        "dialect",
        "is_error",
        "duration_ms",
        "after",
    ),
    "tools_declared": ("dialect",),
    "placeholder_substituted": ("item", "kind", "pass_id", "implied", "inferred"),
    "message_revised": ("item", "inferred"),
    "context_compacted": (
        "covered",
        "layout",
        "trigger",
        "pre_tokens",
        "post_tokens",
        "fell_back_from",
        "inferred",
        "opaque",
        "result",
    ),
    "compaction_declined": ("reason",),
    "decision_undone": ("target", "pass_id"),
    "item_pinned": ("item",),
    "item_unpinned": ("item",),
    "task_classified": ("task_type",),
    "session_rewound": ("to", "inferred"),
    "model_called": (
        "model",
        "dialect",
        "tools",
        "strategy",
        "server_edited",
        "request_digest",
        "manifest",
        "forms_stand",
    ),
    "model_responded": ("call", "response_id", "finish_reason", "model", "server_edited"),
    "model_failed": ("call", "status"),
    "repair_applied": ("rule", "dropped", "renamed", "call_ids"),
    "recording_interrupted": ("calls_missed",),
    "record_unrecognized": ("file", "line", "offset", "kind"),
}
"""Fields that stay as they are."""


def _text(value: Any, payload: Mapping[str, Any]) -> Any:
    return REDACTED


def _usage(value: Any, payload: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return None
    return {name: count for name, count in value.items() if name != "provider"}


def _summarizer(value: Any, payload: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return None
    kept = {name: value[name] for name in ("model", "shown") if name in value}
    if value.get("usage"):
        kept["usage"] = _usage(value["usage"], payload)
    return kept


def _message(value: Any, payload: Mapping[str, Any]) -> Any:
    return message(str(payload.get("dialect", "")), value)


def _revised(value: Any, payload: Mapping[str, Any]) -> Any:
    return _either(_guess(value), value)


def _patch(value: Any, payload: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return {}
    kept = _either(_guess(value), value)
    return {name: part for name, part in kept.items() if name in value}


def _native(value: Any, payload: Mapping[str, Any]) -> Any:
    dialect = str(payload.get("dialect", ""))
    if dialect == "anthropic" and isinstance(value, dict) and "role" not in value:
        return _block(value)
    return message(dialect, value)


def _either(dialect: str, value: Any) -> Any:
    """A message, or the bare block that Anthropic's tool results are."""
    if isinstance(value, dict) and "role" not in value and value.get("type") == "tool_result":
        return _block(value)
    return message(dialect, value)


def _new_message(value: Any) -> Any:
    kept = {name: value[name] for name in ("dialect", "source", "label") if name in value}
    return {**kept, "message": _either(str(value.get("dialect", "")), value.get("message"))}


def _new_messages(value: Any, payload: Mapping[str, Any]) -> Any:
    return [_new_message(each) for each in value]


def _inserted(value: Any, payload: Mapping[str, Any]) -> Any:
    return [{**each, "message": _new_message(each["message"])} for each in value]


def _definitions(value: Any, payload: Mapping[str, Any]) -> Any:
    tools = value if isinstance(value, list) else []
    dialect = str(payload.get("dialect", ""))
    return [_tool(dialect, tool) for tool in tools if isinstance(tool, dict)]


def _forms(value: Any, payload: Mapping[str, Any]) -> Any:
    """Where an entry was sent and which fields were null: later calls may say that it still is."""
    kept: dict[str, Any] = {}
    for number, form in (value or {}).items():
        if not all(map(str.isdecimal, number.split(","))):
            continue
        left = {name: form[name] for name in ("kind", "place", "role") if name in form}
        if "group" in form:
            at, blocks, frame = form["group"]
            left["group"] = [at, blocks, {k: v for k, v in frame.items() if k == "role"}]
        changes = [change for change in form.get("changes", ()) if _is_bare(change)]
        kept[number] = {**left, "changes": changes} if changes else left
    return kept


def _is_bare(change: Any) -> bool:
    """Whether a change of a form holds no text."""
    return change[0] != "order" and (change[0] != "+" or change[2] is None)


_Left = Callable[[Any, Mapping[str, Any]], Any]

_LEFT: dict[str, dict[str, _Left]] = {
    "session_titled": {"title": _text},
    "message_appended": {"message": _message},
    "tool_result_recorded": {"content": _text, "native": _native},
    "tools_declared": {"definitions": _definitions},
    "placeholder_substituted": {"content": _text},
    "message_revised": {"patch": _patch, "message": _revised},
    "context_compacted": {"messages": _new_messages, "summarizer": _summarizer},
    "compaction_declined": {"usage": _usage},
    "model_called": {"forms": _forms},
    "model_responded": {"usage": _usage},
    "model_failed": {"error": _text},
    "repair_applied": {"inserted": _inserted},
    "recording_interrupted": {"reason": _text},
    "record_unrecognized": {"raw": _text},
}
"""Fields of which something else stays."""


# -- messages -----------------------------------------------------------------------------------


def message(dialect: str, value: Any) -> Any:
    """A message, or a merge patch of one, with its role and its calls and no text."""
    if not isinstance(value, dict):
        return {"role": "user", "content": REDACTED}
    if dialect == "openai_responses":
        if isinstance(value.get("items"), list):
            return {"items": [_responses(item, "assistant") for item in value["items"]]}
        return _responses(value, "user")
    if dialect == "anthropic":
        return _content({"content": REDACTED, **_named(value, ("role",))}, value, _block)
    return _chat(value)


def _guess(value: Any) -> str:
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


def _block(block: Any) -> Payload:
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


def _tool(dialect: str, tool: Mapping[str, Any]) -> Payload:
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
