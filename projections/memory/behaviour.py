"""What the profile counts of a session: how much was said and done, of what kind, how it was taken.

Numbers to be added (``ProfileUpdated`` with ``how="added"``), so that averages can be had of the
profile: ``human_messages`` over ``sessions`` is how long they are.
"""

from __future__ import annotations

from collections import Counter

from eventlog.events import MemorySource, ProfileUpdated
from eventlog.jsonvalue import Json
from eventlog.recorded import Draft
from projections.memory.interactions import Course, Interaction
from projections.memory.learning import BY, drafted
from projections.memory.task_types import OTHER, task_type


def counted(course: Course, since: int = 0) -> dict[str, int]:
    """What of the session's own events came behind position ``since``, by name.

    ``sessions`` counts one that was not counted before: where ``since`` is 0.
    """
    own = _own(course, since)
    if not own:
        return {}
    counts = Counter[str]({"sessions": 0 if since else 1, "human_messages": len(own)})
    ours = _positions(course)
    before: Interaction | None = None
    for interaction in course.interactions:
        first = interaction.said[0] if interaction.said else None
        if first is not None and first.position in own:
            kind = task_type(first.text)
            if kind != OTHER:
                counts[f"task:{kind}"] += 1
            if before is not None and before.feedback:
                counts[f"feedback:{before.feedback}"] += 1
        before = interaction
        counts["tool_calls"] += sum(
            tool.position > since and tool.position in ours for tool in interaction.tools
        )
    return {name: number for name, number in counts.items() if number}


def behaviour(course: Course, into: str, since: int = 0) -> list[Draft]:
    """The event that adds it to the profile; none where there is nothing new."""
    counts = counted(course, since)
    if not counts:
        return []
    positions = tuple(sorted(_own(course, since)))
    sources = (MemorySource(stream=course.stream, positions=positions),)
    event = ProfileUpdated(
        section="behaviour", values=Json(dict(counts)), how="added", sources=sources, by=BY
    )
    return [drafted(event, into, "behaviour", sources)]


def _own(course: Course, since: int) -> set[int]:
    """The positions of what a person said in this session, not in the one that it is a fork of."""
    ours = _positions(course)
    return {
        said.position
        for interaction in course.interactions
        for said in interaction.said
        if said.by == "human" and said.position > since and said.position in ours
    }


def _positions(course: Course) -> set[int]:
    return {
        at
        for interaction in course.interactions
        for each in interaction.sources
        if each.stream == course.stream
        for at in each.positions
    }
