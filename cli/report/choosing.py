"""Of which calls the request is made, where that of each would take too long.

A request that was not recorded is folded, and takes a look at each item of its context. In a
session that never compacts those looks are as many as the square of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent, StreamKey
from projections.judging import Folds
from projections.live import Live

LOOKS = 400_000
"""Items looked at."""


def chosen(live: Live, stream: StreamKey, calls: Mapping[int, RecordedEvent]) -> set[int]:
    """Of folded calls, by their numbers, those whose request is made.

    All of them where that takes no more than ``LOOKS``. Else the first and the last, those on both
    sides of where a context stopped going on from the one before it, and every n-th of the rest.
    """
    folds, sizes, broken = Folds(live, stream), dict[int, int](), list[tuple[int, ...]]()
    before = size = 0
    for number, call in calls.items():
        same = folds.move(call.position - 1)
        if same < size:
            broken.append((before, number))
        standing = folds.standing
        size = 0 if isinstance(standing, CriticalUnknown) else len(standing)
        sizes[number], before = size, number
    if sum(sizes.values()) <= LOOKS:
        return set(calls)
    found = {next(iter(calls)), number}
    _thinned(found, broken, sizes, LOOKS // 2)
    _thinned(found, [(number,) for number in calls], sizes, LOOKS)
    return found


def _thinned(
    found: set[int], groups: Sequence[tuple[int, ...]], sizes: Mapping[int, int], most: int
) -> None:
    """Add every n-th of some groups of calls, so that about so many items are looked at."""
    room = most - sum(sizes[number] for number in found)
    wanted = sum(sizes[number] for group in groups for number in group)
    if room > 0 and wanted:
        found.update(number for group in groups[:: -(-wanted // room)] for number in group)
