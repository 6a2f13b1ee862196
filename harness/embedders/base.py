"""What an embedder is: the protocol of ``projections.memory``, and what several of them share."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eventlog.errors import InputRefused
from projections.memory.embedding import Embedder, TextKind, VectorsRefused, embedded

__all__ = ["Embedder", "TextKind", "VectorsRefused", "checked_floor", "embedded", "sendable"]


def sendable(texts: Sequence[str]) -> list[str]:
    """The texts without lone surrogates, which no request and no model can carry, and without NUL,
    at which one written in C stops reading."""
    return [
        text.encode("utf-8", "replace").decode().replace("\0", " ")
        if not text.isascii() or "\0" in text
        else text
        for text in texts
    ]


def checked_floor(floor: float) -> float:
    """A cosine. Raises InputRefused for what is none."""
    is_number = isinstance(floor, int | float) and not isinstance(floor, bool)
    if not is_number or not math.isfinite(floor) or not -1 <= floor <= 1:
        raise InputRefused(f"a floor is a cosine, from -1 to 1, not {str(floor)[:40]}")
    return float(floor)
