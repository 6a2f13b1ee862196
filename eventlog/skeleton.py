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
from eventlog.erased_messages import REDACTED as REDACTED
from eventlog.erased_messages import Payload, block, either, guess, message, tool
from eventlog.errors import EventInvalid
from eventlog.events import EventBase
from eventlog.jsonvalue import loads

Holds = Callable[[str], bool]
"""Whether a text holds something that is to be erased."""

SPARED = frozenset(
    {
        "cleared",
        "embedder",
        "fell_back_from",
        "file",
        "finish_reason",
        "foreign_session_id",
        "kept",
        "label",
        "response_id",
        "role",
        "rule",
        "server_edited",
        "strategy",
        "task_type",
        "template",
        "trigger",
        "version",
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
    "session_resumed": ("cleared", "kept"),
    "session_deleted": ("purged",),
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
    "reply_started": ("reply_id",),
    "output_produced": ("reply_id",),
    "reply_ended": ("reply_id", "outcome"),
    "permissions_set": ("mode",),
    "permission_decided": ("tool_call_id", "name", "verdict"),
    "tool_call_started": ("tool_call_id", "name", "has_effects"),
    "tool_groups_set": ("groups",),
    "middleware_state_set": ("name",),
    "file_seen": ("how", "size", "modified_ns", "tool_call_id", "is_whole"),
    "prompt_rendered": ("item", "template", "role", "version"),
    "remembered": ("kind", "importance", "is_explicit", "area", "sources", "supersedes"),
    "memory_revised": ("memory", "kind", "importance", "is_explicit", "area", "sources"),
    "memory_forgotten": ("memory", "rule"),
    "memory_restored": ("memory",),
    "profile_updated": ("section", "how", "is_explicit", "sources"),
    "memory_recalled": (
        "of",
        "of_id",
        "item",
        "memories",
        "profile",
        "asked",
        "embedder",
        "dimension",
        "left_out",
        "is_renewed",
    ),
}
"""Fields that stay as they are."""


def _text(value: Any, payload: Mapping[str, Any]) -> Any:
    return REDACTED


def _nothing(value: Any, payload: Mapping[str, Any]) -> Any:
    return None


def _blank(value: Any, payload: Mapping[str, Any]) -> Any:
    return ""


def _said(value: Any, payload: Mapping[str, Any]) -> Any:
    """A text that may not be there."""
    return None if value is None else REDACTED


def _no_names(value: Any, payload: Mapping[str, Any]) -> Any:
    return {}


def _tasks(value: Any, payload: Mapping[str, Any]) -> Any:
    tasks = value if isinstance(value, list) else []
    kept = ({k: t[k] for k in ("id", "status") if k in t} for t in tasks if isinstance(t, dict))
    return [{"id": "", **each, "title": REDACTED} for each in kept]


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
    return either(guess(value), value)


def _patch(value: Any, payload: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        return {}
    kept = either(guess(value), value)
    return {name: part for name, part in kept.items() if name in value}


def _native(value: Any, payload: Mapping[str, Any]) -> Any:
    dialect = str(payload.get("dialect", ""))
    if dialect == "anthropic" and isinstance(value, dict) and "role" not in value:
        return block(value)
    return message(dialect, value)


def _new_message(value: Any) -> Any:
    kept = {name: value[name] for name in ("dialect", "source", "label") if name in value}
    return {**kept, "message": either(str(value.get("dialect", "")), value.get("message"))}


def _new_messages(value: Any, payload: Mapping[str, Any]) -> Any:
    return [_new_message(each) for each in value]


def _inserted(value: Any, payload: Mapping[str, Any]) -> Any:
    return [{**each, "message": _new_message(each["message"])} for each in value]


def _definitions(value: Any, payload: Mapping[str, Any]) -> Any:
    tools = value if isinstance(value, list) else []
    dialect = str(payload.get("dialect", ""))
    return [tool(dialect, each) for each in tools if isinstance(each, dict)]


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
    "output_produced": {"value": _nothing},
    "file_seen": {"path": _text},
    "tasks_set": {"tasks": _tasks},
    "remembered": {"text": _text},
    "memory_revised": {"text": _said},
    "profile_updated": {"values": _no_names},
    "prompt_rendered": {"salt": _blank, "template_digest": _blank, "rendered_digest": _blank},
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
