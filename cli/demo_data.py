"""What ``demo --json`` gives."""

from __future__ import annotations

from pydantic import BaseModel

from cli.models_audit import FindingData
from cli.models_reasons import RecoveredSentence, WhyData
from cli.models_whatif import LostAnchorData


class WindowData(BaseModel):
    """How big a context is."""

    ref: str
    items: int
    tokens: int
    """Estimated."""
    first: str
    """The beginning of its first item, on one line."""


class DemoData(BaseModel):
    """``demo``"""

    database: str
    key: str
    new: int
    before: WindowData
    after: WindowData
    left: str
    right: str
    """Two strategies."""
    strategies_lost: list[LostAnchorData]
    """What of the literals that the session was made for they would have lost."""
    findings: list[FindingData]
    """What an audit finds of these literals."""
    why: WhyData
    """Why one of them could not be seen when it was needed."""
    report: str
    """The page that shows all of it; empty where it could not be written."""
    recovered: list[RecoveredSentence]
    """What the compaction lost and somebody needed, in the sentences it stood in."""
