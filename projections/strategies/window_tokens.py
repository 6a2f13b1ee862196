"""The longest legal suffix within a number of tokens; older units are dropped in a batch.

With ``low`` the context goes down to a low-water mark, so that the next calls change nothing; at
``low=100`` it slides with every call, as LangChain's ``trim_messages`` does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Compact, Decision
from projections.strategies.window import Window


class TokenWindow(Strategy):
    """``window``: what fits into ``tokens``."""

    name: ClassVar[str] = "window"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """The budget of the whole context."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        low: Annotated[int, Field(ge=1, le=100)] = 60
        """Per cent of ``tokens`` that it goes down to."""

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than fits."""
        return window.tokens > self.parameters.tokens

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction without messages, of the oldest units."""
        p = self.parameters
        over = window.tokens - p.tokens * p.low // 100
        last = window.last_human()
        gone: dict[int, None] = {}
        for entry in window.oldest():
            if over <= 0:
                break
            number = entry.unit.number
            if number in gone or window.untouchable(entry) or entry is last:
                continue
            gone[number] = None
            over -= sum(each.tokens for each in entry.unit.items.values())
        origins = tuple(o for number in gone for o in window.units[number].items)
        if origins:
            yield Compact(origins, reason=f"over {p.tokens} tokens")
