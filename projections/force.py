"""Which events are in force, and what put the others out of force: an undo, or a rewind.

And, of what is in force, which event keeps an item out of the context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from eventlog.recorded import RecordedEvent
from projections.context import REFOLDING, UNDOABLE, View
from projections.runs import Origin, position_of

TAKING = ("context_compacted", "decision_undone", "repair_applied", "session_rewound")
"""Decisions that can take an item out of a context."""

_TAKING_IN_FORCE = frozenset(TAKING) - REFOLDING
"""What takes items out in a history from which undos and rewinds are left out."""


def out_of_force(events: Sequence[RecordedEvent]) -> dict[int, int]:
    """For each event that does not count, the position of the undo or rewind that says so.

    ``events`` are a stream from its first position on. The same pass from the end as
    ``context.effective``: what is in neither is in force, undos and rewinds included.
    """
    found: dict[int, int] = {}
    passes: dict[str, int] = {}
    kinds = {event.position: event.type for event in events}
    at = len(events) - 1
    while at >= 0:
        event = events[at]
        at -= 1
        if event.position in found:
            continue
        if event.type == "decision_undone":
            target, pass_id = event.data.get("target", 0), event.data.get("pass_id", "")
            if pass_id:
                passes.setdefault(pass_id, event.position)
            elif target and target < event.position and kinds.get(target) in UNDOABLE:
                found.setdefault(target, event.position)
        elif event.type == "session_rewound":
            to = event.data["to"]
            while to < event.position and at >= 0 and events[at].position > to:
                found.setdefault(events[at].position, event.position)
                at -= 1
        elif passes and event.type == "placeholder_substituted":
            undone = passes.get(event.data.get("pass_id", ""))
            if undone is not None:
                found[event.position] = undone
    return found


class Force(NamedTuple):
    """What is in force at the end of a stream."""

    gone: Mapping[int, int]
    """What ``out_of_force`` says."""
    taken: Mapping[Origin, int]
    """What took out each item that left; also those that stand again."""
    never: frozenset[Origin] = frozenset()
    """Messages of compactions that their layouts leave out: they never stood."""

    def taker(self, item: Origin) -> int:
        """The event in force that keeps out an item that does not stand; 0 where it never stood."""
        if item in self.never:
            return 0
        return self.gone.get(position_of(item)) or self.taken.get(item, 0)


NOTHING = Force({}, {})
"""Of a stream in which nothing was decided."""


def in_force(events: Sequence[RecordedEvent]) -> Force:
    """Fold what is in force of a stream once, and find what every item left with."""
    gone = out_of_force(events)
    view, taken, never = View(), dict[Origin, int](), set[Origin]()
    for event in events:
        never.update(left_out(event))
        if event.position in gone or event.type in REFOLDING:
            continue
        if not _may_take(event, view):
            view.evolve(event)
            continue
        before = set(view.items)
        view.evolve(event)
        taken.update(dict.fromkeys(before - view.items.keys(), event.position))
    return Force(gone, taken, frozenset(never))


def left_out(event: RecordedEvent) -> Iterator[str]:
    """The messages of a compaction that its layout leaves out."""
    layout = event.data.get("layout") if event.type == "context_compacted" else None
    if layout is not None:
        for number in range(len(event.data.get("messages", ()))):
            if f"m{number}" not in layout:
                yield f"{event.position}.{number}"


def _may_take(event: RecordedEvent, view: View) -> bool:
    """A real result takes the place of a synthetic one."""
    if event.type == "tool_result_recorded":
        return event.data.get("tool_call_id") in view.waiting
    return event.type in _TAKING_IN_FORCE


def decisions_in_force(events: Sequence[RecordedEvent]) -> Iterator[RecordedEvent]:
    """The decisions that can be undone, the newest first. An undo is one: undoing it takes it back.

    Of a pass it is the newest substitution alone.
    """
    gone = out_of_force(events)
    passes: set[str] = set()
    for event in reversed(events):
        if event.type not in UNDOABLE or event.position in gone:
            continue
        pass_id = pass_of(event)
        if pass_id not in passes:
            yield event
        if pass_id:
            passes.add(pass_id)


def pass_of(event: RecordedEvent) -> str:
    """The id of the pass that a substitution was decided in; empty for any other event."""
    is_substitution = event.type == "placeholder_substituted"
    return str(event.data.get("pass_id") or "") if is_substitution else ""


def is_refolding(events: Sequence[RecordedEvent]) -> bool:
    """Whether any of them changes what earlier ones mean."""
    return any(event.type in REFOLDING for event in events)
