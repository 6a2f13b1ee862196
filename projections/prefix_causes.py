"""Which decision broke a prefix: what lies between two calls, held against the first difference.

What differs first names its decision in most cases: a rendition carries the position of its event,
a summary that of its compaction. What merely left is looked for in what was covered, rewound or
taken back. A difference that nothing explains is said to be that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from eventlog.recorded import RecordedEvent
from projections import runs
from projections.context import DECISIONS, UNDOABLE
from projections.metrics.model import Result
from projections.recording import Step
from projections.runs import Origin
from projections.seen import Seen

Cause = Literal[
    "ttl",
    "model",
    "tools",
    "compaction",
    "substitution",
    "revision",
    "rewind",
    "undo",
    "repair",
    "insertion",
    "field_order",
    "unexplained",
]
"""Time ran out; another model; other tools; or what happened to the first item that differs. With
``field_order`` it is the same JSON, and the fields of a tool's input stand in another order."""

BEHIND: frozenset[Cause] = frozenset({"ttl", "model", "tools"})
"""Causes that lie in front of all items: nothing at all could be reused."""

_CAUSES: dict[str, Cause] = {
    "placeholder_substituted": "substitution",
    "message_revised": "revision",
    "context_compacted": "compaction",
    "session_rewound": "rewind",
    "decision_undone": "undo",
    "repair_applied": "repair",
}
_MATTER = UNDOABLE | {"repair_applied"}


class Decided(Result):
    """One event that changed what stood in the context."""

    position: int
    type: str
    name: str
    """``k3`` of a compaction, else its position."""


class Decisions:
    """The decisions of a stream, noted while its events pass."""

    def __init__(self) -> None:
        self.events: dict[int, RecordedEvent] = {}
        """By position; whole."""
        self.order: list[int] = []
        """Of those that change a context."""
        self.compactions: list[int] = []

    def note(self, event: RecordedEvent) -> None:
        """Keep a decision; anything else is passed over."""
        if event.type not in DECISIONS:
            return
        self.events[event.position] = event
        if event.type in _MATTER:
            self.order.append(event.position)
        if event.type == "context_compacted":
            self.compactions.append(event.position)

    def over(self, seen: Iterable[Seen | Step]) -> Causes:
        """What answers for breaks, given what each compaction covered."""
        covered = {
            step.position: frozenset(step.covered)
            for step in seen
            if isinstance(step, Seen) and step.kind == "compact"
        }
        return Causes(self, covered)

    def decided(self, position: int, kind: str = "") -> Decided:
        """An event by its place; ``kind`` of one that is no decision."""
        event = self.events.get(position)
        kind = event.type if event is not None else kind
        name = str(position)
        if kind == "context_compacted":
            name = f"k{bisect_right(self.compactions, position)}"
        return Decided(position=position, type=kind, name=name)


class Causes:
    """Answers for breaks."""

    def __init__(self, decisions: Decisions, covered: dict[int, frozenset[Origin]]) -> None:
        self._decisions, self._covered = decisions, covered

    def of(
        self, after: int, before: int, old: str, new: Sequence[str]
    ) -> tuple[Cause, tuple[Decided, ...]]:
        """Why a request between two positions does not go on with ``old``.

        ``old`` is the rendition that is missing, ``new`` all that stands from there on.
        """
        order = self._decisions.order
        between = order[bisect_right(order, after) : bisect_left(order, before)]
        found = list(self._positions(between, old, new))
        if found:
            kind = self._decisions.events[found[0]].type
            return _CAUSES[kind], tuple(map(self._decisions.decided, found))
        origin = runs.standing(new[0])[0] if new else 0
        if isinstance(origin, int) and after < origin < before:
            return "insertion", (self._decisions.decided(origin, "item"),)
        return "unexplained", ()

    def _positions(self, between: Sequence[int], old: str, new: Sequence[str]) -> Iterator[int]:
        """Of the decisions that explain it: of one type, the first that does."""
        known = set(between)
        gone, rendition = runs.standing(old)
        if new:
            stands, carried = runs.standing(new[0])
            brought = runs.position_of(stands) if isinstance(stands, str) else 0
            for position in (carried, brought):
                if position in known:
                    yield position
                    return
        undos = self._of(between, "decision_undone")
        targets = {self._decisions.events[at].data.get("target"): at for at in undos}
        moved = any(runs.standing(label)[0] == gone for label in new)
        if not moved:
            for at in self._of(between, "context_compacted"):
                if at not in targets and gone in self._covered.get(at, {gone}):
                    yield at
                    return
        for target in (rendition, runs.position_of(gone)):
            if target in targets:
                yield targets[target]
                return
        for kind in ("session_rewound", "decision_undone", "repair_applied", "context_compacted"):
            if positions := self._of(between, kind):
                yield from positions
                return

    def _of(self, positions: Iterable[int], kind: str) -> list[int]:
        return [at for at in positions if self._decisions.events[at].type == kind]
