"""Memories in a message, as ``--json`` gives them."""

from __future__ import annotations

from pydantic import BaseModel


class ShownData(BaseModel):
    """Memories in one message."""

    item: str
    """The rendition that shows them."""
    recalled_at: int
    """The position of the event that says so."""
    of: str
    """The full key of the stream in which they stand."""
    memories: list[str]
    """``m12``, or ``m12@40`` as event 40 there had revised it."""
    profile: int
    """The last position there that the profile was made of; 0: none is shown."""
    is_elsewhere: bool = False
    """They are memories of another log: what has their names in this one are others."""
    left_out: list[str] = []
    """Related ones for which there was no room."""
