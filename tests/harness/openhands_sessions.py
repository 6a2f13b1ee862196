"""Hand-made OpenHands sessions, V1 and V0, in the shapes of their formats, with content of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ID = "0a1b2c3d-0000-4000-8000-000000000007"
KEY_V1 = f"local/openhands-v1/{ID}"
SID = "kiln-7f3a"
KEY_V0 = f"local/openhands-v0/{SID}"

TOOLS = [
    {
        "type": "function",
        "function": {"name": "terminal", "parameters": {"type": "object", "properties": {}}},
    }
]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value, "cache_prompt": False}


class V1:
    """Writes the events of one conversation, each a file of its own."""

    def __init__(self, conversation: str = ID, **condenser: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {
            "id": conversation,
            "agent": {
                "kind": "Agent",
                "llm": {"model": "kiln/large", "api_key": "**********", "temperature": 0.0},
                "condenser": {"kind": "LLMSummarizingCondenser", **condenser},
            },
            "stats": {"usage_to_metrics": {"agent": {"token_usages": []}}},
        }

    def event(self, kind: str, source: str = "environment", **fields: Any) -> str:
        """An event with the fields that all have; returns its id."""
        number = len(self.events)
        own = fields.pop("id", f"{number:08x}-0000-4000-8000-00000000abcd")
        time = f"2026-03-01T09:{number // 60 % 60:02}:{number % 60:02}.000001"
        event = {"kind": kind, "id": own, "timestamp": time, "source": source, **fields}
        self.events.append(event)
        return str(own)

    def system(self, prompt: str = "You tend a kiln.", tools: Any = TOOLS, **more: Any) -> str:
        return self.event(
            "SystemPromptEvent", "agent", system_prompt=text(prompt), tools=tools, **more
        )

    def user(self, said: str, source: str = "user", **fields: Any) -> str:
        message = {"role": "user", "content": [text(said)]}
        return self.event("MessageEvent", source, llm_message=message, **fields)

    def says(self, said: str, response: str = "") -> str:
        message = {"role": "assistant", "content": [text(said)]}
        more = {"llm_response_id": response} if response else {}
        return self.event("MessageEvent", "agent", llm_message=message, **more)

    def action(
        self, call: str, response: str, thought: str = "", tool: str = "terminal", **more: Any
    ) -> str:
        """One call of an answer, in the form that the SDK has written since 2025-10."""
        arguments = more.pop("arguments", {"command": f"ls {call}"})
        return self.event(
            "ActionEvent",
            "agent",
            thought=[text(thought)] if thought else [],
            action={"kind": "TerminalAction", **arguments},
            tool_name=tool,
            tool_call_id=call,
            tool_call={
                "id": call,
                "name": tool,
                "arguments": json.dumps(arguments),
                "origin": "completion",
            },
            llm_response_id=response,
            **more,
        )

    def observes(self, call: str, action: str, said: str = "done", **more: Any) -> str:
        observation = more.pop("observation", {"kind": "ThinkObservation", "content": [text(said)]})
        return self.event(
            "ObservationEvent",
            observation=observation,
            tool_name="terminal",
            tool_call_id=call,
            action_id=action,
            **more,
        )

    def step(self, number: int, thought: str = "") -> tuple[str, str]:
        """A call and its result, of an answer of its own."""
        action = self.action(f"call_{number}", f"resp_{number}", thought)
        return action, self.observes(f"call_{number}", action, f"result {number}")

    def condenses(self, ids: list[str], summary: str | None, offset: int | None, **m: Any) -> str:
        fields = {"forgotten_event_ids": ids, "summary": summary, "summary_offset": offset, **m}
        return self.event("Condensation", **{k: v for k, v in fields.items() if v is not None})

    def bill(self, response: str, **tokens: int) -> None:
        usages = self.state["stats"]["usage_to_metrics"]["agent"]["token_usages"]
        usages.append({"model": "kiln/large", "response_id": response, **tokens})

    def write(self, folder: Path, to: int | None = None) -> Path:
        """The conversation as a folder, up to its n-th event."""
        (folder / "events").mkdir(parents=True, exist_ok=True)
        (folder / "base_state.json").write_text(json.dumps(self.state))
        for number, event in enumerate(self.events[:to]):
            self.file(folder, number).write_text(json.dumps(event, ensure_ascii=False))
        return folder

    def file(self, folder: Path, number: int) -> Path:
        """The file of the n-th event."""
        return folder / "events" / f"event-{number:05}-{self.events[number]['id']}.json"


def small_v1(steps: int = 6, **condenser: Any) -> V1:
    """A prompt, a task and some steps."""
    v1 = V1(**condenser)
    v1.system()
    v1.user("Warm the kiln to 90 °C.")
    for number in range(steps):
        v1.step(number, f"Step {number}." if number % 2 else "")
    return v1


class V0:
    """Writes the events of one session, numbered from 0."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def event(self, source: str, **fields: Any) -> int:
        number = len(self.events)
        time = f"2025-04-01T10:{number // 60 % 60:02}:{number % 60:02}.5"
        self.events.append({"id": number, "timestamp": time, "source": source, **fields})
        return number

    def system(self, prompt: str = "You tend a kiln.") -> int:
        args = {"content": prompt, "tools": TOOLS, "openhands_version": "0.44.0"}
        return self.event("agent", action="system", message=prompt, args=args)

    def user(self, said: str, **args: Any) -> int:
        args = {"content": said, "image_urls": None, "wait_for_response": False, **args}
        return self.event("user", action="message", message=said, args=args)

    def says(self, said: str, **fields: Any) -> int:
        args = {"content": said, "wait_for_response": True}
        return self.event("agent", action="message", message=said, args=args, **fields)

    def completion(
        self, response: str, *calls: str, said: str = "", **usage: Any
    ) -> dict[str, Any]:
        """What the model answered, as each event of the answer repeats it."""
        tool_calls = [
            {
                "index": index,
                "id": call,
                "type": "function",
                "function": {"name": "execute_bash", "arguments": f'{{"command": "ls {call}"}}'},
            }
            for index, call in enumerate(calls)
        ]
        message = {"role": "assistant", "content": said, "tool_calls": tool_calls}
        return {
            "id": response,
            "model": "kiln/large",
            "object": "chat.completion",
            "created": 1,
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7, **usage},
        }

    def metadata(self, call: str, completion: dict[str, Any]) -> dict[str, Any]:
        return {
            "function_name": "execute_bash",
            "tool_call_id": call,
            "model_response": completion,
            "total_calls_in_response": len(completion["choices"][0]["message"]["tool_calls"]),
        }

    def runs(self, call: str, completion: dict[str, Any], action: str = "run", **args: Any) -> int:
        args = args or {"command": f"ls {call}", "thought": ""}
        return self.event(
            "agent",
            action=action,
            args=args,
            tool_call_metadata=self.metadata(call, completion),
        )

    def ran(self, cause: int, call: str, completion: dict[str, Any], said: str = "done") -> int:
        extras = {"command": "ls", "metadata": {"exit_code": 0, "working_dir": "/kiln"}}
        return self.event(
            "agent",
            cause=cause,
            observation="run",
            content=said,
            extras=extras,
            tool_call_metadata=self.metadata(call, completion),
        )

    def step(self, number: int, call: str = "toolu_01") -> tuple[int, int]:
        """A command and its output; the call ids repeat, as they do in real files."""
        completion = self.completion(f"chatcmpl-{number}", call, said=f"Step {number}.")
        action = self.runs(call, completion)
        return action, self.ran(action, call, completion, f"result {number}")

    def condenses(self, **args: Any) -> int:
        return self.event("agent", action="condensation", message="", args=args)

    def write(self, folder: Path, to: int | None = None) -> Path:
        """The session as a folder, up to its n-th event."""
        (folder / "events").mkdir(parents=True, exist_ok=True)
        for number, event in enumerate(self.events[:to]):
            (folder / "events" / f"{number}.json").write_text(json.dumps(event))
        return folder


def small_v0(steps: int = 4) -> V0:
    """A prompt, a task and some steps."""
    v0 = V0()
    v0.system()
    v0.user("Warm the kiln to 90 °C.")
    for number in range(steps):
        v0.step(number)
    return v0
