"""Which decisions have to be undone for items to stand again as they came in. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eventlog.events import DecisionUndone
from eventlog.recorded import RecordedEvent
from projections.context import UNDOABLE, fold
from projections.force import out_of_force
from projections.observe import draft_at
from projections.runs import Origin
from projections.why import taker


@dataclass(slots=True)
class Restoring:
    """The undos, in the order in which they are to be appended, and what they cannot do."""

    undos: list[DecisionUndone] = field(default_factory=list)
    impossible: dict[Origin, str] = field(default_factory=dict)
    """Items that no undo brings back, and why."""


def restoring(
    events: Sequence[RecordedEvent], items: Sequence[Origin], first: int, reason: str = ""
) -> Restoring:
    """The undos after which the items stand in their original rendition.

    ``events`` are a stream from its first position on, with the payload of what ``why.trace``
    reads; ``first`` is the position of the first undo. Each step undoes what took an item out, or
    what carries the rendition in which it stands, and looks again: beneath a clearing may stand a
    cut, and a later compaction may not know the item. Raises CriticalUnknown.
    """
    found = Restoring()
    undone: set[int] = set()
    now = list(events)

    def undo(targets: list[int]) -> None:
        new = [DecisionUndone(target=target, reason=reason) for target in targets]
        at, stream = first + len(found.undos), events[0].stream
        now.extend(draft_at(undo, stream, at + n) for n, undo in enumerate(new))
        found.undos += new
        undone.update(targets)

    kinds = {event.position: event.type for event in events}
    while True:
        view = fold(now)
        open_ = [item for item in items if item not in found.impossible and view.items.get(item, 1)]
        if not open_:
            return found
        covered = [item for item in open_ if item not in view.items]
        if covered:
            # One at a time: the undo that brings one back mostly brings back its neighbours.
            causes = {covered[0]: taker(now, out_of_force(now), covered[0])}
        else:
            causes = {item: view.items[item] for item in open_}
        targets: list[int] = []
        for item, cause in causes.items():
            if not cause:
                found.impossible[item] = "it never stood in the context"
            elif kinds.get(cause, "decision_undone") not in UNDOABLE:
                what = kinds[cause].replace("_", " ")
                found.impossible[item] = f"event {cause} ({what}) cannot be undone"
            elif cause in undone:
                found.impossible[item] = f"it does not stand although {cause} is undone"
            else:
                targets.append(cause)
        if targets:
            undo(sorted(set(targets), reverse=True))
