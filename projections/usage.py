"""The tokens of a conversation, summed once an answer.

Providers report usage in different shapes; what is stored is disjoint already (``input`` is
uncached), so the sums mean the same whoever answered. Summarizer calls are not part of it: they are
no calls of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from eventlog.recorded import RecordedEvent

FIELDS = ("input", "cached", "cache_write", "output", "reasoning")


class UsageTotals(BaseModel):
    """Tokens over some answers: disjoint, except that ``reasoning`` is part of ``output``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: int = 0
    """Uncached input."""
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """Everything that was sent: uncached, read from a cache and written to one."""
        return self.input + self.cached + self.cache_write

    def __add__(self, other: UsageTotals) -> UsageTotals:
        return UsageTotals(**{name: getattr(self, name) + getattr(other, name) for name in FIELDS})


def counts(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """The five numbers of a stored usage; those that it lacks are 0."""
    usage = usage or {}
    return {name: int(usage.get(name) or 0) for name in FIELDS}


def total(events: Iterable[RecordedEvent]) -> UsageTotals:
    """The usage of all answers among the events: each ``ModelResponded`` once."""
    summed = dict.fromkeys(FIELDS, 0)
    for event in events:
        if event.type == "model_responded":
            for name, count in counts(event.data.get("usage")).items():
                summed[name] += count
    return UsageTotals(**summed)
