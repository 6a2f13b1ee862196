"""A small log with one of everything, always with the same ids and times."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from eventlog import Draft, Json, StreamKey
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    DecisionUndone,
    Event,
    ItemPinned,
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelFailed,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    RecordUnrecognized,
    SessionRewound,
    SessionStarted,
    ToolResultRecorded,
    ToolsDeclared,
    Usage,
)
from projections import Live, open_log

KEY = StreamKey("ann", "bot", "refunds-0001")
FORK = StreamKey("ann", "bot", "retry")
TOOL = {
    "type": "function",
    "function": {"name": "bash", "description": "Run", "parameters": {"type": "object"}},
}


def said(role: str, text: str, call: int | None = None, tool: str = "") -> MessageAppended:
    """A message in OpenAI's form, with a tool call where ``tool`` is its id."""
    message: dict[str, Any] = {"role": role, "content": text}
    if tool:
        message["tool_calls"] = [
            {
                "id": tool,
                "type": "function",
                "function": {"name": "bash", "arguments": '{"command":"pytest -q"}'},
            }
        ]
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return MessageAppended.model_validate(
        {"dialect": "openai_chat", "source": source, "call": call, "message": message}
    )


def called() -> ModelCalled:
    """A call to a model."""
    return ModelCalled(model="gpt-test", dialect="openai_chat")


def answered(call: int, input_tokens: int) -> ModelResponded:
    """The end of that call."""
    usage = Usage(input=input_tokens, cached=20, output=7)
    return ModelResponded(call=call, finish_reason="stop", usage=usage)


EVENTS: tuple[Event, ...] = (
    SessionStarted(title="Refunds"),  # 1
    ToolsDeclared(dialect="openai_chat", definitions=Json([TOOL])),  # 2
    said("system", "You mend refunds."),  # 3
    said("user", "Never touch migrations. The order is ORD-77120."),  # 4
    called(),  # 5: c1
    said("assistant", "I run the tests.", call=5, tool="call_1"),  # 6
    answered(5, 100),  # 7
    ToolResultRecorded(
        tool_call_id="call_1",
        name="bash",
        dialect="openai_chat",
        content="FAILED 1999 != 2000\n" * 9,
    ),  # 8
    called(),  # 9: c2
    said("assistant", "One cent too much.", call=9),  # 10
    answered(9, 200),  # 11
    PlaceholderSubstituted(item="8", content="[cleared]", reason="keep=0", pass_id="p1"),  # 12
    said("user", "Go on."),  # 13
    called(),  # 14: c3
    ModelFailed(call=14, error="overloaded", status=529),  # 15
    ContextCompacted(
        covered=("4", "6", "8", "10"),
        messages=(
            NewMessage(
                dialect="openai_chat",
                message=Json({"role": "user", "content": "Summary: a cent too much; tests fail."}),
                label="summary",
            ),
        ),
        by=DecidedBy(name="compact", parameters=Json({"keep_turns": 1})),
        trigger="auto",
        pre_tokens=155_000,
    ),  # 16: k1
    ItemPinned(item="13"),  # 17
    said("user", "A wrong turn."),  # 18
    SessionRewound(to=17, reason="wrong turn"),  # 19
    MessageRevised(item="13", patch=Json({"content": "Go on, carefully."})),  # 20
    called(),  # 21: c4
    said("assistant", "Which order was it?", call=21),  # 22
    answered(21, 50),  # 23
    RecordUnrecognized(file="s.jsonl", line=9, offset=812, raw='{"type":"odd"}'),  # 24
    PlaceholderSubstituted(item="22", kind="cut", content="Which…", pass_id="p2"),  # 25
    DecisionUndone(target=25),  # 26
)


def fill(live: Live) -> None:
    """Append the session, and a fork of it from before the compaction."""
    drafts = [
        Draft(event, id=uuid.UUID(int=number), occurred_at=f"2026-09-20T14:{number:02}:00Z")
        for number, event in enumerate(EVENTS, 1)
    ]
    live.append(KEY, *drafts)
    live.log.fork(FORK, KEY, 13, reason="try again")
    live.append(FORK, Draft(said("assistant", "Another way."), id=uuid.UUID(int=100)))


def small_log(folder: Path) -> Path:
    """The log as a file."""
    path = folder / "small.db"
    with open_log(path) as live:
        fill(live)
    return path
