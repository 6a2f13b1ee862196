"""What filters ask of each memory, in columns of numbers: a hundred thousand are asked at once.

A row is a memory, in the order in which they came to be known here. None is ever taken out: one
that does not stand is not allowed anywhere.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, get_args

from eventlog.errors import InputRefused
from eventlog.events import MemoryKind
from projections.memory import arrays
from projections.memory.lifecycle import DAY, LifePolicy, Status, stage

KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
STATUSES: tuple[Status, ...] = get_args(Status)

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which memories are asked for."""

    top: int = 5
    kinds: frozenset[MemoryKind] = frozenset()
    """Empty: of every kind."""
    since: int | None = None
    """Remembered at that time or later, in microseconds since 1970."""
    until: int | None = None
    """Remembered before that time."""
    session: str = ""
    """The full key of a session that they came from; empty: of any."""
    statuses: frozenset[Status] = frozenset({"active", "stale"})
    exclude: frozenset[int] = frozenset()
    """Memories that are known already."""

    def __post_init__(self) -> None:
        """Raises InputRefused."""
        if (
            isinstance(self.top, bool)
            or not isinstance(self.top, int)
            or not 1 <= self.top <= _MOST
        ):
            raise InputRefused(f"between 1 and {_MOST:,} memories can be asked for")
        if not all(isinstance(time or 0, int) for time in (self.since, self.until)):
            raise InputRefused("a time is a whole number of microseconds since 1970")
        if not all(isinstance(each, Set) for each in (self.kinds, self.statuses, self.exclude)):
            raise InputRefused("kinds, statuses and what is excluded are sets")
        if not isinstance(self.session, str):
            raise InputRefused("a session is asked for by its key")
        for given, known, what in (
            (self.kinds, KINDS, "kind"),
            (self.statuses, STATUSES, "status"),
        ):
            if unknown := sorted(str(each)[:40] for each in set(given) - set(known)):
                names = ", ".join(known)
                raise InputRefused(f"{unknown[0]!r} is no {what} of a memory: {names}")


class Entry(NamedTuple):
    """A memory, as the columns take it in."""

    id: int
    kind: str
    rendition: str
    stands: int
    weight: float
    remembered_at: int
    refreshed_at: int
    length: int
    """Words in the index; 0 for one that is not there."""


class Columns:
    """The memories of one person that are, or were, to be found."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        """The row of each memory."""
        self.ids = array("q")
        self.lengths = array("i")
        self.indexed = 0
        """How many of them have words in the index, and how many words those have together."""
        self.total = 0
        self.renditions: list[str] = []
        self.weights = array("d")
        self.remembered = array("q")
        self._kinds = bytearray()
        self._stands = bytearray()
        self._refreshed = array("q")

    def __len__(self) -> int:
        return len(self.ids)

    def stands(self, row: int) -> bool:
        """Whether it can be recalled, as far as its age allows."""
        return bool(self._stands[row])

    def has_words_of(self, entry: Entry) -> bool:
        """Whether a memory that is here is one of the same words as then."""
        row = self.rows[entry.id]
        return (
            self.renditions[row] == entry.rendition
            and self.lengths[row] == entry.length
            and self._stands[row] == entry.stands
        )

    def put(self, entry: Entry) -> int:
        """Take a memory in as it is now; its row."""
        row = self.rows.get(entry.id)
        if row is None:
            row = self.rows[entry.id] = len(self.ids)
            self.ids.append(entry.id)
            self.lengths.append(0)
            self.renditions.append("")
            self._kinds.append(0)
            self._stands.append(0)
            self.weights.append(0.0)
            self.remembered.append(0)
            self._refreshed.append(0)
        self.indexed += bool(entry.length) - bool(self.lengths[row])
        self.total += entry.length - self.lengths[row]
        self.lengths[row] = entry.length
        self.renditions[row] = entry.rendition
        self._kinds[row] = KINDS.index(entry.kind)
        self._stands[row] = entry.stands
        self.weights[row] = entry.weight
        self.remembered[row] = entry.remembered_at
        self._refreshed[row] = entry.refreshed_at
        return row

    def order(self, row: int) -> tuple[float, int, int]:
        """Which of two equally good ones comes first: of more weight, newer, of the higher id."""
        return -self.weights[row], -self.remembered[row], -self.ids[row]

    def allowed(
        self, wanted: Wanted, now: int, policy: LifePolicy, only: Iterable[int] | None = None
    ) -> bytearray:
        """A byte a row, other than zero where it is asked for. ``only``: some ids among them."""
        np = arrays.loaded() if self.ids else None
        if np is not None:
            found = self._shares_numpy(np, wanted, now, policy)
        else:
            found = self._shares_plain(wanted, now, policy)
        if only is not None:
            kept = bytearray(len(self))
            for id in only:
                if id in self.rows:
                    kept[self.rows[id]] = found[self.rows[id]]
            found = kept
        for id in wanted.exclude:
            if id in self.rows:
                found[self.rows[id]] = 0
        return found

    def _shares_plain(self, wanted: Wanted, now: int, policy: LifePolicy) -> bytearray:
        found = bytearray(self._stands)
        lives = [policy.days(kind) * DAY for kind in KINDS]
        kinds = [not wanted.kinds or kind in wanted.kinds for kind in KINDS]
        every = len(wanted.statuses) == len(STATUSES)
        for row, kind in enumerate(self._kinds):
            if not found[row]:
                continue
            at = self.remembered[row]
            if not kinds[kind] or not (
                (wanted.since is None or at >= wanted.since)
                and (wanted.until is None or at < wanted.until)
            ):
                found[row] = 0
            elif not every:
                share = max(0, now - self._refreshed[row]) / lives[kind]
                found[row] = stage(share, policy) in wanted.statuses
        return found

    def _shares_numpy(self, np: Any, wanted: Wanted, now: int, policy: LifePolicy) -> bytearray:
        kinds = np.frombuffer(self._kinds, dtype=np.uint8)
        found = np.frombuffer(self._stands, dtype=np.uint8) != 0
        if wanted.kinds:
            found &= np.array([kind in wanted.kinds for kind in KINDS])[kinds]
        remembered = np.frombuffer(self.remembered, dtype=np.int64)
        if wanted.since is not None:
            found &= remembered >= _bounded(wanted.since)
        if wanted.until is not None:
            found &= remembered < _bounded(wanted.until)
        if len(wanted.statuses) < len(STATUSES):
            age = _bounded(now) - np.frombuffer(self._refreshed, dtype=np.int64)
            lives = np.array([policy.days(kind) * DAY for kind in KINDS], dtype=np.float64)
            share = np.maximum(age, 0) / lives[kinds]
            # A status is asked for or not, from one limit to the next: as ``status`` asks them.
            asked = [status in wanted.statuses for status in STATUSES]
            limits = (policy.active, policy.stale, policy.archived, math.inf)
            live: Any = asked[3]
            for at in (2, 1, 0):
                if asked[at] != asked[at + 1] or limits[at] > limits[at + 1]:
                    live = np.where(share < limits[at], asked[at], live)
            found &= live
        return bytearray(found)


def ranked(
    found: list[tuple[float, int]], most: int, order: Callable[[int], tuple[float, ...]]
) -> list[tuple[float, int]]:
    """Values with their rows, the highest first, up to so many; ``order`` decides between equals,
    and is asked of those alone."""
    if len(found) > most:
        least = nlargest(most, [value for value, _ in found])[-1]
        found = [pair for pair in found if pair[0] >= least]
    found.sort(key=itemgetter(0), reverse=True)
    if any(a[0] == b[0] for a, b in pairwise(found)):
        found.sort(key=lambda pair: (-pair[0], order(pair[1])))
    return found[:most]


def _bounded(time: int) -> int:
    """So that no difference of two times leaves 64 bits."""
    return max(-(1 << 61), min(time, 1 << 61))
