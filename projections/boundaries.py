"""Where a context may be cut.

A position is legal when a cut before it parts no call from its result, no batch, no reasoning from
what it precedes, no thinking tool loop, and leaves no result at the front. The search for a legal
position has no bound: a result may stand any number of messages behind its call.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from projections.items import Item
from projections.pairing import one_answer, pair
from projections.reading import (
    binds_thinking,
    calls_of,
    only_thinks,
    readable,
    results_of,
    role_of,
)


def legal_boundaries(items: Sequence[Item], *, thinking_loops: bool = True) -> tuple[int, ...]:
    """The positions (0 to the number of items) at which a cut breaks nothing.

    0 is always legal. After a pending call nothing is, not even the end: whoever drops such a call
    loses its result. With ``thinking_loops=False`` a loop may be cut between its rounds, whose
    thinking then leaves whole with its message.
    """
    total = len(items)
    # depth[p] counts the spans that a cut before p would part.
    depth = [0] * (total + 2)

    def bind(first: int, last: int) -> None:
        if last > first:
            depth[first + 1] += 1
            depth[last + 1] -= 1

    kept = [at for at, item in enumerate(items) if readable(item)]
    found = pair([items[at] for at in kept])
    ends: dict[int, tuple[int, int]] = {}
    for place, number in enumerate(found.batches):
        if number >= 0:
            first, _ = ends.get(number, (kept[place], 0))
            ends[number] = (first, kept[place])
    for match in found.pairs:
        if match.result_at is not None:
            first, last = ends[match.batch]
            ends[match.batch] = (first, max(last, kept[match.result_at]))
    calling = {match.batch for match in found.pairs}
    for number, (first, last) in ends.items():
        if number in calling:
            bind(first, last)
    for match in found.pending:
        bind(kept[match.call_at], total)
    for before, after in pairwise(kept):
        if only_thinks(items[before]) and one_answer(items[before], items[after]):
            bind(before, after)
    if thinking_loops:
        for first, last in _loops(items, kept):
            bind(first, last)
    legal, open_spans = [], 0
    fronts = {at for at in kept if results_of(items[at])}
    for position in range(total + 1):
        open_spans += depth[position]
        if position == 0 or (open_spans == 0 and position not in fronts):
            legal.append(position)
    return tuple(legal)


def _loops(items: Sequence[Item], kept: Sequence[int]) -> list[tuple[int, int]]:
    """From signed thinking with calls to the last call or result before anything else is said."""
    loops: list[tuple[int, int]] = []
    first: int | None = None
    last = 0
    for at in kept:
        item = items[at]
        if role_of(item) == "tool" or calls_of(item):
            last = at
            if first is None and item.dialect == "anthropic" and binds_thinking(item):
                first = at
        elif first is not None:
            loops.append((first, last))
            first = None
    if first is not None:
        loops.append((first, last))
    return loops


def snap_forward(items: Sequence[Item], index: int, *, thinking_loops: bool = True) -> int:
    """The first legal position at or after the index; the last legal one when there is none."""
    legal = legal_boundaries(items, thinking_loops=thinking_loops)
    place = bisect_left(legal, index)
    return legal[place] if place < len(legal) else legal[-1]


def snap_backward(items: Sequence[Item], index: int, *, thinking_loops: bool = True) -> int:
    """The last legal position at or before the index; 0 for anything below."""
    legal = legal_boundaries(items, thinking_loops=thinking_loops)
    return legal[max(0, bisect_right(legal, index) - 1)]


def units(items: Sequence[Item], *, thinking_loops: bool = True) -> tuple[tuple[Item, ...], ...]:
    """The items in groups that stay or leave together."""
    edges = [*legal_boundaries(items, thinking_loops=thinking_loops)]
    if edges[-1] != len(items):
        edges.append(len(items))
    return tuple(tuple(items[first:last]) for first, last in pairwise(edges))
