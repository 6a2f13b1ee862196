"""What ``audit --json`` gives: the calls and the findings of one session, or of all."""

from __future__ import annotations

from pydantic import BaseModel

from cli.models_prefix import PrefixTableData
from projections.audit.model import CallRow, Coverage, Literally, RuleName, Severity


class AuditCallData(CallRow):
    """One call of a session."""

    session: str


class FindingData(BaseModel):
    """One thing that is wrong, lost or unknown."""

    session: str
    rule: RuleName
    severity: Severity
    refs: list[str]
    """What it is about: ``c5``, ``k1``, ``12``, ``12@340``; of many the first ones."""
    message: str
    heuristic: bool
    """It was inferred, and may be wrong."""
    next: str
    """What to type behind ``ctxlog`` to go on from here; empty where there is nothing."""
    position: int
    """Of the event that it begins at; 0 where it is about the whole session."""
    count: int
    """How many items, calls or literals it tells of."""
    anchors: list[Literally]
    """The literals that it is about, those used later in front."""


class AuditedData(BaseModel):
    """One session in a few numbers."""

    key: str
    fork_of: str | None
    """What lies before it is its parent's to audit."""
    calls: int
    verdicts: dict[str, int]
    """How many calls have each verdict."""
    failed: int = 0
    """How many brought no answer, as was recorded."""
    findings: dict[Severity, int]
    coverage: Coverage | None
    """What became of everything that came in; None where the session cannot be read."""
    error: str = ""
    """Why it cannot be."""


class AuditData(BaseModel):
    """``audit``"""

    rules: list[RuleName]
    """By which was looked."""
    fail_on: Severity
    counter: str
    """What estimated the tokens."""
    sessions: list[AuditedData]
    calls: list[AuditCallData]
    findings: list[FindingData]
    """The worst first, session by session."""
    prefix: PrefixTableData | None = None
    """With ``--prefix``: what a cache could have had of each call."""
