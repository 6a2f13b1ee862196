"""The tokens of a conversation, summed once an answer.

Providers report usage in different shapes; what is stored is disjoint already (``input`` is
uncached), so the sums mean the same whoever answered. What no provider told is None, not 0.
Summarizer calls are not part of it: they are no calls of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from eventlog.recorded import RecordedEvent
from eventlog.values import known_sum

FIELDS = ("input", "cached", "cache_write", "output", "reasoning")


class UsageTotals(BaseModel):
    """Tokens over some answers: disjoint, except that ``reasoning`` is part of ``output``. A figure
    sums the answers whose provider told it, and is None where none did."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: int | None = None
    """Uncached input; where an answer's ``cached`` is not known, what was read is in here."""
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None

    @property
    def prompt(self) -> int | None:
        """Everything that was sent, as far as it is known: uncached, read from a cache and written
        to one."""
        return known_sum((self.input, self.cached, self.cache_write))

    def __add__(self, other: UsageTotals) -> UsageTotals:
        both = {name: (getattr(self, name), getattr(other, name)) for name in FIELDS}
        return UsageTotals(**{name: known_sum(each) for name, each in both.items()})


def usage_totals(usage: Mapping[str, Any] | None) -> UsageTotals:
    """The five numbers of a stored usage."""
    usage = usage or {}
    given = {name: usage.get(name) for name in FIELDS}
    return UsageTotals(**{k: None if count is None else int(count) for k, count in given.items()})


def total(events: Iterable[RecordedEvent]) -> UsageTotals:
    """The usage of all answers among the events: each ``ModelResponded`` once."""
    summed = UsageTotals()
    for event in events:
        if event.type == "model_responded":
            summed += usage_totals(event.data.get("usage"))
    return summed
