"""What ``--json`` gives of the commands that keep a log well: ``backup``, ``doctor``, ``sql``."""

from __future__ import annotations

from pydantic import BaseModel


class BackupData(BaseModel):
    """``backup``: a verified copy."""

    file: str
    head: str
    """Of the copy, and of the log when it was copied."""
    events: int
    sessions: int
    bytes: int
    without_derived: bool
    """Derived tables were left out, since erased text may have stood in them."""
