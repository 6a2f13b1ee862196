"""Where a literal was first said: the one rule by which an item is named for a literal.

The first item of a person, or of a system message, that holds it; else the first of all that hold
it. Of what had been said up to a place, as it came in: what decisions left of it does not count,
and what a rewind took back was never said.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from eventlog.messages import SYSTEM_ROLES
from projections.anchors import Anchor
from projections.held import Held
from projections.items import Item
from projections.runs import Origin, origin, position_of

T = TypeVar("T")


def is_told(item: Item) -> bool:
    """Whether a person said it, or a system message."""
    return item.is_human or item.role in SYSTEM_ROLES


class Said(Generic[T]):
    """Who said each literal, in the order in which they did; literals go by number."""

    def __init__(self) -> None:
        self._told: dict[int, list[T]] = {}
        self._all: dict[int, list[T]] = {}

    def add(self, literal: int, who: T, *, told: bool) -> None:
        """One more holds it."""
        self._all.setdefault(literal, []).append(who)
        if told:
            self._told.setdefault(literal, []).append(who)

    def all(self, literal: int) -> Sequence[T]:
        """All that hold it."""
        return self._all.get(literal, ())

    def first(self, literal: int, counts: Callable[[T], bool] = lambda _: True) -> T | None:
        """Who said it first, of those that count."""
        told = next(filter(counts, self._told.get(literal, ())), None)
        return told if told is not None else next(filter(counts, self.all(literal)), None)


def sayers(anchors: Sequence[Anchor], items: Iterable[Item]) -> Said[Item]:
    """Which items hold each anchor; anchors go by their places."""
    held, said = Held(anchors), Said[Item]()
    for item in items:
        for place in held.inside([item]):
            said.add(place, item, told=is_told(item))
    return said


def first_said(anchors: Sequence[Anchor], items: Iterable[Item]) -> dict[int, Item]:
    """By the place of each anchor that some of the items hold: the one that said it first."""
    said = sayers(anchors, items)
    found = ((place, said.first(place)) for place in range(len(anchors)))
    return {place: item for place, item in found if item is not None}


class Branch:
    """The positions that count at some place: no rewind had taken them back by then."""

    def __init__(self, rewinds: Iterable[tuple[int, int]], at: int) -> None:
        """``rewinds`` in force, each with where it goes."""
        runs: list[tuple[int, int]] = []
        for position, to in sorted(rewinds, reverse=True):
            if position <= at and to < position:
                runs.append((position, at))
                at = to
        runs.append((0, at))
        self._behind, self._to = zip(*reversed(runs), strict=True)
        """What counts lies behind the one and up to the other, in order."""

    def holds(self, item: Origin) -> bool:
        """Whether an item counts."""
        position = position_of(item)
        run = bisect_left(self._to, position)
        return run < len(self._to) and self._behind[run] < position

    def holds_item(self, item: Item) -> bool:
        """Likewise."""
        return self.holds(origin(item.id))
