"""Old results are masked in batches; over the limit what is left becomes a summary.

Source: the hybrid of The Complexity Trap (arXiv 2508.21433): masking first, since it is free, and a
summary only when the masked context is still too long.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Combination, Strategy
from projections.strategies.condense import Condense
from projections.strategies.mask import Mask


class Hybrid(Combination):
    """``hybrid``: ``mask``, then ``condense``."""

    name = "hybrid"

    class Parameters(base.Parameters):
        """Those of its two parts."""

        n: Annotated[int, Field(ge=0)] = 10
        polling: Annotated[int, Field(ge=1)] = 10
        tokens: Annotated[int, Field(ge=1)] = 100_000
        keep_last: Annotated[int, Field(ge=0)] = 20
        """Items that a summary leaves as they are."""
        max_summary_tokens: Annotated[int, Field(ge=1)] = 2000

    parameters: Parameters

    def expand(self) -> tuple[Strategy, ...]:
        """The masking, and the summary."""
        p = self.parameters
        condense = Condense.Parameters(
            tokens=p.tokens, keep_last=p.keep_last, max_summary_tokens=p.max_summary_tokens
        )
        return Mask(Mask.Parameters(n=p.n, polling=p.polling)), Condense(condense)
