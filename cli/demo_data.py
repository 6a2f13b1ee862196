"""What ``demo --json`` gives."""

from __future__ import annotations

from pydantic import BaseModel


class LostData(BaseModel):
    """A literal that left the context with a compaction."""

    kind: str
    text: str
    item: str
    """Where it stood."""
    again: str | None
    """The item in which it came up again."""


class WindowData(BaseModel):
    """How big a context is."""

    ref: str
    items: int
    tokens: int
    """Estimated."""
    first: str
    """The beginning of its first item, on one line."""


class DemoData(BaseModel):
    """``demo``"""

    database: str
    key: str
    new: int
    before: WindowData
    after: WindowData
    lost: list[LostData]
