"""Which items stand in the context while a file is read: what a compaction there covers.

An importer's own small view. It knows places, no content, and can go back to what stood at an
earlier mark, for a rewind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.importers.units import Slot


@dataclass(slots=True)
class Standing:
    """One item: a place, or the n-th message of the compaction at that place."""

    slot: Slot
    number: int
    """How many items entered before it, over the whole stream."""
    message: int | None = None
    cleared: bool = False

    @property
    def id(self) -> str:
        """The item id; its slot must be filled."""
        if self.message is None:
            return str(self.slot.position)
        return f"{(self.slot.position, *self.late)[-1]}.{self.message}"

    @property
    def late(self) -> list[int]:
        """Where the rest of it stands, when it was imported in several parts."""
        found, slot = [], self.slot.late
        while slot is not None and slot.position:
            found.append(slot.position)
            slot = slot.late
        return found


class Context:
    """The items that stand now, and what stood at every mark. Going back copies nothing."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, Standing | tuple[Standing, ...]]] = []
        """(the step before, what it brought): an item more, or the whole context."""
        self._at = 0
        """The number of the last step in force, 0 before the first."""
        self._entered = 0
        self._items: list[Standing] | None = []
        """None until somebody asks again."""

    @property
    def items(self) -> list[Standing]:
        """The items that stand now."""
        if self._items is None:
            found: list[Standing] = []
            at = self._at
            while at:
                at, step = self._steps[at - 1]
                if isinstance(step, tuple):
                    found.extend(reversed(step))
                    break
                found.append(step)
            self._items = found[::-1]
        return self._items

    def enter(self, slot: Slot, message: int | None = None) -> Standing:
        """A new item at the end."""
        item = Standing(slot, self._entered, message)
        self._entered += 1
        if self._items is not None:
            self._items.append(item)
        self._step(item)
        return item

    def replace(self, items: Iterable[Standing]) -> None:
        """The context is now these."""
        self._items = list(items)
        self._step(tuple(self._items))

    def _step(self, brought: Standing | tuple[Standing, ...]) -> None:
        self._steps.append((self._at, brought))
        self._at = len(self._steps)

    @property
    def mark(self) -> int:
        """A number for this moment."""
        return self._at

    def rewind(self, mark: int) -> None:
        """The context is again what it was at the mark."""
        self._at = mark
        self._items = None


def runs(items: Sequence[Standing]) -> tuple[str, ...]:
    """Entries for items: a run where neighbours stand whole and nothing else entered between."""
    entries: list[str] = []
    first: Standing | None = None
    last: Standing | None = None

    def close() -> None:
        if first is not None and last is not None:
            entries.append(first.id if first is last else f"{first.id}-{last.id}")

    for item in items:
        plain = item.message is None and not item.cleared and not item.late
        if plain and last is not None and item.number == last.number + 1:
            last = item
            continue
        close()
        first = last = item if plain else None
        if not plain:
            entries.append(item.id)
            if item.message is None:
                entries.extend(map(str, item.late))
    close()
    return tuple(entries)
