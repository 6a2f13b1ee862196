"""How sure a number over several sessions is: bootstrap intervals, by session.

Sessions are drawn with replacement, a thousand times, always the same draws: from a generator of a
few lines (splitmix64), so the same sessions give the same interval on every machine. All strategies
are held against the same draws, as they are against the same sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from projections.metrics.model import Result, ratio

DRAWS = 1_000
LEVEL = 0.95
SEED = 20_260_801


class Interval(Result):
    """A quotient of sums over sessions, with its denominator."""

    value: float | None
    low: float | None = None
    """None with fewer than two sessions that have something to count."""
    high: float | None = None
    of: float
    """The denominator, over all sessions."""
    sessions: int
    """Those that have something to count."""

    def overlaps(self, other: Interval) -> bool:
        """Whether the two cannot be told apart; also when one of them is not known."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return True
        return self.low <= other.high and other.low <= self.high


class Draws:
    """Which sessions each draw holds, and how often."""

    def __init__(self, sessions: int, draws: int = DRAWS, seed: int = SEED) -> None:
        self.sessions = sessions
        self._chosen: list[itemgetter[tuple[float, ...]]] = []
        state = seed
        for _ in range(draws if sessions > 1 else 0):
            places = []
            for _ in range(sessions):
                state, number = _splitmix(state)
                places.append(number * sessions >> 64)
            self._chosen.append(itemgetter(*sorted(places)))

    def interval(self, pairs: Sequence[tuple[float, float]]) -> Interval:
        """Of one (numerator, denominator) for each session."""
        part, whole = sum(p for p, _ in pairs), sum(w for _, w in pairs)
        counting = sum(w > 0 for _, w in pairs)
        value = ratio(part, whole)
        if counting < 2:
            return Interval(value=value, of=whole, sessions=counting)
        parts, wholes = [p for p, _ in pairs], [w for _, w in pairs]
        found: list[float] = []
        for chosen in self._chosen:
            below = sum(chosen(wholes))
            if below:
                found.append(sum(chosen(parts)) / below)
        if not found:
            return Interval(value=value, of=whole, sessions=counting)
        found.sort()
        tail = (1 - LEVEL) / 2
        last = len(found) - 1
        return Interval(
            value=value,
            low=round(found[round(tail * last)], 6),
            high=round(found[round((1 - tail) * last)], 6),
            of=whole,
            sessions=counting,
        )


_MASK = (1 << 64) - 1


def _splitmix(state: int) -> tuple[int, int]:
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, mixed ^ (mixed >> 31)
