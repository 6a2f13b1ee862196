"""One record of a Codex rollout, read: what it is, who speaks, what it adds to the file's count.

A line is ``{"timestamp", "type", "payload"}``. The first versions wrote the items bare, behind a
first line with ``id``, ``timestamp`` and ``instructions``; such a line is its own payload here.

Source of the shapes: rollouts of versions 0.77 to 0.146, and Codex's own ``protocol``,
``event_mapping`` and ``context_manager`` for what counts as a turn of a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eventlog import Json
from eventlog.events import OriginRecord, Usage
from eventlog.jsonvalue import MAX_DEPTH, depth
from harness.importers.codex_speakers import SUMMARIES, is_from_agent, text_of
from harness.importers.identity import Stamp
from harness.importers.records import Record
from harness.importers.units import label_time
from harness.usage import tokens_of, uncached

DIALECT: Final = "openai_responses"

LINE_TYPES = frozenset(
    {
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)

_KNOWN_LINES = frozenset(
    {"world_state", "inter_agent_communication_metadata", "security_risk_score", "state"}
)
"""Lines that are no part of a context; what of them is told to the model stands in an item."""

_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
"""Items that are answered by an output item with their ``call_id``."""

_MODEL_ITEMS = _CALLS | {
    "reasoning",
    "web_search_call",
    "image_generation_call",
    "file_search_call",
    "code_interpreter_call",
    "computer_call",
    "mcp_call",
}
"""Items that only a model writes; an assistant's message is one too."""

_NEVER_SENT = frozenset({"ghost_snapshot", "compaction_trigger"})

_TURN_STARTS = frozenset({"task_started", "turn_started"})
_TURN_ENDS = frozenset({"task_complete", "turn_complete", "turn_aborted"})
_KNOWN_EVENTS = frozenset(
    {
        "agent_message",
        "agent_message_delta",
        "agent_reasoning",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "apply_patch_approval_request",
        "background_event",
        "collab_agent_interaction_begin",
        "collab_agent_interaction_end",
        "collab_agent_spawn_begin",
        "collab_agent_spawn_end",
        "collab_close_begin",
        "collab_close_end",
        "collab_resume_begin",
        "collab_resume_end",
        "collab_waiting_begin",
        "collab_waiting_end",
        "context_compacted",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "entered_review_mode",
        "error",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_end",
        "exited_review_mode",
        "guardian_assessment",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "item_completed",
        "item_started",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "patch_apply_begin",
        "patch_apply_end",
        "plan_update",
        "realtime_conversation_closed",
        "realtime_conversation_started",
        "session_configured",
        "stream_error",
        "sub_agent_activity",
        "thread_goal_updated",
        "thread_settings_applied",
        "token_count",
        "turn_diff",
        "undo_completed",
        "undo_started",
        "user_message",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
"""Notices for a screen: what they say stands in an item too, or is no part of a context. An undo
restores files and leaves the conversation as it is."""

_DEEPEST = MAX_DEPTH - 4
"""What is mapped is stored a few levels deeper than it stands in its line."""

MAX_COUNT = 2**53
"""Above this a token count is none."""


class Row:
    """A record of the rollout, with its identity in the stream that it belongs to."""

    __slots__ = ("item", "kind", "payload", "record", "stamp", "time", "type", "value")

    def __init__(self, record: Record, stamp: Stamp) -> None:
        self.record = record
        self.stamp = stamp
        self.value: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {}
        self.time = label_time(self.value.get("timestamp"))
        """The time that the record names, as it stands there."""
        self.type, self.payload = _read(self.value)
        self.item = text_of(self.payload.get("type"))
        """The type of the item or of the notice."""
        self.kind = "unreadable" if record.fault else self._kind()
        """What is done with it: ``meta``, ``turn``, ``model``, ``input``, ``result``, ``tokens``,
        ``compacted``, ``rollback``, ``title``, ``turn_start``, ``turn_end``, ``known`` for what is
        known to be no part of a context, or ``unknown``."""

    def _kind(self) -> str:
        if not self.type:
            return "unknown"
        raw = self.record.raw
        if raw.count(b"{") + raw.count(b"[") > _DEEPEST and depth(self.value) > _DEEPEST:
            return "unknown"
        match self.type:
            case "session_meta":
                return "meta"
            case "turn_context":
                return "turn"
            case "compacted":
                return "compacted"
            case "response_item":
                return _item_kind(self.item, self.payload)
            case "inter_agent_communication":
                return "input" if isinstance(self.payload.get("content"), str) else "unknown"
            case "event_msg":
                return _event_kind(self.item)
        return "known" if self.type in _KNOWN_LINES else "unknown"

    @property
    def call_id(self) -> str:
        """The id of the call that it makes or answers."""
        return text_of(self.payload.get("call_id"))

    @property
    def is_call(self) -> bool:
        """Whether an output item answers it."""
        return self.type == "response_item" and self.item in _CALLS

    @property
    def message(self) -> dict[str, Any]:
        """The item, as it is given to the model."""
        if self.type == "inter_agent_communication":
            return _communication(self.payload)
        return dict(self.payload)

    def origin(self, *pairs: str) -> OriginRecord:
        """Where it stands in the file."""
        return OriginRecord(
            line=self.record.line,
            part=self.record.part,
            type=f"{self.type}/{self.item}" if self.item else self.type,
            id=text_of(self.payload.get("id")),
            pairs=pairs,
        )

    def counted(self) -> OriginRecord:
        """Where it stands in the file, and what it adds to the file's own count: once a record."""
        if self.type != "response_item" or self.item == "ghost_snapshot":
            return self.origin()
        if self.is_call:
            return self.origin("visible", f"call:{self.call_id}")
        if self.item.endswith("_output"):
            return self.origin("visible", f"result:{self.call_id}")
        spoken = self.item == "message" and self.payload.get("role") == "assistant"
        said = f"#{self.record.line}.{self.record.part}" if spoken else ""
        return self.origin("visible").model_copy(update={"message": said})


def _read(value: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """(type, payload) of a line; no type where it is none of a rollout."""
    kind, payload = value.get("type"), value.get("payload")
    if "payload" in value:
        if isinstance(kind, str) and isinstance(payload, dict):
            return kind, payload
        return "", {}
    if is_bare_head(value):
        return "session_meta", value
    if "record_type" in value:
        return "state", value
    if isinstance(kind, str) and _item_kind(kind, value) != "unknown":
        return "response_item", value
    return "", {}


def is_bare_head(value: Mapping[str, Any]) -> bool:
    """Whether it is the first line that the first versions wrote."""
    texts = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return texts and "instructions" in value and "type" not in value


def _item_kind(kind: str, item: Mapping[str, Any]) -> str:
    if kind == "message":
        if not isinstance(item.get("content"), str | list):
            return "unknown"
        spoken = item.get("role") == "assistant" and not is_from_agent(item)
        return "model" if spoken else "input"
    if kind in _MODEL_ITEMS:
        return "model"
    if kind.endswith("_output"):
        return "result"
    if kind == "agent_message" or kind in SUMMARIES:
        return "input"
    return "known" if kind in _NEVER_SENT else "unknown"


def _event_kind(kind: str) -> str:
    if kind == "token_count":
        return "tokens"
    if kind in _TURN_STARTS:
        return "turn_start"
    if kind in _TURN_ENDS:
        return "turn_end"
    if kind == "thread_rolled_back":
        return "rollback"
    if kind == "thread_name_updated":
        return "title"
    return "known" if kind in _KNOWN_EVENTS else "unknown"


def count_of(value: object) -> int:
    """The value when it is a sensible count, else 0."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= MAX_COUNT else 0  # type: ignore[operator,return-value]


def _communication(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What another agent said, as the item that the model is given."""
    author, recipient = text_of(payload.get("author")), text_of(payload.get("recipient"))
    sealed = payload.get("encrypted_content")
    content: list[dict[str, Any]]
    if isinstance(sealed, str):
        kind = "NEW_TASK" if payload.get("trigger_turn") is True else "MESSAGE"
        lines = (f"Message Type: {kind}", f"Task name: {recipient}", f"Sender: {author}")
        content = [
            {"type": "input_text", "text": "\n".join((*lines, "Payload:", ""))},
            {"type": "encrypted_content", "encrypted_content": sealed},
        ]
    else:
        content = [{"type": "input_text", "text": text_of(payload.get("content"))}]
    return {
        "type": "agent_message",
        "author": author,
        "recipient": recipient,
        "content": content,
    }


# -- what a record says beside its item -----------------------------------------------------------


def unmapped(row: Row) -> dict[str, Any]:
    """The fields of a line beside its payload that say something."""
    if row.payload is row.value:
        return {}
    known = ("type", "payload", "timestamp")
    rest = {k: v for k, v in row.value.items() if k not in known and v is not None}
    if row.time is None and row.value.get("timestamp") is not None:
        rest["timestamp"] = row.value["timestamp"]
    return rest


def totals_of(row: Row) -> Mapping[str, Any] | None:
    """The running total that a token count names; None where it names none."""
    info = row.payload.get("info")
    total = info.get("total_token_usage") if isinstance(info, dict) else None
    return total if isinstance(total, dict) else None


def usage_of(row: Row) -> Usage | None:
    """The usage of the answer that a token count was written for, disjoint."""
    info = row.payload.get("info")
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    if not isinstance(last, dict):
        return None
    cached = tokens_of(last.get("cached_input_tokens"))
    written = tokens_of(last.get("cache_write_input_tokens"))
    return Usage(
        input=uncached(tokens_of(last.get("input_tokens")), cached, written),
        cached=cached,
        cache_write=written,
        output=tokens_of(last.get("output_tokens")),
        reasoning=tokens_of(last.get("reasoning_output_tokens")),
        provider=Json(last),
    )


def context_tokens(row: Row) -> int | None:
    """How many tokens the context held, by a token count."""
    info = row.payload.get("info")
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    return (tokens_of(last.get("total_tokens")) or None) if isinstance(last, dict) else None


def parameters_of(row: Row) -> dict[str, Any]:
    """What of the request's parameters a turn context names."""
    reasoning = {
        key: row.payload[key]
        for key in ("effort", "summary")
        if isinstance(row.payload.get(key), str)
    }
    return {"reasoning": reasoning} if reasoning else {}
