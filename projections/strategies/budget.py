"""Every kind of content has its share of the context; what one leaves unused the next may have.

The order: the system prompt (never cut: over its share it takes from the rest), the task (the first
human message; over its share it keeps head and tail, unless it is the newest human message), tool
results (``tools`` per cent of what is left; the newest stay, the others become placeholders), and
the history, which has all that remains: its newest units stay. A call is charged to the history,
its result to the tools.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Compact, Decision, Substitute
from projections.strategies.marks import cut
from projections.strategies.window import Window
from projections.strategies.window_tokens import oldest_over


class Budget(Strategy):
    """``budget``: shares of system, task, tools and history."""

    name: ClassVar[str] = "budget"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """Shares in per cent."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        low: Annotated[int, Field(ge=1, le=100)] = 80
        """Per cent of ``tokens`` that the shares are counted on, so that the next calls have
        room."""
        system: Annotated[int, Field(ge=0, le=100)] = 12
        task: Annotated[int, Field(ge=0, le=100)] = 5
        tools: Annotated[int, Field(ge=0, le=100)] = 35
        """Of what system and task leave."""
        drop_history: bool = True
        """Whether old units leave; without it only the task and the results are looked at."""

    parameters: Parameters

    @property
    def limit(self) -> int | None:
        """The budget, when the history may be dropped for it."""
        return self.parameters.tokens if self.parameters.drop_history else None

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than the budget."""
        return window.tokens > self.parameters.tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.tokens, "tokens stand", self.parameters.tokens)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The cut of the task, the clearings, and one compaction of old history."""
        p = self.parameters
        total = p.tokens * p.low // 100
        task = window.task
        share = total * p.task // 100 + max(0, total * p.system // 100 - window.system_tokens)
        rest = total - window.system_tokens
        freed = 0
        if task is not None and task.tokens > share and task is not window.last_human():
            text = task.original.text
            length = len(text) * share // max(1, task.original_tokens)
            if length < len(text):
                freed += task.tokens - share
                yield Substitute(task.origin, cut(text, length), "over the task's share", "cut")
        rest -= (task.tokens if task is not None else 0) - freed
        over: list[Substitute] = []
        left = max(0, rest) * p.tools // 100
        for entry in reversed(list(window.results.values())):
            if entry.tokens <= left or entry.origin in window.pins:
                left -= entry.tokens
                continue
            left = min(left, 0)  # once over the share, nothing older stays
            text = placeholder(entry)
            freed += max(0, entry.tokens - window.result_cost(text))
            over.append(Substitute(entry.origin, text, "over the tools' share"))
        yield from reversed(over)
        if p.drop_history:
            gone = oldest_over(window, total + freed, lambda entry: entry is task)
            if gone:
                yield Compact(gone, reason="over the history's share")
