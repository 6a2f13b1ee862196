"""Three tiers: a core that stays, what is recent, and an archive as one rolling summary.

The core is the system prompt, the task (the first human message) and what is pinned. Over
``tokens`` everything older than the recent suffix joins the archive at once: the archive changes
at an eviction only, so the prefix holds between two. The summary of an eviction takes the earlier
archive in. Without a summary the block is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision, Summary
from projections.strategies.summaries import PROMPT, as_user
from projections.strategies.window import Window
from projections.strategies.window_tokens import oldest_over


class Tiered(Strategy):
    """``tiered``: core, recent and archive."""

    name: ClassVar[str] = "tiered"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """The budget, and how it is shared."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        recent: Annotated[int, Field(ge=1, le=100)] = 50
        """Per cent of ``tokens`` that core and recent items have after an eviction."""
        archive: Annotated[int, Field(ge=1)] = 2000
        """Tokens that the summary may have."""

    parameters: Parameters

    @property
    def limit(self) -> int:
        """The budget."""
        return self.parameters.tokens

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than the budget."""
        return window.tokens > self.parameters.tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.tokens, "tokens stand", self.parameters.tokens)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One eviction, the earlier archive with it."""
        p = self.parameters
        task = window.task
        evicted = oldest_over(window, p.tokens * p.recent // 100, lambda entry: entry is task)
        if evicted:
            archive = (e.origin for e in window.oldest() if e.is_summary)
            items = tuple(dict.fromkeys((*archive, *evicted)))
            yield Compact(items, Summary(PROMPT, p.archive, as_user), "evicted", "drop")
