"""The longest legal suffix within a number of tokens; older units are dropped in a batch.

With ``low`` the context goes down to a low-water mark, so that the next calls change nothing; at
``low=100`` it slides with every call, as LangChain's ``trim_messages`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.runs import Origin
from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision
from projections.strategies.window import Entry, Window


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

    @property
    def limit(self) -> int:
        """What fits."""
        return self.parameters.tokens

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than fits."""
        return window.tokens > self.parameters.tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.tokens, "tokens stand", self.parameters.tokens)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction without messages, of the oldest units."""
        p = self.parameters
        gone = oldest_over(window, p.tokens * p.low // 100)
        if gone:
            yield Compact(gone, reason=f"over {p.tokens} tokens")


def oldest_over(
    window: Window, tokens: int, keep: Callable[[Entry], bool] | None = None
) -> tuple[Origin, ...]:
    """The items of the oldest units that must leave so that no more than these tokens stand.

    Units that may not leave, those with an item that ``keep`` names, and the newest answer with its
    results, which the model has not read yet, are passed over: of a giant there the ladder keeps
    head and tail.
    """
    over = window.tokens - tokens
    latest = window.last_answer()
    seen: set[int] = {latest.unit.number} if latest is not None else set()
    gone: list[Origin] = []
    for entry in window.oldest():
        if over <= 0:
            break
        unit = entry.unit
        if unit.number in seen:
            continue
        seen.add(unit.number)
        if not window.removable(unit):
            continue
        if keep is not None and any(map(keep, window.members(unit))):
            continue
        gone += unit.items
        over -= window.tokens_of(unit)
    return tuple(gone)
