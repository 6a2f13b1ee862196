"""Every recorded call of a session, rebuilt from its events and compared with what was recorded.

Compared are the request with its digest, its items with the context as folded, and its bytes with
the digest of those. What was not recorded, or was erased since, cannot be compared; it is counted
apart and never as fine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from projections.verdicts import Verdict

Outcome = Literal["same", "differs", "unchecked"]


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """One call, compared."""

    number: int
    position: int
    outcome: Outcome
    verdict: Verdict
    why: str = ""
    """Why it could not be checked."""
    same_bytes: bool | None = None
    """Whether its bytes are those that were sent; None where they were not recorded or nothing is
    known of them any more."""
