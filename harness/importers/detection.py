"""Which agent wrote a file: told from its first records, never from its name."""

from __future__ import annotations

import io
import json
from typing import Any

from eventlog.errors import InputRefused
from harness.importers.records import BLOCK, read_records

FORMATS = ("claude-code", "openai-chat")

_CLAUDE_TYPES = frozenset({"user", "assistant", "system", "attachment", "progress"})
_CLAUDE_FIRST = {
    "summary": "leafUuid",
    "file-history-snapshot": "messageId",
    "queue-operation": "operation",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "last-prompt": "lastPrompt",
    "permission-mode": "permissionMode",
    "mode": "mode",
    "agent-name": "agentName",
}
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


class UnknownFormat(InputRefused):
    """The file is no transcript that can be imported."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        """``what``: the kind of file that it seems to be, empty where nothing is recognized."""
        said = what or "no record in it is one of a known transcript"
        importable = f"{', '.join(FORMATS)} and exports of ctxlog"
        super().__init__(f"{name}: {said}; importable are {importable}")


def detect(head: bytes, name: str, asked: str = "") -> str:
    """The format of a file from its first bytes (a mebibyte is enough).

    With ``asked`` it is that one, unless the file is visibly another thing: records of another
    format, or only such as that format never has. Raises UnknownFormat, which says in one line what
    the file seems to be.
    """
    try:
        found = _detected(head, name)
    except UnknownFormat as error:
        if not asked or error.what or (asked == "claude-code" and not _may_be_claude(head)):
            raise
        return asked
    if "claude-code" in (asked, found) and asked not in ("", found):
        raise UnknownFormat(name, f"it holds {found} and not {asked}")
    return asked or found


def _may_be_claude(head: bytes) -> bool:
    """Whether nothing is whole yet, or a whole record has a session id, as all of theirs may."""
    whole = [record.value for record in read_records(io.BytesIO(head)) if not record.torn]
    return not whole or any(isinstance(value, dict) and "sessionId" in value for value in whole)


def _detected(head: bytes, name: str) -> str:
    if not head.strip():
        raise UnknownFormat(name, "the file is empty")
    found = ""
    for record in read_records(io.BytesIO(head[:BLOCK])):
        found = _of_value(record.value) if not record.fault else ""
        if found:  # the first record that says something: later ones may quote other transcripts
            break
    found = found or _of_document(head)
    if found in FORMATS:
        return found
    raise UnknownFormat(name, found)


def _of_value(value: Any) -> str:
    """A format, or what else it seems to be, or nothing."""
    if isinstance(value, list):
        return _of_messages(value) or (_of_value(value[0]) if value else "")
    if not isinstance(value, dict):
        return ""
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind == "session" and "cwd" in value:
        return "a pi session, which is not imported yet"
    if kind.startswith("session.") and isinstance(value.get("data"), dict):
        return "a Copilot CLI session, which is not imported yet"
    if isinstance(value.get("messages"), list):
        return _of_messages(value["messages"])
    if kind in ("session_meta", "response_item", "event_msg", "turn_context"):
        return "a Codex rollout, which is not imported yet"
    if kind in _CLAUDE_TYPES and ("sessionId" in value or "isSidechain" in value):
        return "claude-code"
    if kind in ("user", "assistant") and isinstance(value.get("message"), dict):
        return "claude-code"
    if _CLAUDE_FIRST.get(kind, "\0") in value:
        return "claude-code"
    if isinstance(value.get("contents"), list) or "toolCalls" in value:
        return "a Gemini session, which is not imported yet"
    if "samples" in value and "eval" in value:
        return "an Inspect log, which is not imported yet"
    return ""


def _of_messages(messages: list[Any]) -> str:
    if not messages:
        return "openai-chat"
    first = messages[0]
    if isinstance(first, list):
        return _of_messages(first)
    role = first.get("role") if isinstance(first, dict) else None
    if not isinstance(role, str) or role not in _ROLES:
        return ""
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result"):
                return "an Anthropic request, which is not imported yet"
    return "openai-chat"


def _of_document(head: bytes) -> str:
    """The format of one JSON value over several lines, which may go on behind the head."""
    text = head.decode("utf-8-sig", "replace").lstrip()
    try:
        return _of_value(json.loads(text))
    except (ValueError, RecursionError):
        pass
    cut = len(head) >= BLOCK and b"\n" not in head
    if cut and text[:1] == "{" and '"sessionId"' in text and '"type"' in text:
        # A first record that is longer than the head, as one with an image may be.
        return "claude-code"
    if text[:1] in "[{" and '"role"' in text and '"content"' in text:
        return "openai-chat"
    return ""
