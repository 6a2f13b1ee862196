"""All but the newest results are masked, in batches.

Source: SWE-agent's ``last_n_observations`` at 3ea751c: of N observations, those from the second up
to the ``(N // polling) * polling - n``-th are masked, so the set changes at every ``polling``-th
observation only. The Complexity Trap (arXiv 2508.21433) uses n = 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.window import Window


class Mask(Strategy):
    """``mask``: the last ``n`` results stay, counted in batches of ``polling``."""

    name: ClassVar[str] = "mask"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """How many results stay, and how many come between two changes."""

        n: Annotated[int, Field(ge=0)] = 10
        polling: Annotated[int, Field(ge=1)] = 10
        keep_first: bool = True

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether a whole batch has come since."""
        return self._last(window) - self.parameters.keep_first > window.settled

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The maskings of one batch."""
        p = self.parameters
        results = [entry for entry in window.entries.values() if entry.is_result]
        for entry in results[int(p.keep_first) : self._last(window)]:
            if not entry.is_settled:
                yield Substitute(entry.origin, placeholder(entry), f"older than the last {p.n}")

    def _last(self, window: Window) -> int:
        """The index behind the last result that is masked, of all results that stand."""
        p = self.parameters
        count = len(window.results) + window.settled
        return max(0, count // p.polling * p.polling - p.n)
