"""Names of items, and sequences of them in few characters.

An item's origin is an ``int`` (the position that brought it in) or a ``str`` such as ``57.0`` (a
message of event 57). A rendition is the position of the event that carries the bytes in force, 0
for the original. A *run* ``58-120`` names every item whose whole-number origin lies there, whatever
other events lie between, and is written only where each of them stands, in order, in its original
rendition; ``58-`` has an open end. So a view of ten thousand items is a few words, and an append
does not change them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

Origin = int | str
Standing = tuple[Origin, int]
"""(origin, rendition) of an item that stands in a context."""

ItemPositions = Callable[[int, int], Sequence[int]]
"""(low, high) to the positions of the events in it that bring in an item, in order."""


REDACTED = -1
"""In place of a rendition: the item was erased already when it was sent, so that all of its
renditions show the same."""

FRONT = "0"
"""What an item that came in in front of everything stands behind."""


def origin(item_id: str) -> Origin:
    """The origin of an item id: ``12`` is a number, ``57.0`` stays text."""
    return item_id if "." in item_id else int(item_id)


def position_of(item: Origin) -> int:
    """The position of the event that brought the item in."""
    return item if isinstance(item, int) else int(item.partition(".")[0])


def label(item: Origin, rendition: int) -> str:
    """``12``, ``12@340`` or ``12@redacted``."""
    if rendition == REDACTED:
        return f"{item}@redacted"
    return f"{item}@{rendition}" if rendition else str(item)


def standing(entry: str) -> Standing:
    """The origin and rendition that one entry (no run) names; ``@redacted`` is the original."""
    name, _, rendition = entry.partition("@")
    return origin(name), int(rendition) if rendition.isdigit() else 0


def is_run(entry: str) -> bool:
    """Whether the entry is a run such as ``58-120`` or ``58-``."""
    return "-" in entry


def bounds(run: str, end: int) -> tuple[int, int]:
    """The first and the last position of a run; an open one goes up to ``end``."""
    low, _, high = run.partition("-")
    return int(low), int(high) if high else end


class Named:
    """The items that some entries name, in whatever rendition: ``item in Named(entries, end)``."""

    def __init__(self, entries: Iterable[str], end: int) -> None:
        named = list(entries)
        self._runs = [bounds(entry, end) for entry in named if is_run(entry)]
        self._items = {standing(entry)[0] for entry in named if not is_run(entry)}

    def __contains__(self, item: Origin) -> bool:
        if item in self._items:
            return True
        return isinstance(item, int) and any(low <= item <= high for low, high in self._runs)


def encode(
    items: Iterable[Standing], barriers: Sequence[float], open_from: int | None = None
) -> list[str]:
    """The shortest entries that name these items in this order.

    ``barriers`` are numbers that no run may span: origins of items that left, sorted. With
    ``open_from``, the last entry is a run with an open end: the last run where nothing left behind
    it, else one that begins at ``open_from``.
    """
    sequence = list(items)
    whole = sorted(item for item, _ in sequence if isinstance(item, int))
    follows = dict(pairwise(whole))
    found: list[str] = []
    first = last = 0
    open_run = False

    def flush() -> None:
        nonlocal first
        if first:
            found.append(str(first) if first == last else f"{first}-{last}")
            first = 0

    for item, rendition in sequence:
        if isinstance(item, str) or rendition:
            flush()
            found.append(label(item, rendition))
            continue
        if not first or follows.get(last) != item or _spans(barriers, last, item):
            flush()
            first = item
        last = item
    if open_from is not None:
        open_run = bool(first) and last == whole[-1] and not _spans(barriers, last, float("inf"))
        if open_run:
            found.append(f"{first}-")
        else:
            flush()
            found.append(f"{open_from}-")
    else:
        flush()
    return found


def _spans(barriers: Sequence[float], low: float, high: float) -> bool:
    at = bisect_left(barriers, low)
    return at < len(barriers) and barriers[at] < high


def expand(entries: Iterable[str], positions: ItemPositions, end: int) -> Iterator[Standing]:
    """The items that entries name; an open run goes up to position ``end``."""
    for entry in entries:
        if is_run(entry):
            yield from ((at, 0) for at in positions(*bounds(entry, end)))
        else:
            yield standing(entry)


def barriers_between(entries: Sequence[str]) -> list[float]:
    """Numbers that keep entries apart which were written apart."""
    found: list[float] = []
    for entry in entries:
        if is_run(entry):
            low, _, high = entry.partition("-")
            found.append(int(low) - 0.5)
            if high:
                found.append(int(high) + 0.5)
        else:
            item, _ = standing(entry)
            if isinstance(item, int):
                found += (item - 0.5, item + 0.5)
    return sorted(found)
