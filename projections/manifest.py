"""The exact sequence of items and renditions that a request was made of.

An expanded manifest is a list of entries; an entry is what was sent as one message: one item, or
several (Anthropic's tool results). It is stored as the difference from the nearest earlier manifest
of the stream: ``["=3", "12@340", "58-120"]`` says that the first three entries stand, then
rendition 340 of item 12, then every item from 58 to 120. Unlike the runs of a view, a run of a
manifest is checked against the items that exist when it is written, and read against the same
events for ever.

    12   57.0   12@340   12@redacted   12/1 (one part of it)   58-120   =3   [13, 14, 15]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from eventlog.values import ManifestEntry
from projections import runs
from projections.runs import ItemPositions, Origin, Standing

WHOLE_EVERY = 50
"""Calls after which a manifest is written whole again."""


class Piece(NamedTuple):
    """An item, in a rendition, or one part of it."""

    item: Origin
    rendition: int = 0
    redacted: bool = False
    part: int | None = None

    @property
    def label(self) -> str:
        """``12``, ``12/1``, ``12@340``, ``12@redacted``."""
        name = str(self.item) if self.part is None else f"{self.item}/{self.part}"
        if self.redacted:
            return f"{name}@redacted"
        return f"{name}@{self.rendition}" if self.rendition else name

    @property
    def standing(self) -> Standing:
        """The item and rendition, as a view has them."""
        return self.item, self.rendition

    @property
    def is_plain(self) -> bool:
        """Whether a run may hold it."""
        return (
            isinstance(self.item, int)
            and not self.rendition
            and not self.redacted
            and self.part is None
        )


SentAs = tuple[Piece, ...]
"""The pieces of one entry; mostly one."""


def parse(text: str) -> Piece:
    """The piece that one entry (no run, no ``=``) names."""
    name, _, rendition = text.partition("@")
    item, _, part = name.partition("/")
    return Piece(
        runs.origin(item),
        int(rendition) if rendition.isdigit() else 0,
        rendition == "redacted",
        int(part) if part else None,
    )


def encode(
    entries: Sequence[SentAs],
    previous: Sequence[SentAs] | None,
    positions: ItemPositions,
    *,
    shared: int = 0,
) -> tuple[ManifestEntry, ...]:
    """The stored form, shortest first: what stands of the previous one, runs, single entries.

    ``positions`` gives the positions of all items of the stream in a range. ``shared``: both begin
    with so many entries that are the same, and are given without them.
    """
    kept = 0
    if previous is not None:
        for old, new in zip(previous, entries, strict=False):
            if old != new:
                break
            kept += 1
    found: list[ManifestEntry] = [f"={kept + shared}"] if kept + shared else []
    rest = entries[kept:]
    whole = [e[0].item for e in rest if len(e) == 1 and isinstance(e[0].item, int)]
    exist = positions(min(whole), max(whole)) if whole else ()
    place = {position: at for at, position in enumerate(exist)}
    first = last = 0

    def flush() -> None:
        nonlocal first
        if first:
            found.append(str(first) if first == last else f"{first}-{last}")
        first = 0

    for entry in rest:
        item = entry[0].item
        if len(entry) == 1 and entry[0].is_plain and isinstance(item, int) and item in place:
            if not first or place[item] != place[last] + 1:
                flush()
                first = item
            last = item
            continue
        flush()
        labels = tuple(piece.label for piece in entry)
        found.append(labels[0] if len(labels) == 1 else labels)
    flush()
    return tuple(found)


def kept(stored: Sequence[ManifestEntry | list[str]]) -> int:
    """How many entries a stored manifest takes over from the one before it."""
    first = stored[0] if stored else ""
    return int(first[1:]) if isinstance(first, str) and first.startswith("=") else 0


def expand(
    stored: Sequence[ManifestEntry | list[str]],
    previous: Sequence[SentAs] | None,
    positions: ItemPositions,
) -> list[SentAs]:
    """The entries of a stored manifest, given the expanded one before it."""
    found: list[SentAs] = []
    for entry in stored:
        if not isinstance(entry, str):
            found.append(tuple(parse(piece) for piece in entry))
        elif entry.startswith("="):
            found += (previous or ())[: int(entry[1:])]
        elif runs.is_run(entry):
            found += map(_plain, positions(*runs.bounds(entry, 0)))
        else:
            found.append((parse(entry),))
    return found


@lru_cache(maxsize=1 << 16)
def _plain(position: int) -> SentAs:
    """The entry of an item as it is: most of all manifests, so each is made once."""
    return (Piece(position),)


class Holding(NamedTuple):
    """Where one item stands in a manifest: all that is kept of it to read the next one."""

    length: int = 0
    """Entries."""
    place: int | None = None
    """Of the first entry with the item in it."""
    piece: Piece | None = None


def holding(
    stored: Sequence[ManifestEntry | list[str]],
    item: Origin,
    previous: Holding,
    positions: Sequence[int],
) -> Holding:
    """Whether a stored manifest holds an item, without expanding it.

    ``previous`` is the same of the manifest before it, ``positions`` are those of all items of the
    stream, in order.
    """
    length, found = 0, Holding()
    for entry in stored:
        place, piece, size = _in_entry(entry, item, previous, positions)
        if found.place is None and place is not None:
            found = Holding(0, length + place, piece)
        length += size
    return Holding(length, found.place, found.piece)


def _in_entry(
    entry: ManifestEntry | list[str], item: Origin, previous: Holding, positions: Sequence[int]
) -> tuple[int | None, Piece | None, int]:
    """The place of the item in what a stored entry stands for, and how many entries that is."""
    if isinstance(entry, str) and entry.startswith("="):
        kept = min(int(entry[1:]), previous.length)
        stays = previous.place is not None and previous.place < kept
        return (previous.place, previous.piece, kept) if stays else (None, None, kept)
    if isinstance(entry, str) and runs.is_run(entry):
        low, high = runs.bounds(entry, 0)
        first, last = bisect_left(positions, low), bisect_right(positions, high)
        at = bisect_left(positions, item, first, last) if isinstance(item, int) else last
        is_there = at < last and positions[at] == item
        return (at - first, Piece(item), last - first) if is_there else (None, None, last - first)
    names = [entry] if isinstance(entry, str) else entry
    for piece in map(parse, names):
        if piece.item == item:
            return 0, piece, 1
    return None, None, 1
