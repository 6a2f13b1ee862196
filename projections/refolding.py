"""The view after an undo or a rewind, from the nearest snapshot that they leave standing.

Both change what earlier events mean, so the stream is folded anew; but not from nothing. A walk
from the end finds what is in force, a rewind jumps over what it took away, and where the walk comes
to a snapshot that no undo behind it reaches before, the fold begins. So either costs what it
changes and the way to a snapshot, and not the stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamKey
from projections.backwards import Backwards
from projections.context import UNDOABLE, Note, View


class Kept(Protocol):
    """Where snapshots and events come from: ``Views``."""

    @property
    def log(self) -> EventLog:
        """The log."""

    def snapshot(self, key: StreamKey, limit: int) -> tuple[int, str]:
        """The last snapshot up to a position, an ancestor's included: where, and its state."""

    def load(self, key: StreamKey, position: int, state: str) -> View:
        """The view of a snapshot."""

    def stretch(self, key: StreamKey, after: int, to: int) -> list[RecordedEvent]:
        """The events of a range as a fold reads them."""

    def positions(self, key: StreamKey, low: int, high: int) -> list[int]:
        """The positions of the events in a range that bring in an item."""


def refold(kept: Kept, key: StreamKey, position: int) -> View:
    """The view after an event, as ``context.fold`` gives it. Raises CriticalUnknown."""
    # Where a pass begins is not known without reading the stream: its undo folds from nothing.
    walk = Backwards(pass_begins=lambda _: 1)
    jumps: list[tuple[int, int]] = []
    at = position
    while True:
        start, state = kept.snapshot(key, min(at, int(min(walk.begins, position + 1)) - 1))
        for event in reversed(kept.stretch(key, start, at)):
            if event.position > at:
                continue
            at = walk.take(event)
            if at < event.position - 1:
                jumps.append((at, event.position))
        if at == start < walk.begins:
            break
    view = kept.load(key, start, state)
    for event in reversed(_whole(kept.log, key, walk.found, view)):
        view.evolve(event)
    for low, high in reversed(jumps):
        view.set_apart(kept.positions(key, low + 1, high))
    view.version = position
    view.notes = sorted([*view.notes, *_notes(kept.log, key, walk)])
    return view


def _whole(
    log: EventLog, key: StreamKey, found: list[RecordedEvent], view: View
) -> list[RecordedEvent]:
    """With the payloads of results, where a real one may take the place of a synthetic one."""
    if not view.waiting and all(event.type != "repair_applied" for event in found):
        return found
    results = [event.position for event in found if event.type == "tool_result_recorded"]
    whole = log.at(key, results)
    return [whole.get(event.position, event) for event in found]


def _notes(log: EventLog, key: StreamKey, walk: Backwards) -> Iterable[Note]:
    yield from walk.notes
    types = {at: event.type for at, event in log.at(key, walk.unmet).items()}
    for target, by in walk.unmet.items():
        if types.get(target) not in UNDOABLE:
            yield Note(by, f"there is no decision {target} to undo")
