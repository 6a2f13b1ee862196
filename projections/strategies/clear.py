"""Old tool results become placeholders; the calls stay, and so do the ids.

Source: Anthropic's context editing ``clear_tool_uses_20250919``: oldest first, all but the last
``keep``; with ``clear_at_least`` that cannot be reached nothing is cleared at all (LangChain 1.5.2
clears anyway).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.window import Entry, Window


def placeholder(entry: Entry) -> str:
    """What stands in place of a result: no clock, no counter, no place in a list."""
    tool = entry.item.tool_name or "tool"
    return f"[The result of {tool} was cleared; its original is item {entry.origin} of the log]"


class Clear(Strategy):
    """``clear``: all but the last results become placeholders."""

    name: ClassVar[str] = "clear"
    moment: ClassVar[MomentKind] = "user_turn"

    class Parameters(base.Parameters):
        """How many stay, and when it is worth it (all in tokens of the spec's counter)."""

        keep: Annotated[int, Field(ge=0)] = 3
        trigger: Annotated[int, Field(ge=0)] = 0
        """Tokens of the context under which nothing is cleared."""
        clear_at_least: Annotated[int, Field(ge=0)] = 0
        """Tokens that must come free, or nothing is cleared."""
        exclude_tools: tuple[str, ...] = ()

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more results stand than are kept, over the trigger."""
        p = self.parameters
        return len(window.results) > p.keep and window.tokens > p.trigger

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The clearings, the oldest first."""
        p = self.parameters
        old = list(window.results.values())
        old = old[: len(old) - p.keep]
        chosen = [
            entry
            for entry in old
            if entry.item.tool_name not in p.exclude_tools and entry.origin not in window.pins
        ]
        freed = sum(max(0, entry.tokens - _PLACEHOLDER) for entry in chosen)
        if freed < p.clear_at_least:
            return
        for entry in chosen:
            yield Substitute(entry.origin, placeholder(entry), f"all but the last {p.keep}")


_PLACEHOLDER = 30
"""About the tokens of a placeholder, for ``clear_at_least``."""
