"""Parts of a text as ``(start, end)``: what several of them cover together, and how often. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same places as the fewest spans, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


def without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What of merged spans no other merged span covers."""
    found: list[Span] = []
    at = 0
    for start, end in spans:
        while at < len(others) and others[at][1] <= start:
            at += 1
        here = at
        while here < len(others) and others[here][0] < end:
            if start < others[here][0]:
                found.append((start, others[here][0]))
            start = max(start, others[here][1])
            here += 1
        if start < end:
            found.append((start, end))
    return found


def often(covers: Iterable[Sequence[Span]], more_than: int) -> list[Span]:
    """What more than so many covers have in common; a cover is merged spans."""
    steps: dict[int, int] = {}
    for spans in covers:
        for start, end in spans:
            steps[start] = steps.get(start, 0) + 1
            steps[end] = steps.get(end, 0) - 1
    found: list[Span] = []
    depth = begun = 0
    for place in sorted(steps):
        before, depth = depth, depth + steps[place]
        if before <= more_than < depth:
            begun = place
        elif depth <= more_than < before:
            found.append((begun, place))
    return merged(found)


def size(spans: Iterable[Span]) -> int:
    """How much merged spans cover."""
    return sum(end - start for start, end in spans)
