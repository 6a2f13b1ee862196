"""Small recorded sessions, written by hand: events with their places, and no database."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from eventlog import events
from eventlog.events import Event
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.values import Usage
from projections.observe import draft_at
from projections.recording import Recording, recording
from projections.tokens import Counter, counter

KEY = StreamKey("local", "agent", "made")


@dataclass
class Session:
    """Events in the order in which they are said."""

    key: StreamKey = KEY
    events: list[RecordedEvent] = field(default_factory=list)
    answered: int = 0
    when: str | None = None

    def add(self, event: Event) -> int:
        """Any event; gives its position."""
        made = draft_at(event, self.key, len(self.events) + 1)
        made.occurred_at = self.when
        self.events.append(made)
        return made.position

    def system(self, text: str) -> int:
        """A system message."""
        message = {"role": "system", "content": text}
        return self.add(
            events.MessageAppended(dialect="openai_chat", source="injected", message=message)
        )

    def human(self, text: str) -> int:
        """What a person typed."""
        message = {"role": "user", "content": text}
        return self.add(
            events.MessageAppended(dialect="openai_chat", source="human", message=message)
        )

    def call(self, *calls: tuple[str, dict[str, Any]], text: str = "", **usage: int) -> int:
        """A call and its answer, which calls tools; gives the answer's position."""
        self.answered += 1
        at = self.add(events.ModelCalled(model="m", dialect="openai_chat"))
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": f"x{self.answered}{'abcd'[n]}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for n, (name, arguments) in enumerate(calls)
            ]
        answer = self.add(
            events.MessageAppended(dialect="openai_chat", source="model", message=message, call=at)
        )
        if usage:
            self.add(events.ModelResponded(call=at, usage=Usage(**usage)))
        return answer

    def result(self, text: str, name: str = "read_file", of: str = "a") -> int:
        """The result of the newest answer's first call, or of another one of its calls."""
        return self.add(
            events.ToolResultRecorded(
                tool_call_id=f"x{self.answered}{of}",
                name=name,
                dialect="openai_chat",
                content=text,
            )
        )

    def compacted(self, covered: list[int], *texts: str) -> int:
        """A compaction with these summaries."""
        new = tuple(
            events.NewMessage(
                dialect="openai_chat",
                message=Json({"role": "user", "content": text}),
                label="summary",
            )
            for text in texts
        )
        return self.add(events.ContextCompacted(covered=tuple(map(str, covered)), messages=new))

    def cleared(self, item: int, text: str = "[cleared]") -> int:
        """A placeholder."""
        return self.add(events.PlaceholderSubstituted(item=str(item), content=text))

    def recording(self, counting: Counter | None = None) -> Recording:
        """As ``recording`` reads it."""
        return recording(self.events, counting or counter())


def long_session(turns: int = 12, rounds: int = 3) -> Session:
    """A session in which later turns come back to the files of earlier ones."""
    made = Session()
    made.system("You are an agent. Never edit files in migrations/.")
    for turn in range(turns):
        made.human(f"Fix src/app{turn}/main.py, ticket OPS-{1000 + turn}")
        for number in range(rounds):
            other = (turn * 5 + number * 3) % max(1, turn + 1)
            path = f"src/app{other}/main.py"
            name = "edit_file" if number == 2 else "read_file"
            made.call((name, {"path": path}), text=f"Looking at {path} for OPS-{1000 + other}")
            lines = "\n".join(f"{n}: x{n} = call_{turn}_{number}(y)" for n in range(30))
            made.result(f"{path} has {turn * 7 + 31}ms\n{lines}", name)
        made.call(text=f"Done with OPS-{1000 + turn}")
    return made


def late_reference(calls: int, at: int, path: str = "src/core/engine.py") -> Session:
    """A path that a result names, and that a call uses only ``at`` calls later."""
    made = Session()
    made.system("You help.")
    made.human("Look around")
    for number in range(calls):
        if number == 0:
            made.call(("list_files", {}))
            made.result(f"{path}\n" + "noise " * 60)
        elif number == at:
            made.call(("read_file", {"path": path}))
            made.result("text " * 60)
        else:
            made.call(("list_files", {"n": number}))
            made.result("noise " * 60)
    made.call(text="done")
    return made
