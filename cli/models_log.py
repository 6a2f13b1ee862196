"""What ``log --json`` gives."""

from __future__ import annotations

from pydantic import BaseModel

from cli.models import State


class TimelineRow(BaseModel):
    """An item, or another event, in the order of the log."""

    ref: str
    """``12``, ``57.0``, ``c5``, ``k1``."""
    position: int
    type: str
    state: State
    """Where it stands at the point asked: in the context, there as a placeholder, folded into a
    summary, gone, or never part of a context."""
    who: str
    """A role, a tool's name, or the kind of injected text."""
    preview: str
    """The beginning of the text, on one line."""
    tokens: int | None = None
    """Estimated, of the original."""
    shown_tokens: int | None = None
    """Estimated, of what stands in its place."""
    rendition: str | None = None
    left_at: int | None = None
    """The position of the decision with which it left."""
    call: int | None = None
    """Of an answer: the n of ``c<n>``."""
    happened_at: str = ""
    """By the source's clock where that can be read, else when it was recorded; UTC."""
    occurred_at: str | None = None
    """The source's clock, as it wrote it."""
    pinned: bool = False
    erased: bool = False
    brought: int | None = None
    """Of a compaction: how many messages it put in; with none, what left was dropped."""
    reordered: bool = False
    """Of a compaction: nothing came in or left, and what stands does so in another order."""
    summary_erased: bool = False
    """Of a compaction: the text of what it put in was erased."""
    started: list[str] = []
    """The sub-agents that its calls of tools started, as they are typed."""
    before_tokens: int | None = None
    """Of the context before a compaction: the agent's own count, else estimated."""
    before_estimated: bool = False
    before_recorded: int | None = None
    """Estimated, of what of that context is recorded here."""
    after_tokens: int | None = None
    after_estimated: bool = False
    after_recorded: int | None = None
    items: int | None = None
    """Of a compaction: how many items left; of a pass: how many were replaced; of a call: how many
    it was given (with ``tokens`` estimated for them)."""
    billed: int | None = None
    """Of a call: the provider's own count of its input."""
    outcome: str | None = None
    """Of a call: answered, failed or unknown, with the reason."""


class FollowedRow(TimelineRow):
    """``log --follow``: a row as it is appended, one JSON text a line."""

    key: str
    """Of its session."""


class TimelineData(BaseModel):
    """``log``"""

    key: str
    at: int
    """The position at which the states hold."""
    version: int
    first: int = 1
    last: int | None = None
    """The positions whose rows were asked for; none: to the end."""
    fork_of: str | None = None
    items: int
    """Standing in the context at that point, whichever rows are shown."""
    tokens: int
    """Estimated, of that context."""
    counter: str
    rows: list[TimelineRow]
    more: bool = False
    """Earlier rows were left out, for the number that was asked for."""
