"""Working memory: what an agent has in hand at a position of its session.

The task, what the reply under way and the middleware keep, the calls of tools so far, and the
scratchpad. All of it is folded from the events, so it is the same however often it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eventlog.jsonvalue import Json, dumps
from eventlog.recorded import RecordedEvent
from eventlog.values import Value
from projections.agent_state.folding import READ as STATE_READ
from projections.agent_state.folding import fold
from projections.agent_state.state import AgentState, Reply
from projections.memory.course import READ as COURSE_READ
from projections.memory.course import course_of
from projections.memory.interactions import Course, ToolUse

SCRATCHPAD = "scratchpad"
"""The name under which middleware keeps what an agent notes for itself."""
MOST_TOOLS = 50
"""Calls of tools that are held: the last ones."""

READ = STATE_READ | COURSE_READ
"""Events that it is folded from; it may be given these alone."""


class WorkingMemory(Value):
    """What is in hand after one position."""

    stream: str = ""
    position: int = 0
    task: str = ""
    """The title of the task in progress; without one, what the person asked last."""
    request: str = ""
    """What the person asked last."""
    reply: Reply = Reply()
    middleware: Mapping[str, Json] = {}
    """What each middleware keeps, by its name, but for the scratchpad."""
    tools: tuple[ToolUse, ...] = ()
    """The last calls, the newest last."""
    scratchpad: Json | None = None

    def text(self) -> str:
        """All of it as JSON: equal memories are equal texts."""
        return dumps(self.model_dump(mode="python"))


def working_memory(
    events: Iterable[RecordedEvent], at: int | None = None, most_tools: int = MOST_TOOLS
) -> WorkingMemory:
    """The working memory of the session whose events these are, from its first position on.

    Raises CriticalUnknown, and EventInvalid for a damaged payload.
    """
    taken = [event for event in events if at is None or event.position <= at]
    return in_hand(course_of(taken), fold(taken).state, most_tools)


def in_hand(course: Course, state: AgentState, most_tools: int = MOST_TOOLS) -> WorkingMemory:
    """The same of a course and a state that are there already."""
    request = next((each.request for each in reversed(course.interactions) if each.request), "")
    doing = next((task.title for task in state.tasks if task.status == "in_progress"), "")
    tools = [tool for each in course.interactions for tool in each.tools]
    return WorkingMemory(
        stream=course.stream,
        position=course.position,
        task=doing or request,
        request=request,
        reply=state.reply,
        middleware={
            name: kept for name, kept in sorted(state.middleware.items()) if name != SCRATCHPAD
        },
        tools=tuple(tools[-most_tools:]) if most_tools > 0 else (),
        scratchpad=state.middleware.get(SCRATCHPAD),
    )
