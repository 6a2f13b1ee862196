"""Where a session began: in another one, maybe in a call of a tool there."""

from __future__ import annotations

from typing import NamedTuple

from eventlog.recorded import StreamKey


class Began(NamedTuple):
    """Where a session began."""

    parent: StreamKey | None = None
    """In which other one."""
    tool: str = ""
    """In a call of that tool there, with these arguments."""
    arguments: str = ""


NOWHERE = Began()
