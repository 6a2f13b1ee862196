"""Results beyond a protected span of tokens become placeholders, when enough comes free.

Source: opencode's prune at 31e22f6. From the newest result back: the last ``turns`` human turns are
passed over, then the newest ``protect`` tokens of results; all older ones are cleared if together
they have more than ``minimum`` tokens. What was cleared is never looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.window import Entry, Window


class Protect(Strategy):
    """``protect``: old results beyond a span of tokens are cleared."""

    name: ClassVar[str] = "protect"
    moment: ClassVar[MomentKind] = "user_turn"

    class Parameters(base.Parameters):
        """What is protected, and what it must bring."""

        protect: Annotated[int, Field(ge=0)] = 40_000
        """Tokens of results that stay."""
        minimum: Annotated[int, Field(ge=0)] = 20_000
        """Tokens that must come free, or nothing is cleared."""
        turns: Annotated[int, Field(ge=0)] = 2
        """Human turns whose results are not looked at."""
        exclude_tools: tuple[str, ...] = ("skill",)

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether there are more tokens of results than what is protected and must come free."""
        p = self.parameters
        return window.result_tokens > p.protect + p.minimum and len(window.humans) >= p.turns

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        if window.result_tokens <= p.protect + p.minimum:
            return under(window.result_tokens, "tokens of results stand", p.protect + p.minimum)
        return f"{len(window.humans):,} human turns stand, and it begins with {p.turns:,}"

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The clearings, the oldest first."""
        p = self.parameters
        behind = window.turn_start(p.turns)
        candidates: list[Entry] = []
        seen = 0
        for entry in reversed(window.results.values()):
            if entry.order >= behind or entry.tool in p.exclude_tools:
                continue
            seen += entry.tokens
            if seen > p.protect and entry.origin not in window.pins:
                candidates.append(entry)
        if sum(entry.tokens for entry in candidates) > p.minimum:
            for entry in reversed(candidates):
                yield Substitute(entry.origin, placeholder(entry), f"beyond {p.protect} tokens")
