"""Old shapes of events, turned into the next shape on reading.

A step is keyed by the type and the schema version that it reads, and is never edited once released.
Storage is not touched: the bytes of an old event stay the bytes that were hashed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: dict[tuple[str, int], Step] = {}
"""(type, schema version read) to the step that makes the next version of the payload."""


def upcast(
    type_name: str,
    version: int,
    payload: dict[str, Any],
    to: int,
    steps: dict[tuple[str, int], Step] = STEPS,
) -> dict[str, Any]:
    """The payload in shape ``to``. A missing step leaves the payload as it is."""
    if version < 1:  # no program wrote that: the row is damaged
        return payload
    while version < to:
        step = steps.get((type_name, version))
        if step is not None:
            payload = step(payload)
        version += 1
    return payload
