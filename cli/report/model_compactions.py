"""Decisions that took content out of sight, as data of the page."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from projections.takings import Kind
from projections.usage import UsageTotals

Runs = list[tuple[int, int]]
"""Rows in their order: the first of each run, and how many follow each other."""


class StandingData(BaseModel):
    """A context, as the difference from the one before it in the same list."""

    keep: int = 0
    """So many entries of that stand at the front."""
    add: Runs = []


class SummarizerData(BaseModel):
    """Who wrote a summary, as far as that was recorded."""

    model: str = ""
    prompt_digest: str = ""
    shown: Runs = []
    """What stood before and was shown to it."""
    shown_count: int = 0
    """None where nobody recorded what it was shown."""
    usage: UsageTotals | None = None
    cost: float | None = None
    """None where a price, or what it has to be multiplied with, is not known."""
    currency: str = ""
    prices: str = ""
    """Where the price was looked up."""


class TakingData(BaseModel):
    """A compaction, or the substitutions or the revisions between two calls."""

    name: str
    """``k1``, or the position of the first event."""
    position: int
    kind: Kind
    did: str
    """compacted, revised, or what its substitutions did: cleared, cut, deduplicated."""
    at: str = ""
    """When it happened, UTC."""
    by: str = ""
    """The strategy with its parameters, or who else is named."""
    trigger: str = ""
    """Why, in words, as far as anybody said so."""
    owner: Literal["agent", "log"] = "agent"
    """Whose decision it is: that of the agent that is observed, or one that was taken here."""
    is_inferred: bool = False
    is_opaque: bool = False
    """The provider keeps the summary encrypted."""
    is_erased: bool = False
    """The text of the summary was erased since."""
    fell_back_from: str = ""
    undone_by: int | None = None
    """The position of the undo or the rewind since which it does not count; null: in force."""
    undone: int = 0
    """How many of its events do not count any more."""
    events: int = 1
    before_tokens: int
    """Of a compaction the context before: the agent's own count, else estimated. Of others the
    items that it changed, estimated."""
    before_estimated: bool = True
    before_recorded: int
    """Estimated, of what is recorded here."""
    after_tokens: int
    after_estimated: bool = True
    after_recorded: int
    count: int
    """Items that left, or that stand otherwise since."""
    before: StandingData | None = None
    """Of a compaction: the context before it; the difference is from what the compaction before
    left."""
    after: StandingData | None = None
    """And what it made of it; the difference is from ``before``."""
    not_shown: Runs = []
    """What left although its summarizer was not shown it, where that was recorded."""
    summarizer: SummarizerData | None = None
    changed: list[tuple[int, int]] = []
    """Of others: the rows that stood, and what stands for each."""
