"""What ``search --json`` gives. Fields are only ever added."""

from __future__ import annotations

from pydantic import BaseModel

from projections.search import State
from projections.searchable import Area


class HitData(BaseModel):
    """An item that holds what was looked for, or an event that is none."""

    key: str
    ref: str
    """The item in the rendition in which it was found, ``12``, ``57.0`` or ``12@340``; or the
    position of the event. ``KEY@REF`` can be shown."""
    item: str | None
    """None for an event that is no item: tools, a title, a failed call."""
    position: int
    state: State
    by: str | None = None
    """The decision with which the text left the context: ``k1``, or its position."""
    area: Area
    """What the text is."""
    role: str
    who: str
    """A role, a kind of injected text, ``summary``; for input and output the tool."""
    tool: str
    call: int | None = None
    """Of an answer: the n of ``c<n>``."""
    happened_at: str
    """When it happened, by the source's clock where that can be read; UTC."""
    occurred_at: str | None = None
    snippet: str
    """A little of the text, on one line, not made safe."""
    marks: list[tuple[int, int]]
    """Where in the snippet the matches stand: the first character, and the one behind the last."""


class SearchData(BaseModel):
    """``search``"""

    query: str
    session: str | None = None
    """The session that was asked for, and the position up to which it was searched."""
    position: int | None = None
    hits: list[HitData]
    count: int
    """How many hits there are; where ``cut``, how many are here."""
    cut: bool
    """There are more than were asked for."""
    unindexed: int
    """Events of the log that were read without the index."""
