"""The longest common subsequence of two sequences of keys.

Leftmost on ties, each place used once. What begins and ends alike is taken off first, so a request
that grew at its end costs nothing here. Where both middles are very long, the exact table would not
fit; then keys that are unique on both sides anchor the rest, which is how line-based diffs stay
linear.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence

Pair = tuple[int, int]

EXACT_CELLS = 1_000_000
"""Above this product of lengths, unique keys anchor the alignment."""


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Pairs (index in old, index in new) of equal keys, both increasing."""
    start = 0
    while start < len(old) and start < len(new) and old[start] == new[start]:
        start += 1
    end = 0
    while end < len(old) - start and end < len(new) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    head = [(i, i) for i in range(start)]
    tail = [(len(old) - n, len(new) - n) for n in range(end, 0, -1)]
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    return head + [(i + start, j + start) for i, j in middle] + tail


def _middle(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    if not old or not new:
        return []
    if len(old) * len(new) <= EXACT_CELLS:
        return _exact(old, new)
    anchors = _anchors(old, new)
    if not anchors:
        return []
    found: list[Pair] = []
    last_old = last_new = 0
    for i, j in [*anchors, (len(old), len(new))]:
        inner = align(old[last_old:i], new[last_new:j])
        found += [(a + last_old, b + last_new) for a, b in inner]
        if i < len(old):
            found.append((i, j))
        last_old, last_new = i + 1, j + 1
    return found


def _exact(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """The longest, by the whole table. What new has nothing of, and what is then alike at the
    front, the way through the table passes without a choice: that is never put into it."""
    wanted = set(new)
    places = [i for i, key in enumerate(old) if key in wanted]
    start = 0
    while start < len(places) and start < len(new) and old[places[start]] == new[start]:
        start += 1
    head = [(places[n], n) for n in range(start)]
    places = places[start:]
    pairs = _by_table([old[i] for i in places], new[start:])
    return head + [(places[i], j + start) for i, j in pairs]


def _by_table(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    if not old or not new:
        return []
    width = len(new)
    table = [[0] * (width + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        row, below, key = table[i], table[i + 1], old[i]
        for j in range(width - 1, -1, -1):
            if key == new[j]:
                row[j] = below[j + 1] + 1
            else:
                row[j] = below[j] if below[j] >= row[j + 1] else row[j + 1]
    found, i, j = [], 0, 0
    while i < len(old) and j < width:
        if old[i] == new[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """The longest increasing sequence of keys that stand once on each side."""
    once_old, once_new = Counter(old), Counter(new)
    places = {key: j for j, key in enumerate(new) if once_new[key] == 1}
    pairs = [(i, places[key]) for i, key in enumerate(old) if once_old[key] == 1 and key in places]
    ends: list[int] = []
    best: list[int] = []
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        place = bisect_left(ends, j)
        before.append(best[place - 1] if place else -1)
        if place == len(ends):
            ends.append(j)
            best.append(at)
        else:
            ends[place], best[place] = j, at
    chain: list[Pair] = []
    at = best[-1] if best else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]
