"""Why a compaction was made, as far as anybody said so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SEEN = "seen in a request"
"""Of what nobody reported: two requests differ by it."""


def trigger_of(compaction: Mapping[str, Any]) -> str:
    """What is told of a compaction's cause; empty where nothing is."""
    told = str(compaction.get("trigger") or "")
    return told or (SEEN if compaction.get("inferred") else "")
