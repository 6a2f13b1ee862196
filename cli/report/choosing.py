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

LOOKS = 300_000
"""Items looked at."""


def chosen(live: Live, stream: StreamKey, calls: Mapping[int, RecordedEvent]) -> set[int]:
    """Of folded calls, by their numbers, those whose request is made.

    All of them where that takes no more than ``LOOKS``. Else the first and the last, those on both
    sides of where a context stopped going on from the one before it, and every n-th of the rest.
    """
    folds, sizes, broken = Folds(live, stream), dict[int, int](), list[int]()
    before = size = 0
    for number, call in calls.items():
        same = folds.move(call.position - 1)
        if same < size:
            broken += (before, number)
        standing = folds.standing
        size = 0 if isinstance(standing, CriticalUnknown) else len(standing)
        sizes[number], before = size, number
    if sum(sizes.values()) <= LOOKS:
        return set(calls)
    numbers = list(calls)
    found = {numbers[0], numbers[-1]}
    _thinned(found, list(dict.fromkeys(broken)), sizes, LOOKS // 2)
    _thinned(found, numbers, sizes, LOOKS)
    return found


def _thinned(found: set[int], numbers: Sequence[int], sizes: Mapping[int, int], most: int) -> None:
    """Add every n-th of the calls, so that about so many items are looked at."""
    room = most - sum(sizes[number] for number in found)
    wanted = sum(sizes[number] for number in numbers if number not in found)
    if room > 0 and wanted:
        found.update(numbers[:: -(-wanted // room)])
