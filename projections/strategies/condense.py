"""A summary of the middle: the first items and the last ones stay.

What several agents do, with their own numbers: see the presets. Without a summary the middle is
dropped; over ``tokens`` the ladder goes on from there.
Source: Claude Code's auto-compact, the hybrid of The Complexity Trap (arXiv 2508.21433). OpenHands
counts and cuts in another way: see ``halve``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.compress import all_but_last
from projections.strategies.decisions import Compact, Decision, Summary
from projections.strategies.summaries import PROMPT, as_user
from projections.strategies.window import Window


class Condense(Strategy):
    """``condense``: a summary of what is neither first nor last, by items or by tokens."""

    name: ClassVar[str] = "condense"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """When, and what stays; the system prompt always does."""

        max_items: Annotated[int, Field(ge=0)] = 0
        """Items over which it happens; 0: no such trigger."""
        tokens: Annotated[int, Field(ge=0)] = 100_000
        """Tokens over which it happens; 0: no such trigger."""
        keep_first: Annotated[int, Field(ge=0)] = 0
        keep_last: Annotated[int, Field(ge=0)] = 10
        max_summary_tokens: Annotated[int, Field(ge=1)] = 2000

        @model_validator(mode="after")
        def _a_trigger(self) -> Self:
            if not self.max_items and not self.tokens:
                raise ValueError("one of max_items and tokens must be given")
            if self.max_items and self.keep_first + self.keep_last >= self.max_items:
                raise ValueError("keep_first and keep_last must be less than max_items together")
            return self

    parameters: Parameters

    @property
    def limit(self) -> int | None:
        """The tokens, where they are the trigger."""
        return self.parameters.tokens or None

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether too much stands."""
        p = self.parameters
        return bool(
            (p.max_items and window.messages > p.max_items)
            or (p.tokens and window.tokens > p.tokens)
        )

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        tokens = under(window.tokens, "tokens stand", p.tokens) if p.tokens else ""
        items = under(window.messages, "items stand", p.max_items) if p.max_items else ""
        return "; ".join(filter(None, (items, tokens)))

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction."""
        p = self.parameters
        covered = all_but_last(window, p.keep_last, p.keep_first)
        if covered:
            summary = Summary(PROMPT, p.max_summary_tokens, as_user)
            yield Compact(covered, summary, "over the limit", "drop")
