"""Short-term memory: the last interactions of a session, up to a capacity.

What has left the window is scored, and what is important enough is remembered (``learned``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from eventlog.values import Value
from projections.context import View
from projections.context import fold as fold_view
from projections.materialize import materialize
from projections.memory.course import course_of
from projections.memory.interactions import Course, Interaction, ToolUse
from projections.runs import position_of

CAPACITY = 10
"""Interactions that stay."""


class ShortTerm(Value):
    """What is still fresh after one position."""

    stream: str = ""
    position: int = 0
    capacity: int = CAPACITY
    interactions: tuple[Interaction, ...] = ()
    """The last ones, the newest last."""
    pending: tuple[ToolUse, ...] = ()
    """Calls of tools without a result, of the whole session."""
    summary: str = ""
    """The text of the newest compaction that stands in the context; empty where none does."""
    left: int = 0
    """Interactions that have left the window."""
    erased: int = 0
    """Messages and results of the session that were erased."""

    def text(self) -> str:
        """All of it as JSON: equal memories are equal texts."""
        return dumps(self.model_dump(mode="python"))


def short_term(
    events: Iterable[RecordedEvent], capacity: int = CAPACITY, at: int | None = None
) -> ShortTerm:
    """The short-term memory of the session whose events these are, from its first position on.

    Raises CriticalUnknown, and EventInvalid for a damaged payload.
    """
    taken = [event for event in events if at is None or event.position <= at]
    return window(course_of(taken), capacity, running_summary(taken))


def window(course: Course, capacity: int = CAPACITY, summary: str = "") -> ShortTerm:
    """The same of a course that is there already."""
    gone = left(course, capacity)
    return ShortTerm(
        stream=course.stream,
        position=course.position,
        capacity=max(0, capacity),
        interactions=course.interactions[len(gone) :],
        pending=course.pending,
        summary=summary,
        left=len(gone),
        erased=len(course.erased),
    )


def left(course: Course, capacity: int = CAPACITY) -> tuple[Interaction, ...]:
    """The interactions that have left the window."""
    return course.interactions[: max(0, len(course.interactions) - max(0, capacity))]


def running_summary(events: Sequence[RecordedEvent]) -> str:
    """The text of the newest summary that stands in the context."""
    return summary_in(fold_view(events), events)


def summary_in(view: View, events: Iterable[RecordedEvent]) -> str:
    """The same of a view; ``events`` are those that carry its items, or more."""
    brought = [standing for standing in view.standing() if isinstance(standing[0], str)]
    if not brought:
        return ""
    by_position = {event.position: event for event in events}
    items = [item for item in materialize(brought, by_position) if item.is_summary]
    newest = max((position_of(item.id) for item in items), default=0)
    texts = [
        item.text
        for item in items
        if position_of(item.id) == newest and item.form != "redacted" and item.text
    ]
    return "\n\n".join(texts)
