"""Hand-made Codex records, in the shapes of that format and with content of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

THREAD = "5e551011-0000-7000-8000-00000000000a"
KEY = f"local/codex/{THREAD}"
PROMPT = "You look after a kiln."


class Rollout:
    """Writes records one behind the other, with running token totals."""

    def __init__(self, thread: str = THREAD, **meta: Any) -> None:
        self.thread = thread
        self.lines: list[bytes] = []
        self.total = dict.fromkeys(
            (
                "input_tokens",
                "cached_input_tokens",
                "output_tokens",
                "reasoning_output_tokens",
                "total_tokens",
            ),
            0,
        )
        self.last = dict(self.total)
        if "header" not in meta or meta.pop("header"):
            self.meta(id=thread, **meta)

    def line(self, kind: str, payload: Any, **envelope: Any) -> None:
        number = len(self.lines) + 1
        stamp = f"2026-03-01T09:{number // 60:02}:{number % 60:02}.000Z"
        record = {"timestamp": stamp, "type": kind, "payload": payload, **envelope}
        self.lines.append(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    def meta(self, **fields: Any) -> None:
        self.line(
            "session_meta",
            {
                "timestamp": "2026-03-01T09:00:00.000Z",
                "cwd": "/srv/kiln",
                "originator": "codex_cli_rs",
                "cli_version": "0.142.0",
                "source": "cli",
                "base_instructions": {"text": PROMPT},
                **fields,
            },
        )

    def put(self, item: dict[str, Any]) -> dict[str, Any]:
        self.line("response_item", item)
        return item

    def item(self, kind: str, **fields: Any) -> dict[str, Any]:
        return self.put({"type": kind, **fields})

    def event(self, kind: str, **fields: Any) -> None:
        self.line("event_msg", {"type": kind, **fields})

    def turn(self, model: str = "gpt-kiln-1", **fields: Any) -> None:
        self.event("task_started", turn_id=f"turn-{len(self.lines)}")
        context = {"model": model, "effort": "high", "summary": "auto", "cwd": "/srv/kiln"}
        self.line("turn_context", {**context, **fields})

    def user(self, said: str) -> dict[str, Any]:
        item = self.put(message("user", said))
        self.event("user_message", message=said, images=[])
        return item

    def developer(self, said: str) -> dict[str, Any]:
        return self.put(message("developer", said))

    def think(self, number: int) -> dict[str, Any]:
        return self.item("reasoning", id=f"rs_{number}", summary=[], encrypted_content="c2VhbGVk")

    def say(self, said: str) -> dict[str, Any]:
        self.event("agent_message", message=said)
        return self.put(message("assistant", said))

    def call(self, call_id: str, name: str = "exec_command", **arguments: Any) -> dict[str, Any]:
        given = json.dumps(arguments or {"cmd": "gauge"})
        return self.item("function_call", name=name, arguments=given, call_id=call_id)

    def result(self, call_id: str, output: Any = "640 °C") -> dict[str, Any]:
        return self.item("function_call_output", call_id=call_id, output=output)

    def count(self, sent: int = 100, cached: int = 60, output: int = 9, reasoning: int = 4) -> None:
        self.last = {
            "input_tokens": sent,
            "cached_input_tokens": cached,
            "output_tokens": output,
            "reasoning_output_tokens": reasoning,
            "total_tokens": sent + output,
        }
        self.total = {key: self.total[key] + self.last[key] for key in self.total}
        self.repeat()

    def repeat(self) -> None:
        """The last count once more, as Codex does when a turn starts."""
        info = {
            "total_token_usage": dict(self.total),
            "last_token_usage": dict(self.last),
            "model_context_window": 121_600,
        }
        self.event("token_count", info=info, rate_limits=None)

    def compacted(self, *history: dict[str, Any], said: str = "", **fields: Any) -> None:
        self.line("compacted", {"message": said, "replacement_history": list(history), **fields})
        self.event("context_compacted")

    def ends(self) -> None:
        self.event("task_complete", turn_id="turn", last_agent_message=None)

    def bytes(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.bytes())
        return path


def message(role: str, said: str) -> dict[str, Any]:
    """A message item."""
    block = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": block, "text": said}]}


def sealed(number: int = 1) -> dict[str, Any]:
    """A compaction whose content only the provider can read."""
    return {"type": "compaction", "id": f"cmp_{number}", "encrypted_content": "c2VhbGVk"}


def long_session() -> Rollout:
    """A thread with every kind of record that matters."""
    r = Rollout(git={"branch": "main"}, dynamic_tools=[{"name": "fan", "inputSchema": {}}])
    r.turn()
    r.developer("<permissions instructions>All is allowed.</permissions instructions>")
    r.put(message("user", "<environment_context>\n<cwd>/srv/kiln</cwd>\n</environment_context>"))
    first = r.user("Warm the kiln to 900 °C and tell me when it is done.")
    r.event("token_count", info=None, rate_limits={"primary": None})
    r.think(1)
    r.say("I look at the gauge.")
    r.call("call_1")
    r.call("call_2", "read", path="/srv/kiln/log.txt")
    r.event("exec_command_end", call_id="call_1", aggregated_output="640 °C")
    r.count()
    r.result("call_1")
    r.result("call_2", [{"type": "input_text", "text": "line one\u2028line two"}])
    r.think(2)
    r.item("custom_tool_call", call_id="call_3", name="apply_patch", input="*** Begin Patch")
    r.item("custom_tool_call_output", call_id="call_3", output="Done")
    r.count(output=30)
    r.say("It is at 640 °C, heating on.")
    r.count()
    r.ends()
    r.event("thread_name_updated", thread_id=THREAD, thread_name="Warming the kiln")
    r.turn("gpt-kiln-2")
    second = r.user("And now?")
    r.repeat()
    r.item("web_search_call", status="completed", action={"type": "search", "query": "kiln"})
    r.call("call_4")
    r.count()
    r.event("turn_aborted", reason="interrupted")
    r.put(message("user", "<turn_aborted>\nThe user stopped it.\n</turn_aborted>"))
    r.result("call_4", "aborted")
    r.compacted(first, second, sealed(), window_number=1)
    r.repeat()
    r.line("world_state", {"full": True, "state": {}})
    r.turn()
    r.user("Go on.")
    r.say("Going on.")
    r.count()
    r.ends()
    r.event("thread_rolled_back", num_turns=1)
    r.turn()
    r.user("Cool it down instead.")
    r.item("ghost_snapshot", ghost_commit={"id": "abc"})
    r.say("Cooling.")
    r.count()
    r.event("a_notice_of_tomorrow", text="?")
    r.line("a_record_of_tomorrow", {"text": "?"})
    r.ends()
    return r
