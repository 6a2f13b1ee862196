"""Old tool results become placeholders; the calls stay, and so do the ids.

Source: Anthropic's context editing ``clear_tool_uses_20250919``: the oldest first, all but the last
``keep``, counted in tool uses; ``exclude_tools`` are never cleared; with ``clear_at_least`` that
cannot be reached nothing is cleared at all (LangChain 1.5.2 clears anyway). Anthropic's own trigger
is 100,000 tokens; here it is 0, so that ``keep`` alone decides: see the preset ``anthropic-clear``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from projections.reading import binds_thinking, calls_of
from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Decision, Revise, Substitute
from projections.strategies.inputs import emptied
from projections.strategies.marks import cleared
from projections.strategies.window import Entry, Window


def placeholder(entry: Entry) -> str:
    """What stands in place of a result: no clock, no counter, no place in a list."""
    return cleared(entry.tool, entry.origin)


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
        clear_tool_inputs: bool | tuple[str, ...] = False
        """Whether the arguments of the cleared calls go too; or the tools of which they go."""

        @field_validator("clear_tool_inputs", mode="before")
        @classmethod
        def _switch(cls, value: Any) -> Any:
            """A spec's ``true`` and ``false`` are no tools."""
            words = {"true": True, "false": False}
            if isinstance(value, tuple) and len(value) == 1:
                return words.get(str(value[0]).lower(), value)
            return value

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more results stand than are kept, over the trigger, and can free enough."""
        p = self.parameters
        return (
            len(window.results) > p.keep
            and window.tokens > p.trigger
            and window.result_tokens > p.clear_at_least
        )

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        if len(window.results) <= p.keep:
            return under(len(window.results), "results stand that can be cleared", p.keep)
        if window.tokens <= p.trigger:
            return under(window.tokens, "tokens stand", p.trigger)
        return under(window.result_tokens, "tokens of results stand", p.clear_at_least)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The clearings, the oldest first."""
        p = self.parameters
        old = list(window.results.values())
        chosen = [
            entry
            for entry in old[: len(old) - p.keep]
            if entry.tool not in p.exclude_tools and entry.origin not in window.pins
        ]
        inputs = self._inputs(window, chosen) if p.clear_tool_inputs else []
        if p.clear_at_least:
            freed = sum(max(0, e.tokens - window.result_cost(placeholder(e))) for e in chosen)
            freed += sum(saved for saved, _ in inputs)
            if freed < p.clear_at_least:
                return
        for entry in chosen:
            yield Substitute(entry.origin, placeholder(entry), f"all but the last {p.keep}")
        yield from (revision for _, revision in inputs)

    def _inputs(self, window: Window, chosen: Sequence[Entry]) -> list[tuple[int, Revise]]:
        """The calls of the cleared results, without their arguments, and what that saves.

        An answer with signed thinking, and the newest answer, are never touched.
        """
        wanted = self.parameters.clear_tool_inputs
        going = {entry.origin for entry in chosen}
        found = []
        for unit in {entry.unit.number: entry.unit for entry in chosen}.values():
            answered = {
                part.id
                for each in window.members(unit)
                if each.is_result and (each.is_settled or each.origin in going)
                for part in each.item.parts
            }
            for entry in window.members(unit):
                calls = calls_of(entry.item)
                if not calls or binds_thinking(entry.item) or entry is window.last_answer():
                    continue
                ids = {
                    part.id
                    for part in calls
                    if part.id in answered and (wanted is True or part.name in (wanted or ()))
                }
                if ids:
                    message = emptied(entry.original, ids)
                    saved = sum(window.counting.count(p.text) for p in calls if p.id in ids)
                    found.append((saved, Revise(entry.origin, message, "arguments cleared")))
        return found
