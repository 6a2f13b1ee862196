"""Nothing is ever changed: what every other strategy is measured against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision
from projections.strategies.window import Window


class NoStrategy(Strategy):
    """``none``: the identity."""

    name: ClassVar[str] = "none"
    moment: ClassVar[MomentKind] = "model_call"

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Never."""
        return False

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return "it never decides"

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """Nothing."""
        return ()
