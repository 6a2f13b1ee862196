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
    """The items that stand now, and what stood at every mark."""

    def __init__(self) -> None:
        self.items: list[Standing] = []
        self._steps: list[Standing | tuple[Standing, ...]] = []
        self._entered = 0

    def enter(self, slot: Slot, message: int | None = None) -> Standing:
        """A new item at the end."""
        item = Standing(slot, self._entered, message)
        self._entered += 1
        self.items.append(item)
        self._steps.append(item)
        return item

    def replace(self, items: Iterable[Standing]) -> None:
        """The context is now these."""
        self.items = list(items)
        self._steps.append(tuple(self.items))

    @property
    def mark(self) -> int:
        """A number for this moment."""
        return len(self._steps)

    def rewind(self, mark: int) -> None:
        """The context is again what it was at the mark."""
        found: list[Standing] = []
        for step in reversed(self._steps[:mark]):
            if isinstance(step, tuple):
                found.extend(reversed(step))
                break
            found.append(step)
        self.replace(reversed(found))


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
