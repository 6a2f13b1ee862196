"""All but the newest results are masked, in batches.

Source: SWE-agent's ``last_n_observations`` at 3ea751c: of N observations, those from the second up
to the ``(N // polling) * polling - n``-th are masked, so the set changes at every ``polling``-th
observation only. The Complexity Trap (arXiv 2508.21433) uses n = 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.window import Entry, Window


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
        return self._due(window) > 0

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The maskings of one batch."""
        p = self.parameters
        due = self._due(window)
        first = self._first(window)
        for entry in list(islice(window.results.values(), due + 1)):
            if due > 0 and not (p.keep_first and entry is first):
                due -= 1
                yield Substitute(entry.origin, placeholder(entry), f"older than the last {p.n}")

    def _due(self, window: Window) -> int:
        """How many of the oldest results that stand are still to be masked."""
        p = self.parameters
        count = len(window.results) + window.settled
        wanted = count // p.polling * p.polling - p.n
        if wanted <= 0:
            return 0
        masked = window.settled
        if p.keep_first:
            first = self._first(window)
            wanted -= 1
            masked -= first is not None and first.is_settled
        return max(0, min(wanted - masked, len(window.results)))

    def _first(self, window: Window) -> Entry | None:
        """The first result of the context: it is the answer to the task, or a demonstration."""
        return next((entry for entry in window.entries.values() if entry.is_result), None)
