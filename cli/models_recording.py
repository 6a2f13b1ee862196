"""What ``--json`` gives of ``record`` and ``proxy``."""

from __future__ import annotations

from pydantic import BaseModel


class ListeningData(BaseModel):
    """``proxy``: where it listens, before the first call."""

    url: str
    environment: dict[str, str]
    """What an agent has to have in its environment."""
    upstreams: dict[str, str]
    """Where the calls of each API go."""
    log: str
    """The path of the log."""


class RecordedData(BaseModel):
    """``record`` and ``proxy``: what was recorded, on stderr."""

    calls: int
    sessions: list[str]
    """Where they are; none where the log was lost."""
    failed: int
    """Calls that brought no answer."""
    missed: int
    """Calls that are not in the log."""
    is_lost: bool
    """The file of the log was moved, deleted or replaced meanwhile."""
    log: str
    """The path of the log."""
    exit: int | None
    """The exit code of the command; null for the proxy, which runs none."""
