"""What a session is made of, and whether it holds, as data of the page."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from cli.models import ProblemData


class RelatedData(BaseModel):
    """A stream that goes on from this one, or from which this one goes on."""

    key: str
    name: str
    at: int
    """The position of the last event that both share."""


class RedactionData(BaseModel):
    """Texts that were erased from the log for good."""

    position: int
    at: str
    item: str = ""
    """Where one item was named."""
    events: list[int] = []
    """Of this session: the positions of what was erased."""
    elsewhere: int = 0
    """Events of other streams that were erased with it."""
    reason: str = ""
    by: str = ""


class NoteData(BaseModel):
    """What the fold has to say of an event that it could not follow."""

    position: int
    message: str


class UnknownRecordData(BaseModel):
    """A record of the imported file that is no message."""

    position: int
    kind: Literal["unknown", "unreadable", "known"]
    file: str
    line: int


class GapData(BaseModel):
    """Calls that were made while nobody could record them."""

    position: int
    calls_missed: int
    reason: str


class VerifiedData(BaseModel):
    """What ``verify`` said of this stream when the page was made."""

    events: int
    """With those of its parents."""
    redactions: int
    problems: list[ProblemData] = []


class IntegrityData(BaseModel):
    """Where a session came from, what it holds, and how anybody can check it."""

    is_observed: bool = False
    """Another program writes it; only that may change its context."""
    events: int
    """Its own."""
    types: dict[str, int]
    """Its own events by type, the most first."""
    first_recorded: str
    """When its first own event was recorded here, UTC."""
    last_recorded: str
    format: str = ""
    """Of an import."""
    importer_version: int = 0
    foreign_id: str = ""
    files: list[str] = []
    """The names of the files that it came from, as they were recorded."""
    parent: RelatedData | None = None
    forks: list[RelatedData] = []
    erased: int = 0
    """Events without their text, inherited ones too."""
    redactions: list[RedactionData] = []
    notes: list[NoteData] = []
    unrecognized: list[UnknownRecordData] = []
    """The first of them."""
    unrecognized_count: int = 0
    gaps: list[GapData] = []
    verified: VerifiedData
