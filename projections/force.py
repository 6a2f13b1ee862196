"""Which events are in force, and what put the others out of force: an undo, or a rewind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventlog.recorded import RecordedEvent
from projections.context import REFOLDING, UNDOABLE


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
