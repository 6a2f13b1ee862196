"""How often a strategy was asked, and what it was waiting for when it decided nothing. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.window import Window


@dataclass(slots=True)
class Attention:
    """Of one strategy."""

    spec: str
    at: MomentKind
    """The moments at which it decides."""
    asked: int = 0
    first: int = 0
    last: int = 0
    """The positions of the first and the last of these moments."""
    waits: str = ""
    """Why it did not begin at the last of them, in words; empty where it began."""

    def begins(self, moment: Moment) -> None:
        """It is asked for its decisions."""
        self._asked(moment)
        self.waits = ""

    def not_triggered(self, strategy: Strategy, window: Window, moment: Moment) -> None:
        """There was nothing for it to do."""
        self._asked(moment)
        self.waits = strategy.waits(window, moment)

    def is_stuck(self, window: Window, until: float, moment: Moment) -> None:
        """It could not help at an earlier moment, and is not asked before the context has grown."""
        self._asked(moment)
        self.waits = (
            f"it could not help before; {window.tokens:,} tokens stand, and it is asked again over "
            f"{int(until):,}"
        )

    def _asked(self, moment: Moment) -> None:
        self.first = self.first or moment.position
        self.last = moment.position
        self.asked += 1
