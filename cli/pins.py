"""Pins: the events that pin and unpin items, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.changing import Changing, Make
from cli.item_places import items_of
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import InputRefused
from eventlog.events import Event, ItemPinned, ItemUnpinned
from projections import Live
from projections.force import out_of_force
from projections.ownership import is_observed
from projections.runs import origin


def items_to_pin(live: Live, session: str, typed: list[str]) -> tuple[StreamKey, list[str]]:
    """The items that were named. Raises InputRefused where there is none."""
    stream, items = items_of(live, session, typed)
    if not items:
        raise InputRefused("which items? name some, such as 12 or 57.0, behind the session")
    return stream, items


def pins_changed(
    live: Live, stream: StreamKey, items: Sequence[str], *, pin: bool, reason: str, dry_run: bool
) -> Changing:
    """Pins are notes: they change no context, so they may be written into any session."""
    make = _pinning(live, stream, items, pin=pin, reason=reason)
    return Changing(stream, make, dry_run=dry_run, is_note=True)


def _pinning(
    live: Live, stream: StreamKey, items: Sequence[str], *, pin: bool, reason: str
) -> Make:
    """The events that pin items, or unpin them; none for those that are so already."""

    def make(first: int) -> Sequence[Event]:
        pins = live.view(stream).pins
        chosen = [item for item in items if (origin(item) in pins) != pin]
        if pin:
            return [ItemPinned(item=item, reason=reason) for item in chosen]
        return [ItemUnpinned(item=item) for item in chosen]

    return make


# -- what there is to say -------------------------------------------------------------------------


def pinned_notes(
    live: Live, stream: StreamKey, items: Sequence[str], version: int, dry_run: bool
) -> Iterator[str]:
    """What a pin does and since when; the items were named when the session was at a version."""
    before = live.view(stream, version)
    known = [item for item in items if origin(item) in before.pins]
    new = [item for item in items if origin(item) not in before.pins]
    if known:
        since = last_of_each(live, stream, version, "item_pinned")
        yield f"pinned already: {', '.join(_since(item, since.get(item)) for item in known)}"
    if new:
        would = "would leave" if dry_run else "leaves"
        yield f"run {would} what is pinned as it stands, and so does a what-if from here on"
        if is_observed(live.log, stream):
            yield "the program that writes this session is not bound by a pin"
    out = [item for item in items if origin(item) not in before.items]
    if out:
        counts = "the pin counts" if len(out) == 1 else "the pins count"
        yield f"not in the context now, so {counts} from when it stands there: {', '.join(out)}"


def unpinned_notes(
    live: Live, stream: StreamKey, items: Sequence[str], version: int
) -> Iterator[str]:
    """Which of the items were not pinned when the session was at a version."""
    pins = live.view(stream, version).pins
    known = [item for item in items if origin(item) not in pins]
    if known:
        since = last_of_each(live, stream, version, "item_unpinned")
        told = (
            f"{item} (unpinned with {since[item].position})" if item in since else item
            for item in known
        )
        yield f"not pinned: {', '.join(told)}"


def last_of_each(
    live: Live, stream: StreamKey, version: int, kind: str
) -> dict[str, RecordedEvent]:
    """The newest event of a kind that is in force, for each item."""
    history = live.history(stream, version)
    gone = out_of_force(history)
    found = (event for event in history if event.type == kind and event.position not in gone)
    return {str(event.data["item"]): event for event in found}


def _since(item: str, event: RecordedEvent | None) -> str:
    if event is None:  # a fork can begin behind the pin of an item that was renamed by hand
        return item
    reason = f": {event.data['reason']}" if event.data.get("reason") else ""
    return f"{item} (since event {event.position}{reason})"
