"""A tool result over a limit keeps its head and its tail, decided when the result comes in.

Stateless per result, so what was sent stays as it was: no prefix ever breaks. The limit counts code
points, so no character is ever split; what is left out is said, and the original is in the log.
Source: head and tail truncation as in Gemini CLI 5411f11 and LangChain's deepagents, 2026-08.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.marks import cut
from projections.strategies.window import Window


class Cut(Strategy):
    """``cut``: head and tail of long results around a note of how many characters were left out."""

    name: ClassVar[str] = "cut"
    moment: ClassVar[MomentKind] = "tool_result"

    class Parameters(base.Parameters):
        """``limit``: characters that are kept of a result; 0 keeps none of its text."""

        limit: Annotated[int, Field(ge=0)] = 4000

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether there is a result at hand, or at another moment any."""
        return moment.result is not None or (self.at != "tool_result" and bool(window.results))

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return "no tool result stands that it could look at"

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The cut of the result at hand, or at another moment of every long one."""
        limit = self.parameters.limit
        origins = [moment.result] if moment.result is not None else list(window.results)
        for origin in origins:
            entry = window.entries[origin]
            if entry.item.form == "cut" or entry.is_settled or entry.tokens * 4 < limit:
                continue
            text = entry.result_text
            if len(text) > limit:
                yield Substitute(origin, cut(text, limit), f"over {limit} characters", "cut")
