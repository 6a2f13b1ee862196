"""What an importer hands to a stream: units, each appended whole or not at all.

An event names other events by their positions, which are known only when it is appended, or found
to stand in the log already. So an importer works with ``Slot``s, and each event is built at the
last moment, when the slots that it names are filled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from eventlog.events import Event
from harness.importers.identity import Stamp
from harness.importers.records import Record


@dataclass(slots=True)
class Slot:
    """A place in a stream."""

    position: int = 0
    """0 until it is known."""
    late: Slot | None = None
    """Where the rest stands, when an earlier import had to take only a part of it."""


@dataclass(slots=True)
class Planned:
    """An event to be: where it will stand, and how it is made."""

    slot: Slot
    build: Callable[[], Event]
    occurred_at: str | None = None
    salt: bytes | None = None
    """Given when it is placed as new; an event that stands in the log keeps its own."""


@dataclass(slots=True)
class Unit:
    """Events that stand or fall together, and the records that they were made of."""

    stamps: tuple[Stamp, ...]
    events: list[Planned]
    weight: int = 0
    """About how many bytes it holds in memory."""
    split: Callable[[int], tuple[Unit, Unit]] | None = None
    """The first n records as a unit, and the rest: for what was once imported before its end."""
    unreadable: bool = False
    """Its record could not be read: an earlier import may have met the same bytes at the end of the
    file, where they were torn."""


class Stamped(Protocol):
    """A record with its identity in the stream that it belongs to."""

    record: Record
    stamp: Stamp


def unit_of(
    rows: Sequence[Stamped],
    events: list[Planned],
    split: Callable[[int], tuple[Unit, Unit]] | None = None,
) -> Unit:
    """The events that some records make; one record cannot be split."""
    weight = sum(len(row.record.raw) for row in rows)
    return Unit(tuple(row.stamp for row in rows), events, weight, split if len(rows) > 1 else None)


def label_time(value: object) -> str | None:
    """A source's time as the log takes it: short, printable ASCII, as it was written; else None."""
    if isinstance(value, str) and 0 < len(value) <= 64 and value.isascii() and value.isprintable():
        return value
    return None
