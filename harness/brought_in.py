"""A session that a document begins: its events, made and checked before anything is written."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from eventlog.errors import EventInvalid, InputRefused
from eventlog.events import Event, Origin, OriginRecord
from eventlog.jsonvalue import Json
from eventlog.recorded import Appended, StreamKey
from projections.live import Live

Kind = Literal["state", "messages", "session"]

_LONGEST = 200
"""Characters of a reason that are told: a document may name itself in it."""


class BroughtIn(NamedTuple):
    """What a document becomes."""

    kind: Kind
    session_id: str
    """As the document names it; empty where it does not."""
    events: tuple[Event, ...]
    warnings: tuple[str, ...] = ()
    key: StreamKey | None = None
    """Of the session that it is of, where it is told."""

    def append(self, live: Live, key: StreamKey | str) -> Appended:
        """Begin the session, all of it or nothing.

        Raises WrongExpectedVersion where that session exists, and what ``EventLog.append`` raises.
        """
        return live.append(key, *self.events, expected_version=0)


def json_of(value: Any, what: str) -> Json:
    """A value of a document as JSON that can be stored. Raises InputRefused."""
    try:
        return Json(value)
    except EventInvalid as error:
        raise refused(what, str(error)) from None


def origin_of(number: int) -> Origin:
    """Where a message came from: it is that message of a document, and was not said here."""
    return Origin(records=(OriginRecord(line=number),))


def refused(what: str, why: str) -> InputRefused:
    """The error of a document: what of it, and why, on one line."""
    line = " ".join(f"{what}: {why}".split())
    return InputRefused(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Where the first fault of a document is, and what it is."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return ".".join(str(part) for part in fault["loc"]) or "it", fault["msg"]
