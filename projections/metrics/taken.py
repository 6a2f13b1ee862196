"""Which decision took an item out of the context, or part of it: the latest one."""

from __future__ import annotations

from typing import NamedTuple

from projections.runs import Origin
from projections.whatif import Change

NO_CHANGE = frozenset({"declined", "over_budget"})
"""Kinds of change that say why nothing was changed."""


class Taken(NamedTuple):
    """What became of an item."""

    kind: str
    position: int
    reason: str


class TakenBy(dict[Origin, Taken]):
    """By item, kept up with a growing list of changes; ``read`` is how many were read."""

    read = 0

    def catch_up(self, changes: list[Change]) -> list[Change]:
        """Read the changes that came since; gives them back."""
        fresh = changes[self.read :]
        self.read += len(fresh)
        for change in fresh:
            if change.kind in NO_CHANGE:
                continue
            if change.kind == "restored":
                for item in change.items:
                    self.pop(item, None)
                continue
            said = Taken(change.kind, change.position, change.reason)
            self.update(dict.fromkeys(change.items, said))
        return fresh
