"""Older human turns, whole with their tools, become a summary that the model acknowledges.

A turn begins with a message that a person typed, and ends before the next; a tool result is none.
The summarizer is shown tool names and arguments too. An empty or failed summary changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision, Summary
from projections.strategies.summaries import PROMPT, acknowledged
from projections.strategies.window import Window


class CompactTurns(Strategy):
    """``compact``: the last human turns stay, older ones are summarised."""

    name: ClassVar[str] = "compact"
    moment: ClassVar[MomentKind] = "user_turn"

    class Parameters(base.Parameters):
        """How many turns stay, and when it happens; the turn that is coming counts as one."""

        keep_turns: Annotated[int, Field(ge=0)] = 3
        trigger_turns: Annotated[int, Field(ge=0)] = 0
        """Human turns over which it happens; 0: as soon as more stand than are kept, unless
        ``trigger_tokens`` decides."""
        trigger_tokens: Annotated[int, Field(ge=0)] = 0
        """Tokens of the context over which it happens; 0: the turns decide."""
        max_summary_tokens: Annotated[int, Field(ge=1)] = 1000

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether there are turns to summarise, and it is time."""
        p = self.parameters
        turns = len(window.humans) + (moment.incoming is not None)
        if turns <= p.keep_turns:
            return False
        if p.trigger_tokens and window.tokens > p.trigger_tokens:
            return True
        if p.trigger_turns:
            return turns > p.trigger_turns
        return not p.trigger_tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        turns = len(window.humans) + (moment.incoming is not None)
        if turns <= p.keep_turns:
            return under(turns, "human turns stand", p.keep_turns)
        tokens = under(window.tokens, "tokens stand", p.trigger_tokens) if p.trigger_tokens else ""
        told = under(turns, "human turns stand", p.trigger_turns) if p.trigger_turns else ""
        return "; ".join(filter(None, (told, tokens)))

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction of everything before the first turn that stays."""
        p = self.parameters
        first = window.turn_start(p.keep_turns - (moment.incoming is not None))
        staying = {e.unit.number for e in window.oldest() if e.order >= first}
        covered = tuple(e.origin for e in window.oldest() if e.unit.number not in staying)
        if covered:
            summary = Summary(PROMPT, p.max_summary_tokens, acknowledged)
            yield Compact(covered, summary, f"older than the last {p.keep_turns} turns")
