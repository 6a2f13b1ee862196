"""What goes first depends on the kind of work: review, debugging, talk or writing.

The kind is what ``TaskClassified`` last said; without one it is told by the tools that were called:
none is a chat, only tools that read is a review, tools that run or write is debugging. Calls are
only ever added, so it never flips back and forth. It is asked at the trigger only.

    code_review        results with a diff stay, up to half, the other results are cleared
    debugging          results with errors and stack traces stay, up to half, the others are cleared
    creative_writing   what people and the model wrote stays; all results are cleared
    chat               the oldest units go
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from projections.runs import Origin
from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Compact, Decision, Substitute
from projections.strategies.signs import shows_diff, shows_error
from projections.strategies.window import Entry, Window
from projections.strategies.window_tokens import oldest_over

Task = Literal["code_review", "debugging", "chat", "creative_writing"]

_WORKS = re.compile(
    r"bash|shell|exec|run|test|python|terminal|command|edit|write|patch|apply|replace|create|insert",
    re.IGNORECASE,
)
_STAYS: dict[str, Callable[[Entry], bool]] = {
    "code_review": shows_diff,
    "debugging": shows_error,
}


class Adaptive(Strategy):
    """``adaptive``: by the kind of task, over a budget."""

    name: ClassVar[str] = "adaptive"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """The budget of the whole context."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        low: Annotated[int, Field(ge=1, le=100)] = 60
        """Per cent of ``tokens`` that it goes down to."""
        keep: Annotated[int, Field(ge=0)] = 3
        """Newest results that stay whatever they hold."""
        task: Task | Literal["auto"] = "auto"
        """The kind of work, when it is known beforehand."""

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
        """Clearings by kind, then the oldest units as far as that was not enough."""
        p = self.parameters
        kind = self.kind(window)
        low = p.tokens * p.low // 100
        staying = self._staying(window, kind, low // 2)
        old = list(window.results.values())
        freed = 0
        for entry in old[: len(old) - p.keep] if kind != "chat" else ():
            if entry.origin in window.pins or entry.origin in staying:
                continue
            text = placeholder(entry)
            freed += max(0, entry.tokens - window.result_cost(text))
            yield Substitute(entry.origin, text, f"not needed for {kind}")
        gone = oldest_over(window, low + freed, lambda entry: entry.origin in staying)
        if gone:
            yield Compact(gone, reason=f"over {p.tokens} tokens")

    def _staying(self, window: Window, kind: str, share: int) -> set[Origin]:
        """What this kind of work needs, the newest first up to a share: all of it would not fit."""
        found: set[Origin] = set()
        needed = _STAYS.get(kind)
        for entry in reversed(window.results.values()) if needed else ():
            if share >= entry.tokens and needed is not None and needed(entry):
                found.add(entry.origin)
                share -= entry.tokens
        return found

    def kind(self, window: Window) -> str:
        """The kind of task at hand."""
        if self.parameters.task != "auto":
            return self.parameters.task
        if window.task_type in ("code_review", "debugging", "chat", "creative_writing"):
            return window.task_type
        if not window.tools:
            return "chat"
        return "debugging" if any(map(_WORKS.search, window.tools)) else "code_review"
