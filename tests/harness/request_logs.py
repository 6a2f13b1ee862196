"""Logs of requests as recorders write them, made from a conversation that truly grows.

An ``Agent`` keeps its own messages, as a client does, and sends all of them each time, with its
cache marks on the last ones. What it sent is kept, so that a test can ask for the same bytes.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Message = dict[str, Any]
MARK = {"type": "ephemeral"}
SESSION = "0f3c9a52-6d1e-4b7f-9c55-2f8f1e9b7a10"
USER = f"user_5e0_account_1b2_session_{SESSION}"
TOOLS = [
    {"name": name, "description": f"{name}.", "input_schema": {"type": "object"}}
    for name in ("Bash", "Read", "Task")
]
KEY = "sk-ant-api03-planted-key-that-nobody-may-find-0001"
BEARER = "Bearer sk-ant-oat01-planted-token-that-nobody-may-find"


def text(said: str) -> Message:
    return {"type": "text", "text": said}


def use(call_id: str, name: str = "Bash", **given: Any) -> Message:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, said: str, **more: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": said, **more}


def thinking(said: str) -> Message:
    return {"type": "thinking", "thinking": said, "signature": base64.b64encode(b"s").decode()}


class Recorder:
    """The exchanges of one log, in the order in which they were answered."""

    def __init__(self) -> None:
        self.pairs: list[dict[str, Any]] = []
        self.bodies: list[dict[str, Any]] = []
        """What was asked of a model, in order."""
        self._answers = 0

    def exchange(self, body: dict[str, Any], response: Any, **more: Any) -> dict[str, Any]:
        """Add an exchange in claude-trace's form."""
        number = len(self.pairs)
        self.bodies.append(copy.deepcopy(body))
        self.pairs.append(
            {
                "request": {
                    "timestamp": 1_750_000_000.25 + number,
                    "method": "POST",
                    "url": "https://api.anthropic.com/v1/messages?beta=true&key=" + KEY,
                    "headers": {
                        "authorization": BEARER,
                        "X-Api-Key": KEY,
                        "anthropic-version": "2023-06-01",
                        "x-stainless-os": "Linux",
                    },
                    "body": copy.deepcopy(body),
                },
                "response": response,
                "logged_at": "2026-02-03T10:00:00.000Z",
                **more,
            }
        )
        return self.pairs[-1]

    def message(self, blocks: list[Message], model: str) -> dict[str, Any]:
        """An answer, as the API returns it."""
        self._answers += 1
        stop = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
        return {
            "id": f"msg_{self._answers:04}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 10,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 300,
                "output_tokens": 40 + self._answers,
            },
        }

    def lines(self) -> list[str]:
        return [json.dumps(pair) for pair in self.pairs]

    def write(self, path: Path, count: int | None = None) -> Path:
        path.write_text("".join(line + "\n" for line in self.lines()[:count]))
        return path


def streamed(message: dict[str, Any], *, cut: int | None = None) -> str:
    """The message as server-sent events; ``cut`` takes only that many of them."""
    events = list(_events(message))[:cut]
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        empty, deltas = _deltas(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    tokens = {"output_tokens": usage["output_tokens"]}
    yield {"type": "message_delta", "delta": delta, "usage": tokens}
    yield {"type": "message_stop"}


def _deltas(block: Message) -> tuple[Message, list[Message]]:
    kind = block["type"]
    if kind == "text":
        halves = [block["text"][:7], block["text"][7:]]
        return text(""), [{"type": "text_delta", "text": half} for half in halves]
    if kind == "thinking":
        said = {"type": "thinking_delta", "thinking": block["thinking"]}
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [said, signed]
    written = json.dumps(block["input"])
    pieces = ["", written[:5], written[5:]]
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return {**block, "input": {}}, deltas


class Agent:
    """A client that keeps a conversation and sends the whole of it at each call."""

    def __init__(
        self,
        recorder: Recorder,
        system: str = "You are a coding agent.",
        tools: list[Message] | None = TOOLS,
        model: str = "claude-sonnet-4-5",
        user: str = USER,
    ) -> None:
        self.recorder = recorder
        self.messages: list[Message] = []
        self.model = model
        self._fixed: dict[str, Any] = {"model": model, "max_tokens": 32000, "stream": True}
        if system:
            self._fixed["system"] = [{**text(system), "cache_control": MARK}]
        if tools is not None:
            self._fixed["tools"] = tools
        if user:
            self._fixed["metadata"] = {"user_id": user}

    def say(self, *blocks: Message | str) -> None:
        """A message of the user's side: words, or results."""
        content = [text(b) if isinstance(b, str) else b for b in blocks]
        self.messages.append({"role": "user", "content": content})

    def body(self) -> dict[str, Any]:
        """The request as it would be sent now: the last two messages carry a cache mark."""
        sent = copy.deepcopy(self.messages)
        for message in sent[-2:]:
            if isinstance(message["content"], list) and message["content"]:
                message["content"][-1]["cache_control"] = MARK
        return {**copy.deepcopy(self._fixed), "messages": sent}

    def ask(self, *answer: Message, keep: bool = True, **shape: Any) -> dict[str, Any]:
        """Send what there is; the answer is these blocks, and kept as part of the conversation."""
        message = self.recorder.message(list(answer), self.model)
        response: dict[str, Any] = {"timestamp": 1_750_000_001.5, "status_code": 200}
        response["headers"] = {"content-type": "text/event-stream", "set-cookie": KEY}
        if shape.pop("whole", False):
            response["body"] = message
        else:
            response["body_raw"] = streamed(message, cut=shape.pop("cut", None))
        pair = self.recorder.exchange(self.body(), response, **shape)
        if keep:
            self.messages.append({"role": "assistant", "content": list(answer)})
        return pair

    def fail(self, status: int, kind: str, said: str) -> None:
        """Send what there is; the provider refuses."""
        error = {"type": "error", "error": {"type": kind, "message": said}}
        response = {"timestamp": 1_750_000_001.5, "status_code": status, "body": error}
        self.recorder.exchange(self.body(), response)


def small_session() -> Recorder:
    """A question, two parallel calls, a file, an answer; each request grows."""
    recorder = Recorder()
    agent = Agent(recorder)
    agent.say("<system-reminder>\nToday is Tuesday.\n</system-reminder>", "Why does the test fail?")
    agent.ask(thinking("Look first."), text("I look."), use("toolu_01", command="pytest -q"))
    agent.say(result("toolu_01", "FAILED test_round\n" * 30))
    agent.ask(use("toolu_02", "Read", path="a.py"), use("toolu_03", "Read", path="b.py"))
    agent.say(
        result("toolu_02", "def round(): ..."), result("toolu_03", "no such file", is_error=True)
    )
    agent.ask(text("The rounding in a.py is wrong."))
    agent.say("Fix it.")
    agent.ask(text("Done: it rounds half to even now."), whole=True)
    return recorder
