"""What ``diff --prefix --json`` gives of calls: what a provider's cache could have had of each.

Tokens are estimates of the counter over what was recorded; ``billed`` and ``held`` are what the
provider said.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class BilledData(BaseModel):
    """The input tokens of a call as the provider billed them."""

    input: int | None
    """Neither read from a cache nor written to one; where these are not known, all of it."""
    cached: int | None
    """Read from its cache; null where the provider does not tell."""
    cache_write: int | None


class DecisionData(BaseModel):
    """One event that changed what stood in the context."""

    position: int
    type: str
    name: str
    """``k3`` of a compaction, else its position."""


class PrefixCallData(BaseModel):
    """One call, held against the one whose request a cache could have held."""

    call: int
    position: int
    kind: Literal["as_sent", "as_folded"]
    """What the row rests on: a recorded request, or the context as folded."""
    model: str
    against: int | None
    """The call before it of the same model and tools, else simply the one before; null for the
    first."""
    seconds: float | None
    """Since that call."""
    items: int
    tokens: int
    reusable: int
    """From the beginning on, the same in both requests."""
    share: float | None
    """Of the request."""
    rewritten: int
    """Behind the break, and in the request before too: nothing new, and yet sent as new."""
    lost: int
    """Of the request before, all behind the break: it lies in a cache and cannot be read."""
    break_at: str | None
    """The rendition that does not stand at its place any more."""
    now_at: str | None
    """The one that stands there now."""
    cause: str | None
    """ttl, model, tools, compaction, substitution, revision, rewind, undo, repair, insertion,
    field_order or unexplained; null where nothing broke."""
    by: list[DecisionData]
    billed: BilledData | None
    held: int | None
    """What was billed for the whole prompt of ``against``."""
    missed: int | None
    """Where nothing broke: of ``held`` what was not read from a cache."""
    contradicts: bool
    """So much of it that something broke which the log does not know of."""


class PrefixCauseData(BaseModel):
    """All breaks with one cause."""

    cause: str
    calls: int
    rewritten: int
    lost: int


class PrefixSumsData(BaseModel):
    """What the calls of a session sum up to."""

    key: str
    ttl: float | None
    """Seconds that the cache was taken to live; null: for ever."""
    counter: str
    """Whose tokens the estimates are."""
    calls: int
    broken: int
    tokens: int
    reusable: int
    rewritten: int
    lost: int
    by_cause: list[PrefixCauseData]
    billed_calls: int
    """Calls with a bill."""
    billed: BilledData | None
    """Of these, in all; null where there are none. Each figure sums the calls that tell it."""
    cached_calls: int
    """Calls whose bill tells what was read from a cache,"""
    cached_of: int
    """and what was billed for their whole prompts."""
    held: int
    """Of calls that nothing broke, and whose bill and that of the call before are known: what a
    cache could hold."""
    read: int
    """Of that what was read."""
    contradicted: list[int]
    """Calls whose bill says that something broke which the log does not know of."""


class PrefixTableData(PrefixSumsData):
    """``diff S --prefix``: one row a call, and what they sum up to."""

    rows: list[PrefixCallData]
