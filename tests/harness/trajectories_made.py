"""A made-up SWE-agent that writes its trajectory as each version of the real one does.

It elides as ``last_n_observations`` does: of its observations, the message of the task among them,
those from the second up to the n-th from the end.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

Value = dict[str, Any]


class Agent:
    """One run, step by step."""

    def __init__(
        self, *, version: str = "1.1", text: bool = False, keep: int = 5, marks: bool = False
    ) -> None:
        self.version, self.text, self.keep, self.marks = version, text, keep, marks
        self.history: list[Value] = []
        self.steps: list[Value] = []
        self.info: Value = {"model_stats": {"api_calls": 0}}
        self.requests: list[list[Value]] = []
        """What the model saw at each call, as the file holds it."""
        self._say("system", "You are careful.", message_type="system_prompt")

    def _say(self, role: str, content: Any, **more: Any) -> Value:
        self.history.append({"role": role, "content": content, "agent": "main", **more})
        return self.history[-1]

    def demonstrate(self) -> None:
        self._say("user", "A task of yore.", is_demo=True)
        self._say(
            "assistant", "I look.\n```\nls\n```", thought="I look.", action="ls", is_demo=True
        )
        self._say("user", "yore.txt", is_demo=True, message_type="observation")

    def task(self, text: str = "Mend the kiln.") -> None:
        self._say("user", text, message_type="observation")

    @property
    def seen(self) -> list[Value]:
        """The history as the processor leaves it."""
        if self.marks:
            self._mark()
        observed = [
            at
            for at, entry in enumerate(self.history)
            if entry.get("message_type") == "observation" and not entry.get("is_demo")
        ]
        gone = observed[1 : max(0, len(observed) - self.keep)]
        found = []
        for at, entry in enumerate(self.history):
            lines = len(str(entry["content"]).splitlines())
            elided = {**entry, "content": f"Old environment output: ({lines} lines omitted)"}
            found.append(elided if at in gone else entry)
        return copy.deepcopy(found)

    def _mark(self) -> None:
        """What the processor for a provider's cache does, to the entries of the history itself."""
        left = 2
        for entry in reversed(self.history):
            entry.pop("cache_control", None)
            if isinstance(entry["content"], list):
                entry["content"][0].pop("cache_control", None)
            if left and entry["role"] in ("user", "tool"):
                left -= 1
                if not isinstance(entry["content"], list):
                    entry["content"] = [{"type": "text", "text": entry["content"]}]
                marked = entry if entry["role"] == "tool" else entry["content"][0]
                marked["cache_control"] = {"type": "ephemeral"}

    def step(
        self, output: str = "", call_id: str = "", *, refused: int = 0, gave_up: bool = False
    ) -> None:
        """Ask, do, tell. ``refused``: how many answers are of no use before one is."""
        number = len(self.steps) + 1
        query = self.seen
        for again in range(refused):
            bad = f"I think {number}.{again}"
            self._record(query, bad, "", "")
            complaint = {"role": "user", "content": "Give one command.", "agent": "main"}
            said = {"role": "assistant", "content": bad, "agent": "main"}
            query = [*self.seen, said, {**complaint, "message_type": "user"}]
        output = output or f"line one of {number}\nline two of {number}\n"
        if gave_up:
            self._entry("Exit due to cost limit", "", None)
            self._say("user", "Exited (autosubmitted)", message_type="observation")
            self._record(None, "Exit due to cost limit", "", "Exited (autosubmitted)")
            return
        call_id = call_id or f"call_{number}"
        action = f"cat {number}.txt"
        thought = f"I read {number}."
        response = f"{thought}\n```\n{action}\n```" if self.text else thought
        self._entry(response, action, None if self.text else call_id)
        told = f"OBSERVATION:\n{output}\nbash-$"
        more = {} if self.text else {"tool_call_ids": [call_id]}
        self._say("user" if self.text else "tool", told, message_type="observation", **more)
        self._record(query, response, action, output)

    def _entry(self, response: str, action: str, call_id: str | None) -> None:
        calls = None
        if call_id is not None:
            function = {"name": "bash", "arguments": json.dumps({"command": action})}
            calls = [{"id": call_id, "type": "function", "function": function}]
        more = {"thought": response, "action": action, "tool_calls": calls}
        self._say("assistant", response, message_type="action", **more)

    def _record(self, query: list[Value] | None, response: str, action: str, output: str) -> None:
        step = {"action": action, "observation": output, "response": response}
        step |= {"thought": response, "execution_time": 0.25, "state": {"open_file": "n/a"}}
        if query is not None:
            self.requests.append(query)
        if self.version == "1.1":
            step |= {"query": [{}] if query is None else query, "extra_info": {}}
        elif self.version == "1.0":
            step["messages"] = self.seen
        self.steps.append(copy.deepcopy(step))

    def end(self, status: str = "submitted") -> None:
        self.info |= {"exit_status": status, "submission": "a patch"}

    def value(self) -> Value:
        """The file's content."""
        config = {"agent": {"model": {"name": "some-model"}}}
        found = {"trajectory": self.steps, "history": self.history, "info": self.info}
        found |= {"replay_config": json.dumps(config), "environment": "main"}
        return copy.deepcopy(found)

    def write(self, path: Path) -> Path:
        return write(path, self.value())


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=2))
    return path


def run_of(steps: int, **options: Any) -> Agent:
    """An agent that has done so many steps, and goes on."""
    agent = Agent(**options)
    agent.task()
    for _ in range(steps):
        agent.step()
    return agent
