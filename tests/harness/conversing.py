"""A live conversation with a server of ours: what the model says follows from what it is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_server import Answer, Sse, chunk, completion

from eventlog.integrity import verify
from eventlog.recorded import StreamKey
from harness.conversation import Conversation
from harness.conversation.happenings import Ended, Happening
from harness.tools.tool import Tool, tool
from projections import Live
from projections.audit.auditing import audit
from projections.dialects import dialect
from projections.items import Item
from projections.legality import check, sendable

Asked = dict[str, Any]


def said(text: str, size: int = 4) -> Sse:
    """An answer in pieces, with its usage."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    deltas = [chunk(role="assistant", content="")]
    deltas += [chunk(content=piece) for piece in pieces]
    return Sse((*deltas, chunk(finish="stop"), usage()))


def called(*calls: tuple[str, str, Any], text: str = "") -> Sse:
    """An answer that calls tools: id, name and arguments of each."""
    deltas = [chunk(role="assistant", content=text or None)]
    for index, (call_id, name, arguments) in enumerate(calls):
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": ""}
        head = {"index": index, "id": call_id, "type": "function", "function": function}
        deltas.append(chunk(tool_calls=[head]))
        for at in range(0, len(given), 7):
            piece = {"index": index, "function": {"arguments": given[at : at + 7]}}
            deltas.append(chunk(tool_calls=[piece]))
    return Sse((*deltas, chunk(finish="tool_calls"), usage()))


def usage() -> dict[str, Any]:
    """The last chunk of a stream: no choice, only what it cost."""
    counted = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {**chunk(), "choices": [], "usage": counted}


_TURN = re.compile(r"turn (\d+)(?:: ([a-z_, ]+))?")


def scripted(asked: Asked) -> Answer:
    """What ``turn 3: look, write`` asks for: a call of each of these tools, one answer after the
    other, and then the answer to turn 3. Without ``stream`` it is a summary."""
    if not asked.get("stream"):
        return completion("They spoke of numbers.")
    messages = asked["messages"]
    turns = [n for n, each in enumerate(messages) if _turn(each)]
    found = _turn(messages[turns[-1]])
    assert found is not None
    number, names = int(found[1]), (found[2] or "").replace(" ", "")
    tools = names.split(",") if names else []
    done = sum(each["role"] == "tool" for each in messages[turns[-1] :])
    if done < len(tools):
        return called((f"call_{number}_{done}", tools[done], {"n": number}))
    return said(f"This is the answer to turn {number}.")


def _turn(message: Mapping[str, Any]) -> re.Match[str] | None:
    content = message.get("content")
    is_said = message["role"] == "user" and isinstance(content, str)
    return _TURN.fullmatch(content) if is_said else None


class InOrder:
    """Answers one after the other, whatever is asked; the last one again and again."""

    def __init__(self, *answers: Answer | Callable[[Asked], Answer]) -> None:
        self._answers = list(answers)
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Any:
        self.asked.append(asked)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def look(n: int) -> str:
    """Look at a number."""
    return f"{n} is a number " + "that goes on and on " * 10


LOOK: Tool = tool(look, has_effects=False)


def writer(path: Path) -> Tool:
    """A tool with effects: each run is a line of the file."""

    def write(n: int) -> str:
        """Write a number down."""
        with path.open("a") as file:
            file.write(f"{n}\n")
        return f"wrote {n}"

    return tool(write)


LOW = "cut:limit=80 | clear:keep=2 | compact:keep_turns=3"
"""Thresholds that a short conversation goes over."""


def told(happenings: Iterable[Happening]) -> list[Happening]:
    """All that happens."""
    return list(happenings)


def ended(happenings: Iterable[Happening]) -> Ended:
    """How a reply ended."""
    last = told(happenings)[-1]
    assert isinstance(last, Ended)
    return last


def context(live: Live, key: StreamKey) -> list[dict[str, Any]]:
    """What the next request would say."""
    return live.messages(key)


def types(live: Live, key: StreamKey) -> list[str]:
    """The types of all events."""
    return [event.type for event in live.log.read(key)]


def holds(
    of: Conversation | Live,
    key: StreamKey | None = None,
    *,
    unknown: int = 0,
    verdicts: Collection[str] = ("exact",),
) -> None:
    """What must hold of a session whatever happened to it: the log verifies, each call is proved,
    and the context can be sent. ``unknown`` calls have no end."""
    live = of.live if isinstance(of, Conversation) else of
    key = of.key if isinstance(of, Conversation) else key
    assert key is not None
    assert verify(live.log).problems == ()
    rows = audit(live, key).calls
    assert [(row.call, row.verdict) for row in rows if row.verdict not in verdicts] == []
    assert sum(row.outcome == "unknown" for row in rows) == unknown
    if isinstance(of, Conversation):
        assert standing(of.items()) == standing(live.items(key))
    items = live.items(key)
    if items:
        found = sendable(items).items
        assert not check(found)
        openai = dialect("openai_chat")
        assert openai.validate(openai.render(found)) == []


def standing(items: Iterable[Item]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """What stands, and in which rendition."""
    return [(item.id, item.rendition, item.message) for item in items]


def is_closed(of: Conversation) -> bool:
    """Whether no tool call waits."""
    return not of.open_calls() and not of.state.reply.is_under_way


def requests_of(asked: Sequence[Asked]) -> list[list[dict[str, Any]]]:
    """The messages of each request of the conversation itself."""
    return [each["messages"] for each in asked if each.get("stream")]
