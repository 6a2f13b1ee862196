"""Hand-made Claude Code records, in the shapes of that format and with content of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SESSION = "5e551011-0000-4000-8000-000000000001"


class Transcript:
    """Writes records one behind the other, each the child of the last one."""

    def __init__(self, session: str = SESSION) -> None:
        self.session = session
        self.records: list[dict[str, Any]] = []
        self.last: str | None = None

    def record(self, kind: str, **fields: Any) -> str:
        """A record with the fields that all have; returns its uuid."""
        number = len(self.records) + 1
        uuid = fields.pop("uuid", f"u-{number:03}")
        record = {
            "parentUuid": fields.pop("parent", self.last),
            "isSidechain": False,
            "cwd": "/srv/kiln",
            "sessionId": self.session,
            "version": "2.1.17",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-03-01T09:{number // 60:02}:{number % 60:02}.000Z",
            **fields,
        }
        self.records.append(record)
        if not record["isSidechain"]:
            self.last = uuid
        return uuid

    def bare(self, kind: str, **fields: Any) -> None:
        """A record without uuid, as titles and snapshots are."""
        self.records.append({"type": kind, **fields})

    def user(self, content: Any, **fields: Any) -> str:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def result(self, call_id: str, content: Any, is_error: bool = False, **fields: Any) -> str:
        block: dict[str, Any] = {
            "tool_use_id": call_id,
            "type": "tool_result",
            "content": content,
        }
        if is_error:
            block["is_error"] = True
        return self.user([block], **fields)

    def answer(
        self, message_id: str, *blocks: dict[str, Any], output: int = 5, **fields: Any
    ) -> str:
        """One record of an answer; several with one message id are one answer."""
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": fields.pop("model", "claude-kiln-1"),
            "content": list(blocks),
            "stop_reason": fields.pop("stop_reason", None),
            "usage": {
                "input_tokens": 3,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 100,
                "output_tokens": output,
            },
        }
        return self.record("assistant", message=message, requestId="req_" + message_id, **fields)

    def boundary(self, **metadata: Any) -> str:
        return self.record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=self.last,
            parent=None,
            compactMetadata={"trigger": "auto", "preTokens": 155_000, **metadata},
        )

    def summary(self, text: str = "What happened so far: the kiln was warmed.", **more: Any) -> str:
        return self.user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True, **more)

    def turn_ends(self) -> str:
        return self.record("system", subtype="turn_duration", durationMs=1200, isMeta=False)

    def bytes(self) -> bytes:
        return b"".join(
            json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records
        )

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def thinking(value: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": value, "signature": "c2lnbmVk"}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": arguments or {"command": "ls"},
    }


def long_session() -> Transcript:
    """A session with every kind of record that matters."""
    t = Transcript()
    t.bare("summary", summary="An older session", leafUuid="elsewhere")
    t.bare("file-history-snapshot", messageId="u-003", snapshot={}, isSnapshotUpdate=False)
    t.user("Warm the kiln to 900 °C and tell me when it is done.", permissionMode="default")
    t.answer("msg_1", thinking("Look first."), output=1)
    t.answer("msg_1", text("I look at the gauge."), output=2)
    t.answer("msg_1", call("toolu_1", command="gauge"), output=9)
    first = t.answer("msg_1", call("toolu_2", "Read", file_path="/srv/kiln/log.txt"), output=30)
    t.record("progress", data={"type": "bash_progress", "output": "…"}, toolUseID="toolu_1")
    t.result("toolu_1", "640 °C", toolUseResult={"stdout": "640 °C", "durationMs": 12})
    t.result("toolu_2", [text("line one\u2028line two")], is_error=True, parent=first)
    t.record("attachment", attachment={"type": "todo_reminder", "content": "Nothing to do."})
    t.record("attachment", attachment={"type": "queued_command", "prompt": "Faster, please."})
    t.answer("msg_2", text("It is at 640 °C, heating on."), stop_reason="end_turn", output=12)
    t.turn_ends()
    t.bare("queue-operation", operation="enqueue", content="x", sessionId=t.session)
    t.bare("custom-title", customTitle="Warming the kiln", sessionId=t.session)
    t.user("<command-name>/cost</command-name>")
    t.user("Caveat: not for you", isMeta=True)
    t.user([text("<system-reminder>Mind the gap.</system-reminder>")])
    t.record(
        "system",
        subtype="microcompact_boundary",
        microcompactMetadata={"trigger": "auto", "compactedToolIds": ["toolu_1"]},
    )
    t.user("And now?")
    t.answer("msg_3", call("toolu_3"))
    t.user("[Request interrupted by user for tool use]")
    t.result("toolu_3", "interrupted", is_error=True)
    t.answer("err", text("API Error: 529"), model="<synthetic>", isApiErrorMessage=True)
    t.boundary()
    t.summary()
    t.user("Go on.")
    t.answer("msg_4", text("Going on."))
    t.record("atis-latch", atis=1)
    t.turn_ends()
    return t
