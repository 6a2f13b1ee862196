"""Which events of a stream are in force, found from its end.

An undo and a rewind only name earlier events, so whoever goes backwards knows of each event, before
it is reached, whether it counts. ``context.effective`` does this over a whole stream; here the
caller brings one event after the other and stops where a view is kept that nothing behind it
changes.
"""

from __future__ import annotations

from collections.abc import Callable

from eventlog.recorded import RecordedEvent
from projections.context import UNDOABLE, Note


class Backwards:
    """A walk from the end of a stream. ``pass_begins`` tells where a pass has its first event."""

    def __init__(self, pass_begins: Callable[[str], float]) -> None:
        self.found: list[RecordedEvent] = []
        """What is in force, the last first."""
        self.begins = float("inf")
        """The first event that is passed over by an undo: only a view in front of it may serve."""
        self._pass_begins = pass_begins
        self.notes: list[Note] = []
        """Rewinds that go nowhere."""
        self.unmet: dict[int, int] = {}
        """What an undo names and was not reached, with the undo's position."""
        self._passes: set[str] = set()

    def take(self, event: RecordedEvent) -> int:
        """Take the next event; the position of the one that comes after it, towards the front."""
        kind = event.type
        before = event.position - 1
        if kind in UNDOABLE and self.unmet.pop(event.position, None) is not None:
            return before
        if kind == "session_rewound":
            to: int = event.data["to"]
            if to > before:
                self.notes.append(Note(event.position, f"a rewind to {to} goes nowhere"))
            return max(0, min(before, to))
        if kind == "decision_undone":
            self._undo(event)
        elif not self._is_of_undone_pass(event):
            self.found.append(event)
        return before

    def _undo(self, event: RecordedEvent) -> None:
        pass_id, target = event.data.get("pass_id", ""), event.data.get("target", 0)
        if pass_id:
            self._passes.add(pass_id)
            self.begins = min(self.begins, self._pass_begins(pass_id))
        else:
            self.unmet.setdefault(target, event.position)
            if 0 < target < event.position:
                self.begins = min(self.begins, target)

    def _is_of_undone_pass(self, event: RecordedEvent) -> bool:
        return (
            bool(self._passes)
            and event.type == "placeholder_substituted"
            and event.data.get("pass_id") in self._passes
        )
