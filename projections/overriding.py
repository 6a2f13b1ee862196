"""Which later decisions are about the same items, so that the undo of one changes nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from eventlog.recorded import RecordedEvent
from projections.context import REFOLDING, View, fold
from projections.force import out_of_force
from projections.runs import Origin, position_of


def overriding(events: Sequence[RecordedEvent], undone: Sequence[int]) -> list[int]:
    """The decisions in force, the newest first, that decide what some undone ones had decided.

    ``events`` are a stream from its first position on, the undos included; ``undone`` are the
    positions of what was undone. Raises CriticalUnknown.
    """
    first, last = min(undone), max(undone)
    before, after = fold(events[: first - 1]).items, fold(events[:last]).items
    touched = {
        item
        for item in before.keys() | after.keys()
        if before.get(item) != after.get(item) and position_of(item) < first
    }
    found = _deciding(events, touched)
    return sorted({position for position in found if position > last}, reverse=True)


def _deciding(events: Sequence[RecordedEvent], touched: Set[Origin]) -> Iterable[int]:
    """For each item, what took it or brought it back last, or carries its rendition."""
    gone = out_of_force(events)
    view = View()
    found: dict[Origin, int] = {}
    for event in events:
        if event.position in gone or event.type in REFOLDING:
            continue
        before = {item: view.items.get(item) for item in touched}
        view.evolve(event)
        for item, rendition in before.items():
            if view.items.get(item) != rendition and event.position != position_of(item):
                found[item] = event.position
    for item in touched - found.keys():
        found[item] = gone.get(position_of(item), 0)
    return found.values()
