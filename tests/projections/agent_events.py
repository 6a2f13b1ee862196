"""Events of an agent's own state: some by hand, and any at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from random_logs import DECISION, OTHER, message, result

from eventlog import StreamKey, events
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent
from projections.observe import draft_at

KEY = StreamKey("local", "agent", "work")


def placed(said: Iterable[events.Event]) -> list[RecordedEvent]:
    """Events at the positions 1, 2, 3 …"""
    return [draft_at(event, KEY, position) for position, event in enumerate(said, 1)]


def said(role: str, text: Any, **more: Any) -> events.MessageAppended:
    """A message; ``calls`` are the ids of the tools that it calls."""
    calls = more.pop("calls", ())
    body: dict[str, Any] = {"role": role, "content": text}
    if calls:
        body["tool_calls"] = [
            {"id": each, "type": "function", "function": {"name": "shell", "arguments": "{}"}}
            for each in calls
        ]
    source = more.pop("source", {"user": "human", "assistant": "model"}.get(role, "injected"))
    return events.MessageAppended(dialect="openai_chat", source=source, message=body, **more)


def called() -> events.ModelCalled:
    """A call of a model."""
    return events.ModelCalled(model="m", dialect="openai_chat")


def answered(call: str, content: str = "done") -> events.ToolResultRecorded:
    """A tool result."""
    return events.ToolResultRecorded(
        tool_call_id=call, name="shell", dialect="openai_chat", content=content
    )


def started(call: str) -> events.ToolCallStarted:
    """A tool call that begins to run."""
    return events.ToolCallStarted(tool_call_id=call, name="shell")


def tasks(*titles: str) -> events.TasksSet:
    """A list of tasks."""
    return events.TasksSet(
        tasks=tuple(events.Task(id=str(n), title=title) for n, title in enumerate(titles, 1))
    )


def seen(path: str, size: int = 10, **more: Any) -> events.FileSeen:
    """A file that was read."""
    return events.FileSeen(path=path, size=size, modified_ns=1, **more)


def busy() -> list[events.Event]:
    """A session in the midst of an answer, with something of everything (15 events)."""
    return [
        events.SessionStarted(title="work"),
        said("system", "You are careful."),
        events.PermissionsSet(mode="ask", allow=("read",), deny=("shell(rm *)",), ask=("write",)),
        events.ToolGroupsSet(groups=("files", "shell")),
        said("user", "fix it"),
        events.ReplyStarted(reply_id="r1", output_schema={"type": "object"}),
        called(),
        said("assistant", None, call=7, calls=["call_1", "call_2"]),
        started("call_1"),
        seen("/src/a.py", tool_call_id="call_1"),
        answered("call_1"),
        tasks("look", "mend"),
        events.MiddlewareStateSet(name="memory", state={"last": 3}),
        events.OutputProduced(reply_id="r1", value={"ok": True}),
        started("call_2"),
    ]


HOSTILE = st.sampled_from(["", "a", "b", "\ud83d", "\x00\u202e", "x" * 300, '"\\', "\ud800a"])
NAME = st.sampled_from(["a", "b", "c\ud83d"])
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | HOSTILE,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(HOSTILE, inner, max_size=2),
    max_leaves=4,
)
NAMES = st.lists(HOSTILE, max_size=3).map(tuple)

OF_THE_AGENT = st.one_of(
    st.builds(
        events.ReplyStarted,
        reply_id=NAME,
        output_schema=st.none() | st.just(Json({"type": "object"})),
    ),
    st.builds(events.OutputProduced, reply_id=NAME, value=VALUE.map(Json)),
    st.builds(events.ReplyEnded, reply_id=NAME),
    st.just(called()),
    st.just(events.SessionResumed()),
    st.builds(
        events.PermissionsSet,
        mode=st.sampled_from(["ask", "allow", "deny", "read_only"]),
        allow=NAMES,
        deny=NAMES,
    ),
    st.builds(events.ToolGroupsSet, groups=NAMES),
    st.builds(
        events.FileSeen,
        path=HOSTILE,
        size=st.integers(-5, 60),
        modified_ns=st.integers(0, 2**62),
        how=st.sampled_from(["read", "written"]),
        tool_call_id=NAME,
    ),
    st.builds(
        events.TasksSet,
        tasks=st.lists(st.builds(events.Task, id=NAME, title=HOSTILE), max_size=2).map(tuple),
    ),
    st.builds(events.MiddlewareStateSet, name=HOSTILE, state=st.none() | VALUE.map(Json)),
    st.builds(
        events.ToolCallStarted,
        tool_call_id=st.sampled_from(["call_1", "call_2", ""]),
        name=NAME,
        has_effects=st.booleans(),
    ),
    result(),
)

TURN = st.one_of(
    st.builds(events.SessionRewound, to=st.integers(0, 40)),
    st.builds(events.DecisionUndone, target=st.integers(1, 40)),
)

LOG = st.lists(
    st.one_of(OF_THE_AGENT, OF_THE_AGENT, OF_THE_AGENT, TURN, message(), DECISION, OTHER),
    min_size=1,
    max_size=40,
)
