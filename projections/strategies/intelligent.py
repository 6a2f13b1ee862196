"""Repeated results, tool output over its share and unimportant units go; then comes a summary.

The cheap steps lose least and are taken first: duplicates when they come in; over the threshold,
tool results beyond their share and units with a low score; what is then still over the threshold is
summarised.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Combination, Strategy
from projections.strategies.budget import Budget
from projections.strategies.condense import Condense
from projections.strategies.dedup import Dedup
from projections.strategies.prune import Prune


class Intelligent(Combination):
    """``intelligent``: ``dedup``, ``budget``, ``prune``, then ``condense``."""

    name = "intelligent"

    class Parameters(base.Parameters):
        """The window, and when it begins."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        threshold: Annotated[int, Field(ge=1, le=100)] = 80
        """Per cent of ``tokens`` over which it begins."""
        low: Annotated[int, Field(ge=1, le=100)] = 75
        """Per cent of the threshold that the cheap steps go down to."""
        max_score: Annotated[float, Field(gt=0)] = 2.5
        """Units that score less may leave without a summary: half of ``prune``'s base."""
        keep_last: Annotated[int, Field(ge=0)] = 10
        max_summary_tokens: Annotated[int, Field(ge=1)] = 2000

    parameters: Parameters

    def expand(self) -> tuple[Strategy, ...]:
        """Its four parts."""
        p = self.parameters
        tokens = max(1, p.tokens * p.threshold // 100)
        return (
            Dedup(),
            Budget(Budget.Parameters(tokens=tokens, low=p.low, drop_history=False)),
            Prune(Prune.Parameters(tokens=tokens, low=p.low, max_score=p.max_score)),
            Condense(
                Condense.Parameters(
                    tokens=tokens,
                    keep_last=p.keep_last,
                    max_summary_tokens=p.max_summary_tokens,
                )
            ),
        )
