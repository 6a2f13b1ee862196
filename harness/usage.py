"""How many tokens a bill names: one rule for whoever reads usage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eventlog.events import Usage

MOST_TOKENS = 10**12
"""Over this a count of tokens is none: sums over a whole log have to stay whole numbers, too."""


def tokens_of(value: object) -> int | None:
    """A count of tokens; None for what is none: below 0, over what can be, or no number at all."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS else None


def tokens_in(given: object, name: str) -> int | None:
    """A count in an object of a bill; None where there is no such object."""
    return tokens_of(given.get(name)) if isinstance(given, Mapping) else None


def uncached(prompt: int | None, *parts: int | None) -> int | None:
    """What is left of a prompt without the parts of it that are known."""
    return None if prompt is None else max(0, prompt - sum(part or 0 for part in parts))


def unreadable_counts(usage: Usage) -> list[str]:
    """The names of what a provider's own object gives as counts of tokens and cannot be any."""
    if usage.provider is None:
        return []
    found = _counts(usage.provider.peek)
    return sorted({name for name, value in found if value is not None and tokens_of(value) is None})


def _counts(given: object) -> Iterator[tuple[str, Any]]:
    """Each field whose name ends as that of a count does, and of the objects in it."""
    stack = [given]
    while stack:
        value = stack.pop()
        if not isinstance(value, Mapping):
            continue
        for name, each in value.items():
            if isinstance(each, Mapping):
                stack.append(each)
            elif name.endswith("_tokens"):
                yield name, each
