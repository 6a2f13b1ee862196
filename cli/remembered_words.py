"""An event of a person's memories as a person reads it. Pure; nothing has been made safe yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from projections.searchable import lines

REMEMBERED = frozenset(
    {"remembered", "memory_revised", "memory_forgotten", "memory_restored", "profile_updated"}
)
"""Events of what is remembered of a person."""

_MOST_SOURCES = 10


def memory_facts(type: str, position: int, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is said of a memory beside its text: label and value."""
    memory = data.get("memory", position if type == "remembered" else 0)
    if memory:
        yield "memory", f"m{memory}" + (f"@{position}" if type == "memory_revised" else "")
    for name in ("kind", "subject", "area", "section", "rule"):
        if data.get(name):
            yield name, str(data[name]).replace("_", " ")
    if data.get("importance") is not None:
        scored = data.get("scored")
        yield "importance", f"{data['importance']}" + (f" ({', '.join(scored)})" if scored else "")
    if "is_explicit" in data and data["is_explicit"] is not None:
        yield "known by", "a person said it" if data["is_explicit"] else "it was inferred"
    if data.get("supersedes"):
        yield "in place", "of " + ", ".join(f"m{each}" for each in data["supersedes"])
    if data.get("how") == "added":
        yield "how", "added to what stands"
    sources = list(_places(data.get("sources") or ()))
    if sources:
        more = len(sources) - _MOST_SOURCES
        told = ", ".join(sources[:_MOST_SOURCES])
        yield "came from", told + (f" and {more:,} more" if more > 0 else "")
    if data.get("reason"):
        yield "reason", str(data["reason"])
    if data.get("by"):
        yield "by", str(data["by"])


def memory_text(data: Mapping[str, Any]) -> Iterator[str]:
    """Its text, and its parts as lines."""
    if data.get("text"):
        yield str(data["text"])
    for name in ("values", "entities", "relations", "experience", "summary"):
        if data.get(name):
            yield from lines({name: data[name]})


def _places(sources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for source in sources:
        for position in source.get("positions") or (0,):
            yield f"{source.get('stream', '')}{f'@{position}' if position else ''}"
