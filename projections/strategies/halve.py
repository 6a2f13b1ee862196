"""Over a number of events the middle becomes a summary, and half as many stay.

OpenHands' ``LLMSummarizingCondenser``. Events are counted as OpenHands counts them: system prompts
too, each call of an answer apart, and a summary as one. The first ``keep_first`` stay; behind them
so many are summarised that half of ``max_size`` is left, the summary included. Both edges move on
to the next place where no call is parted from its result, so that what reaches into the tail leaves
with the middle: more may leave than asked for, and never less.

Source: OpenHands/software-agent-sdk at 118402a, ``_get_forgotten_events`` (of 2025-09 the same
numbers, where a result that lost its call was dropped afterwards). Left out: its token trigger, its
requests, and the loops of signed thinking that it keeps whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision, Summary
from projections.strategies.entries import Entry
from projections.strategies.summaries import PROMPT, as_user
from projections.strategies.window import Window


class Halve(Strategy):
    """``halve``: a summary of the middle over a number of events, so that half of them stay."""

    name: ClassVar[str] = "halve"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """When, and what stays; the system prompt always does."""

        max_size: Annotated[int, Field(ge=4)] = 240
        """Events over which it happens."""
        keep_first: Annotated[int, Field(ge=0)] = 2
        """Events at the beginning that stay, the system prompt among them."""
        max_summary_tokens: Annotated[int, Field(ge=1)] = 2000

        @model_validator(mode="after")
        def _a_tail(self) -> Self:
            if self.tail <= 0:
                raise ValueError("keep_first must be less than half of max_size, less one")
            return self

        @property
        def tail(self) -> int:
            """Events at the end that stay: half of all, less the first ones and the summary."""
            return self.max_size // 2 - self.keep_first - 1

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether too many events stand."""
        return len(window) + window.parallel > self.parameters.max_size

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        events = len(window) + window.parallel
        return under(events, "events stand", self.parameters.max_size)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction."""
        p = self.parameters
        entries = list(window.entries.values())
        edges = _edges(entries)
        tail = len(window) + window.parallel - p.tail
        start = next((i for at, i in edges if at >= p.keep_first), len(entries))
        end = next((i for at, i in edges if at >= tail), len(entries))
        covered = tuple(e.origin for e in entries[start:end] if not window.untouchable(e))
        if covered:
            summary = Summary(PROMPT, p.max_summary_tokens, as_user)
            yield Compact(covered, summary, f"over {p.max_size} events", "drop")


def _edges(entries: list[Entry]) -> list[tuple[int, int]]:
    """Places where the context may be cut, as a number of events and one of items before it."""
    last: dict[int, int] = {}
    for index, entry in enumerate(entries):
        last[entry.unit.number] = index
    edges: list[tuple[int, int]] = []
    events, reach = 0, -1
    for index, entry in enumerate(entries):
        if reach < index:
            edges.append((events, index))
        events += 1 + entry.parallel
        reach = max(reach, last[entry.unit.number])
    return [*edges, (events, len(entries))]
