"""What a strategy decides, as data: whoever runs it makes events of it, or an overlay.

A strategy calls no model: where it wants a summary it says what the summarizer is to be shown, and
what becomes of its text. What it covers is exactly that, so nothing is ever summarised unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from projections.runs import Origin

SubstitutionKind = Literal["cut", "cleared", "deduplicated"]
Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Substitute:
    """Show another text in place of an item's content; its ids and calls stay."""

    item: Origin
    content: str
    reason: str
    kind: SubstitutionKind = "cleared"


@dataclass(frozen=True, slots=True)
class Said:
    """A message that a compaction puts into the context."""

    role: Role
    text: str
    label: str = "summary"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that is still to be written."""

    prompt: str
    """The name and version of the prompt."""
    max_tokens: int
    frame: Callable[[str], tuple[Said, ...]]
    """From the summarizer's text to the messages that stand in its place."""
    texts_only: bool = False
    """Show the summarizer what users and the model said, without tools and their output."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Items leave the context, and messages or a summary take their place."""

    items: tuple[Origin, ...]
    by: tuple[Said, ...] | Summary = ()
    reason: str = ""
    fallback: str = ""
    """The spec that decides when no summary can be had, or ``drop``: the items leave without one.
    Empty: the originals stay."""
    place: Literal["first", "last"] = "first"
    """Where the messages stand: where the first of the items stood, or the last."""


@dataclass(frozen=True, slots=True)
class Revise:
    """Show another message in place of an item's, such as one with shorter arguments."""

    item: Origin
    message: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class Restore:
    """An item stands again as it was before a substitution."""

    item: Origin


Decision = Substitute | Compact | Revise | Restore
