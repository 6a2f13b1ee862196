"""What the page is told of a log that is served, beside the sessions' own data."""

from __future__ import annotations

from pydantic import BaseModel

from cli.report.model import NamedSession


class ServedSession(NamedSession):
    """A session of the log, under a number that stays its own."""

    number: int
    """By it the page asks for the session; counted from 0, in the order in which sessions came."""


class ServedHead(BaseModel):
    """What the page knows before it looks at a session."""

    sessions: list[ServedSession]
    """Those that were named; none where all of the log can be looked at."""
    is_served: bool = True
    log: str
    """The path of the log."""


class ListedSession(ServedSession):
    """A session in the list."""

    agent: str
    updated: str
    """When it last went on, UTC."""
    provenance: str | None
    """Null also where its recorded calls were not compared yet with what the log holds: only who
    may write to the log keeps what comes out."""
    messages: int
    """Of people and of the model."""
    calls: int
    compactions: int
    tokens: int | None
    """Of input, as its provider counted; null where it told none."""


class ListData(BaseModel):
    """A part of the list, the newest first."""

    sessions: list[ListedSession]
    total: int
    """How many there are, of those that were looked for."""
    is_more: bool
    """Others follow."""
    skip: int
    """How many stand before these."""


class Pulse(BaseModel):
    """What the page asks for every second: whether anything is new."""

    sequence: int = 0
    """Of the last event of the log."""
    state: str = ""
    """Of the session that was asked about; when it is another one, the session has moved on."""
    at: str = ""
    """When its last event happened, UTC."""
    fault: str = ""
    """Why the log cannot be read, where it cannot."""


class ServingData(BaseModel):
    """``serve --json``: where it listens, before the first request."""

    url: str
    """With the token that lets in; whoever has it reads the log."""
    log: str
    """The path of the log."""
    sessions: list[str] | None
    """Those that were named; null where all of the log is served."""
