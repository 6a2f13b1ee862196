"""The fold of an agent's state over the events of its session, one event at a time.

What the conversation itself brought about goes back with it when it is rewound: the reply, the
tasks, the active tool groups, what middleware keeps, the results of tools, and the files that are
known, since what was read of them left the context too. What a person allowed or forbade, and what
began to run in the world, does not: a rule does not loosen because a conversation went back, and a
command that ran has run. An undone rewind has never been.

A fork begins with its parent's state, since it reads its parent's events.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from eventlog.errors import CriticalUnknown
from eventlog.events import (
    FileSeen,
    MiddlewareStateSet,
    OutputProduced,
    PermissionsSet,
    ReplyEnded,
    ReplyStarted,
    TasksSet,
    ToolCallStarted,
    ToolGroupsSet,
)
from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from eventlog.values import Value
from projections.agent_state.resuming import at_rest
from projections.agent_state.state import (
    AgentState,
    Permissions,
    Reply,
    SeenFile,
    StartedCall,
)
from projections.context import REFOLDING, effective, is_known


class FileLimits(Value):
    """How many files are known at a time: the least recently used leave first."""

    entries: int = Field(default=100, ge=1)
    total_bytes: int = Field(default=32 * 1024 * 1024, ge=1)
    """The sum of the sizes of those files. One that is larger by itself is not kept."""


class StateFolding:
    """A fold in progress over a stream that is read from its first position on.

    It needs no message: ``state`` has no context, and its ``started_calls`` are all that no result
    answers, rewound or not. ``AgentState.with_context`` adds the one and narrows the other.

    A redaction changes what earlier events say: after one, fold anew.
    """

    def __init__(self, limits: FileLimits | None = None) -> None:
        self.limits = limits or FileLimits()
        self.position = 0
        """The position of the last event taken in."""
        self.session_id = ""
        self._now = AgentState()
        self._states: list[tuple[int, AgentState]] = []
        """The state after each event that changed it."""
        self._line: list[RecordedEvent] = []
        """What goes back with the conversation, and the rewinds and undos."""
        self._standing: list[RecordedEvent] = []
        """What does not."""
        self._turns: set[int] = set()
        """The positions of the rewinds and undos."""
        self._has_replies = False
        self.has_started = False
        """Whether a tool call was ever started: before that no result says anything."""

    @property
    def state(self) -> AgentState:
        """The state after the last event, without a context."""
        place = {"session_id": self.session_id, "position": self.position}
        return self._now.model_copy(update=place)

    def evolve(self, event: RecordedEvent) -> StateFolding:
        """Take in the next event; only those of ``READ`` change anything.

        Raises CriticalUnknown, and EventInvalid for a damaged payload.
        """
        kind = event.type
        self.position, self.session_id = event.position, event.stream.session
        if not is_known(kind, event.schema_version):
            if event.critical:
                raise CriticalUnknown(str(event.stream), event.position, kind)
            return self
        if kind in REFOLDING:
            self._go_back(event)
        elif kind in _STEPS and not self._says_nothing(kind):
            (self._standing if kind in NOT_REWOUND else self._line).append(_light(event))
            self._keep(_STEPS[kind](self._now, event, self.limits))
        return self

    def _says_nothing(self, kind: str) -> bool:
        """Whether it changes no state, however the conversation goes back: it is not kept, then."""
        self._has_replies |= kind == "reply_started"
        self.has_started |= kind == "tool_call_started"
        if kind == "model_called":
            return not self._has_replies
        return kind in ANSWERS and not self.has_started

    def _go_back(self, event: RecordedEvent) -> None:
        self._line.append(event)
        if event.type == "decision_undone":
            if event.data.get("target") in self._turns:
                self._keep(self._refolded())
            self._turns.add(event.position)
            return
        self._turns.add(event.position)
        to = event.data["to"]
        if to < event.position:
            then = self._at(to)
            since = bisect_right(self._standing, to, key=lambda event: event.position)
            for started in self._standing[since:]:
                if started.type == "tool_call_started":
                    then = _started(then, started, self.limits)
            self._keep(then.model_copy(update={"permissions": self._now.permissions}))

    def _at(self, position: int) -> AgentState:
        index = bisect_right(self._states, position, key=lambda kept: kept[0])
        return self._states[index - 1][1] if index else AgentState()

    def _refolded(self) -> AgentState:
        in_force, _ = effective(self._line)
        state = AgentState()
        for event in sorted([*in_force, *self._standing], key=lambda event: event.position):
            state = _STEPS[event.type](state, event, self.limits)
        return state

    def _keep(self, state: AgentState) -> None:
        if state is not self._now:
            self._now = state
            self._states.append((self.position, state))


def initial(limits: FileLimits | None = None) -> StateFolding:
    """Before the first event."""
    return StateFolding(limits)


def fold(events: Iterable[RecordedEvent], limits: FileLimits | None = None) -> StateFolding:
    """After all of these events, which are a stream from its first position on."""
    folding = initial(limits)
    for event in events:
        folding.evolve(event)
    return folding


def _light(event: RecordedEvent) -> RecordedEvent:
    """Of what is kept for an undo, results and calls without their text."""
    if event.type == "model_called":
        return event.without_text("{}")
    if event.type == "tool_result_recorded":
        return event.without_text(dumps({"tool_call_id": event.data.get("tool_call_id", "")}))
    return event


# -- steps ----------------------------------------------------------------------------------------


def _changed(state: AgentState, **parts: Any) -> AgentState:
    return state.model_copy(update=parts)


def _reply(state: AgentState, **fields: Any) -> AgentState:
    return _changed(state, reply=state.reply.model_copy(update=fields))


def _reply_started(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, ReplyStarted)
    return _changed(
        state,
        reply=Reply(reply_id=said.reply_id, output_schema=said.output_schema, is_under_way=True),
    )


def _output_produced(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, OutputProduced)
    if said.reply_id != state.reply.reply_id:
        return state
    value = None if said.value.peek is None else said.value
    return _reply(state, has_output=True, output_value=value)


def _reply_ended(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, ReplyEnded)
    if said.reply_id != state.reply.reply_id or not state.reply.is_under_way:
        return state
    return _reply(state, is_under_way=False)


def _called(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    if not state.reply.is_under_way:
        return state
    return _reply(state, iteration=state.reply.iteration + 1)


def _resumed(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    return at_rest(state)


def _permissions(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, PermissionsSet)
    mode = said.mode
    if event.erased and mode != "deny":
        mode = "ask"  # what was denied is not known any more
    return _changed(
        state, permissions=Permissions(mode=mode, allow=said.allow, deny=said.deny, ask=said.ask)
    )


def _groups(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, ToolGroupsSet)
    return _changed(state, tools=state.tools.model_copy(update={"groups": said.groups}))


def _file(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, FileSeen)
    if event.erased:
        return state  # nobody knows which file it was
    seen = SeenFile(
        path=said.path,
        size=said.size,
        modified_ns=said.modified_ns,
        tool_call_id=said.tool_call_id,
        how=said.how,
        is_whole=said.is_whole,
    )
    files = within([*(file for file in state.tools.files if file.path != seen.path), seen], limits)
    return _changed(state, tools=state.tools.model_copy(update={"files": files}))


def within(files: list[SeenFile], limits: FileLimits) -> tuple[SeenFile, ...]:
    """The most recently used files that the limits allow, in their order."""
    kept = [file for file in files if file.size <= limits.total_bytes][-limits.entries :]
    total = sum(max(0, file.size) for file in kept)
    first = 0
    while total > limits.total_bytes:
        total -= max(0, kept[first].size)
        first += 1
    return tuple(kept[first:])


def _tasks(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, TasksSet)
    return _changed(state, tasks=said.tasks)


def _middleware(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, MiddlewareStateSet)
    kept = {name: held for name, held in state.middleware.items() if name != said.name}
    if said.state is not None and said.state.peek is not None:
        kept[said.name] = said.state
    return _changed(state, middleware=kept)


def _started(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    said = event.event
    assert isinstance(said, ToolCallStarted)
    call = StartedCall(tool_call_id=said.tool_call_id, name=said.name, has_effects=said.has_effects)
    return _changed(state, started_calls=(*_without(state, said.tool_call_id), call))


def _without(state: AgentState, *calls: str) -> tuple[StartedCall, ...]:
    return tuple(call for call in state.started_calls if call.tool_call_id not in calls)


def _answered(state: AgentState, event: RecordedEvent, limits: FileLimits) -> AgentState:
    if not state.started_calls:
        return state
    if event.type == "repair_applied":
        calls = event.data.get("call_ids", ())
    else:
        calls = (event.data.get("tool_call_id", ""),)
    left = _without(state, *calls)
    return state if len(left) == len(state.started_calls) else _changed(state, started_calls=left)


_Step = Callable[[AgentState, RecordedEvent, FileLimits], AgentState]

_STEPS: dict[str, _Step] = {
    "reply_started": _reply_started,
    "output_produced": _output_produced,
    "reply_ended": _reply_ended,
    "model_called": _called,
    "session_resumed": _resumed,
    "permissions_set": _permissions,
    "tool_groups_set": _groups,
    "file_seen": _file,
    "tasks_set": _tasks,
    "middleware_state_set": _middleware,
    "tool_call_started": _started,
    "tool_result_recorded": _answered,
    "repair_applied": _answered,
}

READ = frozenset(_STEPS) | REFOLDING
"""Events that a state is folded from; a fold may be given these alone."""

ANSWERS = frozenset({"tool_result_recorded", "repair_applied"})
"""Those that are of no use where no call was started."""

NOT_REWOUND = frozenset({"permissions_set", "tool_call_started"})
"""What stays as it is when the conversation goes back."""
