"""Transcripts that somebody wrote to do harm: hostile texts in all places of each format.

A benign transcript is written with ``§`` wherever an agent, a tool or a web page chooses the text;
the hostile text is put there. Ids, names and times are such places too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MARK = "§"

TEXTS: dict[str, str] = {
    "ansi": "\x1b[2J\x1b[31mred\x1b[0m\x1b]0;title\x07\r\x08",
    "osc52": "\x1b]52;c;QUJD\x07\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\",
    "c1": "\x9b31m\x9d52;c;QUJD\x9c\x85\x90q",
    "bidi": "\u202eevil\u2066\u2069\u200f\u061c",
    "hidden": "\u200b\u2060\ufeff\u00ad\U000e0041\U000e0042\u3164\u2028\u2029",
    "nul": "a\x00b\x00\x00",
    "surrogate": "\ud83d half, \udc00 other half",
    "script": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "markup": "[/x][link=http://e]x[/link]\n```\n# h\n](javascript:alert(1))",
    "formula": "=cmd|' /C calc'!A0,+1+1,-1,@SUM(1),\t=1",
    "path": "../../../../etc/passwd\n~/.ssh/id_rsa %2e%2e/ C:\\x",
    "shell": "`id` $(id) ; rm -rf / | x && y 'q' \"q\" --db=/etc/passwd -x",
    "sql": "'; drop table events; -- \" or 1=1 NEAR( * ^ {a} : -",
    "format": "%s %n {0} {x!r} ${HOME} %(x)s \\u{1b} \\x1b",
}
"""By kind."""


class Transcript(NamedTuple):
    """One hostile transcript: its files, below a folder of its own."""

    name: str
    files: dict[str, bytes]
    code: int = 0
    """With which the import ends: 1 where a record cannot be read and is kept as it is, 2 where the
    whole is refused in one line."""

    def write(self, folder: Path) -> Path:
        """Write it; returns what is to be imported."""
        for name, data in self.files.items():
            path = folder / self.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder / self.name


def _put(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return value.replace(MARK, text)
    if isinstance(value, list):
        return [_put(each, text) for each in value]
    if isinstance(value, dict):
        return {_put(key, text): _put(each, text) for key, each in value.items()}
    return value


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _lines(values: list[Any]) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def claude_code() -> dict[str, Any]:
    """A session with a call, its result, a clearing, a compaction and a sub-agent."""
    base = {"sessionId": "s1§", "cwd": "/srv/§", "version": "2§", "gitBranch": "§", "slug": "§"}

    def row(kind: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
        return {
            **base,
            "type": kind,
            "uuid": uuid + MARK,
            "parentUuid": parent and parent + MARK,
            "isSidechain": False,
            "timestamp": "2026-03-01§",
            **more,
        }

    def answer(*blocks: Any) -> dict[str, Any]:
        usage = {"input_tokens": 3, "output_tokens": 5}
        return {"id": "m§", "role": "assistant", "model": "§", "content": blocks, "usage": usage}

    call = {"type": "tool_use", "id": "t§", "name": "Bash§", "input": {"command": "run §", "§": 1}}
    found = {"type": "tool_result", "tool_use_id": "t§", "content": "found § ORD-77120"}
    cleared = {"trigger": "§", "preTokens": 9, "tokensSaved": 3, "compactedToolIds": ["t§"]}
    thinking = {"type": "thinking", "thinking": "§ hm", "signature": "§"}
    records = [
        {"type": "summary", "summary": "title §", "leafUuid": "§"},
        row("user", "a", None, message={"role": "user", "content": "do § never touch §/x.py"}),
        row("assistant", "b", "a", message=answer(thinking, {"type": "text", "text": "§"}, call)),
        row("user", "c", "b", message={"role": "user", "content": [found]}, toolUseResult="§"),
        row("system", "d", "c", subtype="microcompact_boundary", microcompactMetadata=cleared),
        row("attachment", "e", "d", attachment={"type": "§", "content": "§"}),
        row("system", "f", None, subtype="compact_boundary", logicalParentUuid="e§",
            compactMetadata={"trigger": "§", "preTokens": 155}),
        row("user", "g", "f", isCompactSummary=True,
            message={"role": "user", "content": "summary §"}),
        row("assistant", "h", "g", message=answer({"type": "text", "text": "ORD-77120 §"})),
        {"type": "§", "sessionId": "s1§", "what": "§"},
    ]  # fmt: skip
    return {"s.jsonl": records}


def openai_chat() -> dict[str, Any]:
    """A conversation with tools, in one object."""
    function = {"name": "look§", "arguments": '{"path": "§"}'}
    return {
        "c.json": {
            "title": "§",
            "tools": [{"type": "function", "function": {"name": "look§", "description": "§"}}],
            "messages": [
                {"role": "system", "content": "§ rules"},
                {"role": "user", "name": "§", "content": [{"type": "text", "text": "§"}]},
                {"role": "assistant", "content": "§", "tool_calls": [
                    {"id": "c§", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "c§", "content": "§ found"},
                {"role": "assistant", "content": "done §"},
                {"role": "§", "content": "§"},
            ],
        }
    }  # fmt: skip


def codex() -> dict[str, Any]:
    """A rollout with a call, a compaction with an encrypted summary, and a rollback."""

    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026§", "type": "response_item", "payload": payload}

    def note(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026§", "type": "event_msg", "payload": payload}

    def said(role: str, kind: str = "input_text") -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": f"{role} §"}]}

    meta = {"id": "019§", "cwd": "/§", "cli_version": "0§", "base_instructions": {"text": "be §"}}
    usage = {"input_tokens": 10, "cached_input_tokens": 2, "output_tokens": 3,
             "reasoning_output_tokens": 1, "total_tokens": 13}  # fmt: skip
    info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 1000}
    history = [said("user"), {"type": "compaction", "encrypted_content": "§"}]
    return {
        "rollout.jsonl": [
            {"timestamp": "2026§", "type": "session_meta", "payload": meta},
            {"timestamp": "2026§", "type": "turn_context", "payload": {"model": "§", "cwd": "§"}},
            item(**said("developer")),
            item(**said("user")),
            note(type="user_message", message="user §"),
            item(type="reasoning", summary=[{"type": "summary_text", "text": "§"}],
                 encrypted_content="§"),
            item(type="function_call", name="run§", arguments='{"cmd": "§"}', call_id="k§"),
            item(type="function_call_output", call_id="k§", output="out §"),
            note(type="token_count", info=info),
            item(**said("assistant", "output_text")),
            {"timestamp": "§", "type": "compacted",
             "payload": {"message": "§", "replacement_history": history}},
            note(type="context_compacted"),
            item(**said("user")),
            item(**said("assistant", "output_text")),
            note(type="thread_rolled_back", num_turns=1),
            {"timestamp": "§", "type": "§", "payload": {"type": "§"}},
        ]
    }  # fmt: skip


def swe_agent() -> dict[str, Any]:
    """A trajectory with the requests of its steps, in one of which an observation is elided."""
    system = {"role": "system", "content": "rules §", "agent": "§"}
    task = {"role": "user", "content": "task §", "agent": "§"}

    def answer(number: int) -> dict[str, Any]:
        call = {"id": f"c{number}§", "type": "function",
                "function": {"name": "bash§", "arguments": '{"command": "§"}'}}  # fmt: skip
        return {"role": "assistant", "content": f"{number} §", "action": "§", "tool_calls": [call],
                "agent": "§"}  # fmt: skip

    def result(number: int, text: str) -> dict[str, Any]:
        return {"role": "tool", "content": text, "tool_call_ids": [f"c{number}§"], "agent": "§"}

    elided = "Old environment output: (3 lines omitted)"
    first, second = result(1, "seen § 1\n2\n3"), result(2, "seen § again")
    history = [system, task, answer(1), first, answer(2), second, answer(3)]
    steps = [
        {"action": "§", "observation": "§", "response": "§", "thought": "§", "state": {"§": "§"},
         "execution_time": 0.1, "query": query}
        for query in (
            [system, task],
            [system, task, answer(1), first],
            [system, task, answer(1), {**first, "content": elided}, answer(2), second],
        )
    ]  # fmt: skip
    info = {"exit_status": "§", "submission": "§", "model_stats": {"api_calls": 3}}
    return {"t.traj": {"environment": "§", "trajectory": steps, "history": history, "info": info}}


def mini_swe_agent() -> dict[str, Any]:
    """A run of mini-swe-agent, which ends with its pseudo-role."""
    function = {"name": "bash§", "arguments": '{"command": "§"}'}
    call = {"id": "c§", "type": "function", "function": function}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    extra = {"response": {"id": "§", "model": "§", "usage": usage}, "timestamp": 1.5}
    return {
        "m.traj.json": {
            "info": {"exit_status": "§", "submission": "§", "mini_version": "§", "config": "§"},
            "trajectory_format": "mini-swe-agent-1.1",
            "instance_id": "§",
            "messages": [
                {"role": "system", "content": "§"},
                {"role": "user", "content": "task §"},
                {"role": "assistant", "content": "§", "tool_calls": [call], "extra": extra},
                {
                    "role": "tool",
                    "tool_call_id": "c§",
                    "content": "§",
                    "extra": {"raw_output": "§"},
                },
                {"role": "exit", "content": "§", "extra": {"exit_status": "§"}},
            ],
        }
    }


def openhands() -> dict[str, Any]:
    """A conversation's folder of OpenHands V1, with a condensation."""

    def text(what: str) -> dict[str, Any]:
        return {"type": "text", "text": what, "cache_prompt": False}

    call = {"id": "c§", "type": "function",
            "function": {"name": "run§", "arguments": '{"command": "§"}'}}  # fmt: skip
    events: list[dict[str, Any]] = [
        {"kind": "SystemPromptEvent", "source": "agent", "system_prompt": text("be §"),
         "tools": [{"type": "function", "function": {"name": "run§", "description": "§"}}]},
        {"kind": "MessageEvent", "source": "user",
         "llm_message": {"role": "user", "content": [text("task §")]}},
        {"kind": "ActionEvent", "source": "agent", "thought": [text("§")], "tool_name": "run§",
         "action": {"kind": "§", "command": "§"}, "tool_call_id": "c§", "tool_call": call,
         "llm_response_id": "r§"},
        {"kind": "ObservationEvent", "source": "environment", "tool_name": "run§",
         "tool_call_id": "c§", "observation": {"kind": "§", "output": "out §"}, "action_id": "e2"},
        {"kind": "Condensation", "source": "environment", "forgotten_event_ids": ["e2", "e3", "§"],
         "summary": "summary §", "summary_offset": 2},
        {"kind": "§", "source": "§", "what": "§"},
        {"kind": "MessageEvent", "source": "agent",
         "llm_message": {"role": "assistant", "content": [text("done §")]}},
    ]  # fmt: skip
    files: dict[str, Any] = {"base_state.json": {"id": "§", "agent": {"llm": {"model": "§"}}}}
    for number, event in enumerate(events):
        name = f"events/event-{number:05}-00000000-0000-4000-8000-{number:012}.json"
        files[name] = {"id": f"e{number}", "timestamp": "2026§", **event}
    return files


def anthropic() -> dict[str, Any]:
    """One request of the Messages API."""
    return {
        "a.json": {
            "model": "§",
            "system": [{"type": "text", "text": "§", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "look§", "description": "§", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "§"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "§", "signature": "§"},
                    {"type": "tool_use", "id": "t§", "name": "look§", "input": {"§": "§"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t§", "content": "§", "is_error": True},
                    {"type": "§", "§": "§"}]},
                {"role": "assistant", "content": "done §"},
            ],
        }
    }  # fmt: skip


def anthropic_pairs() -> dict[str, Any]:
    """A log of two requests, the second of which holds the first with its answer."""
    first: list[Any] = [{"role": "user", "content": "do §"}]
    use = {"type": "tool_use", "id": "t§", "name": "look§", "input": {"path": "§"}}
    result = {"type": "tool_result", "tool_use_id": "t§", "content": "§"}
    usage = {"input_tokens": 9, "output_tokens": 3}

    def pair(messages: list[Any], *content: Any) -> dict[str, Any]:
        body = {"model": "§", "max_tokens": 9, "system": "§", "messages": messages}
        answer = {"id": "m§", "type": "message", "role": "assistant", "model": "§",
                  "content": content, "stop_reason": "§", "usage": usage}  # fmt: skip
        headers = {"x-api-key": "sk-ant-§", "§": "§"}
        return {"request": {"url": "§", "headers": headers, "body": body},
                "response": {"status_code": 200, "body": answer}}  # fmt: skip

    second = [
        *first,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    return {"p.jsonl": [pair(first, use), pair(second, {"type": "text", "text": "done §"})]}


FORMATS: dict[str, Callable[[], dict[str, Any]]] = {
    "claude-code": claude_code,
    "openai-chat": openai_chat,
    "codex": codex,
    "swe-agent": swe_agent,
    "mini-swe-agent": mini_swe_agent,
    "openhands": openhands,
    "anthropic": anthropic,
    "anthropic-pairs": anthropic_pairs,
}


def _filled(format: str, kind: str, text: str) -> Transcript:
    files = {}
    for name, value in FORMATS[format]().items():
        value = _put(value, text)
        files[name] = _lines(value) if name.endswith(".jsonl") else _json(value)
    return Transcript(f"{format} {kind}", files)


def transcripts() -> Iterator[Transcript]:
    """All of them: each kind of text in four formats, and each kind of shape in one."""
    formats = list(FORMATS)
    for number, (kind, text) in enumerate(TEXTS.items()):
        for step in range(4):
            yield _filled(formats[(number + 2 * step + step // 4) % len(formats)], kind, text)
    yield from _shapes()


def _shapes() -> Iterator[Transcript]:
    """What is hostile by its shape: size, depth, numbers, repetition, the name of the file."""
    benign = _put(claude_code()["s.jsonl"], "n")
    benign[3]["message"]["content"][0]["content"] = "A" * 10_000_000
    yield Transcript("claude-code long", {"s.jsonl": _lines(benign)})  # a line of 10 MB
    benign = _put(claude_code()["s.jsonl"], "n")
    benign[0]["summary"] = "B" * 2_000_000
    yield Transcript("claude-code long first", {"s.jsonl": _lines(benign)})
    yield _filled("codex", "long", "word " * 20_000)
    yield _filled("swe-agent", "long", "\n".join(["x"] * 20_000))
    huge = b"9" * 4_000
    for format in ("openai-chat", "openhands", "anthropic"):
        made = _filled(format, "huge numbers", "n")
        files = {
            name: data.replace(b'"content"', b'"n": -%s, "f": 1e308, "content"' % huge)
            for name, data in made.files.items()
        }
        yield made._replace(files=files)
    deep = "[" * 1000 + "]" * 1000
    asked = {"type": "tool_use", "id": "t", "name": "look", "input": "DEEP"}
    message = json.dumps({"role": "assistant", "content": [asked]}).replace('"DEEP"', deep)
    record = '{"type":"user","uuid":"u","sessionId":"deep","message":' + message + "}\n"
    first = json.dumps(benign[1])
    yield Transcript("claude-code deep", {"s.jsonl": f"{first}\n{record}".encode()}, code=1)
    document = f'[{{"role":"user","content":"x"}},{message}]'.encode()
    yield Transcript("openai-chat deep", {"c.json": document}, code=2)
    lines = _filled("codex", "twice", "same").files["rollout.jsonl"]
    yield Transcript("codex twice", {"rollout.jsonl": lines * 20})
    name = "na\x1b[2Jme\u202e -rf ..jsonl"
    yield Transcript("claude-code name", {name: _lines(_put(claude_code()["s.jsonl"], "n"))})
    yield Transcript("noise", {"x.jsonl": bytes(range(256)) * 40}, code=2)
    yield Transcript(
        "torn", {"s.jsonl": _lines(_put(claude_code()["s.jsonl"], "t"))[:-200]}, code=1
    )
