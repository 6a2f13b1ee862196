"""What a context leaves open: tool calls without a result, and a model that has the next word."""

from __future__ import annotations

from collections.abc import Sequence

from eventlog.messages import SYSTEM_ROLES, Call
from projections.items import Item
from projections.pairing import known_ids
from projections.reading import calls_of, results_of


def open_calls(items: Sequence[Item]) -> list[Call]:
    """The calls that wait for their results, behind the last human message."""
    found: dict[str, Call] = {}
    for item in items:
        if item.is_human:
            found.clear()
        for part, known in zip(calls_of(item), known_ids(item), strict=True):
            found[known] = Call(part.id, part.name, part.text)
        for part in results_of(item):
            nameless = (known for known, call in found.items() if not (part.id or call.id))
            found.pop(next(nameless, part.id), None)
    return list(found.values())


def is_waiting(items: Sequence[Item]) -> bool:
    """Whether the model has the next word: a reply did not come to its end."""
    said = [item for item in items if item.role not in SYSTEM_ROLES]
    if not said:
        return False
    if said[-1].source == "model":
        return bool(open_calls(items))
    return said[-1].kind != "summary"
