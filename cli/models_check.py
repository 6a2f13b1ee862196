"""What ``--json`` gives of ``replay --check``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from cli.models import ProblemData
from projections.session_state import Provenance


class CheckedData(BaseModel):
    """One call, rebuilt and compared with what was recorded of it."""

    ref: str
    position: int
    outcome: Literal["same", "differs", "unchecked"]
    verdict: Provenance | None
    """Null where no request was recorded."""
    same_bytes: bool | None
    """Null where that cannot be known."""
    detail: str
    """What differs, or why it could not be checked."""


class ReplayCheckData(BaseModel):
    """``replay --check``: every recorded call."""

    key: str
    calls: int
    same: int
    same_bytes: int
    """Of those that are the same: how many are so to the byte."""
    differ: int
    unchecked: dict[str, int]
    """How many could not be checked, by the reason."""
    checked: list[CheckedData]
    problems: list[ProblemData] = []
    """Where a request is broken: the events of the session whose stored bytes do not hold."""
