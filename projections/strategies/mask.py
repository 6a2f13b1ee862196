"""All but the newest results are masked, in batches.

Source: SWE-agent's ``last_n_observations`` at 3ea751c: of N observations, 1 to ``(N // polling) *
polling - n`` are masked, and never the first, so the set changes at every ``polling``-th
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
        p = self.parameters
        return len(window.results) - p.keep_first >= p.n + p.polling

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The maskings of one batch."""
        p = self.parameters
        results = list(window.results.values())[int(p.keep_first) :]
        for entry in results[: len(results) - p.n]:
            yield Substitute(entry.origin, placeholder(entry), f"older than the last {p.n}")
