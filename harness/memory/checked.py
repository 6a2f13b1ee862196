"""What is given of a memory, checked before it is one."""

from __future__ import annotations

import math
from typing import get_args

from eventlog.errors import InputRefused
from eventlog.events import MemoryKind

KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)

LONGEST = 20_000
"""Characters of a memory: it is something to know, no document."""


def checked_text(text: str) -> str:
    """A text that can be remembered. Raises InputRefused."""
    if not isinstance(text, str) or not text.strip():
        raise InputRefused("a memory says something")
    if len(text) > LONGEST:
        raise InputRefused(
            f"a memory has at most {LONGEST:,} characters, not {len(text):,}: it is no document"
        )
    return text


def checked_importance(importance: float) -> float:
    """An importance. Raises InputRefused."""
    is_number = isinstance(importance, int | float) and not isinstance(importance, bool)
    if not is_number or not math.isfinite(importance) or not 0 <= importance <= 1:
        raise InputRefused(f"an importance lies between 0 and 1, not {str(importance)[:40]}")
    return float(importance)


def checked_kind(kind: MemoryKind) -> MemoryKind:
    """A kind of memory. Raises InputRefused."""
    if kind not in KINDS:
        raise InputRefused(f"{str(kind)[:40]!r} is no kind of memory: {', '.join(KINDS)}")
    return kind
