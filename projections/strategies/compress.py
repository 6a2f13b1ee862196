"""Over a number of messages, all but the last few become one summary.

The summary is a user message between two fixed marks. The summarizer is shown what users and the
model said, without tools and their output: what it was not shown is lost, and noted so. A unit that
reaches into the messages that stay is kept whole, so more may stay than asked for, and never less.
Nothing to show, a failed or an empty summary: the last ``keep_recent // 2`` turns stay instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from projections.runs import Origin
from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision, Summary
from projections.strategies.summaries import PROMPT, as_user
from projections.strategies.window import Window


class Compress(Strategy):
    """``compress``: a summary of all but the last messages."""

    name: ClassVar[str] = "compress"
    moment: ClassVar[MomentKind] = "user_turn"

    class Parameters(base.Parameters):
        """Messages are counted without the system's."""

        max_messages: Annotated[int, Field(ge=1)] = 50
        """Over how many messages a summary is written."""
        keep_recent: Annotated[int, Field(ge=0)] = 6
        max_summary_tokens: Annotated[int, Field(ge=1)] = 500

        @model_validator(mode="after")
        def _something_to_cover(self) -> Self:
            if self.keep_recent >= self.max_messages:
                raise ValueError("keep_recent must be less than max_messages")
            return self

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether too many messages stand."""
        return window.messages > self.parameters.max_messages

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.messages, "messages stand", self.parameters.max_messages)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction."""
        p = self.parameters
        covered = all_but_last(window, p.keep_recent)
        if covered:
            summary = Summary(PROMPT, p.max_summary_tokens, as_user, texts_only=True)
            reason = f"over {p.max_messages} messages"
            yield Compact(covered, summary, reason, f"truncate:turns={p.keep_recent // 2}")


def all_but_last(window: Window, keep: int, keep_first: int = 0) -> tuple[Origin, ...]:
    """The items, without the system's, of units that do not reach into the last (or first) ones."""
    items = list(window.oldest())
    staying = items[:keep_first] + items[max(keep_first, len(items) - keep) :]
    units = {entry.unit.number for entry in staying}
    return tuple(entry.origin for entry in items if entry.unit.number not in units)
