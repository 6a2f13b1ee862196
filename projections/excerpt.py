"""Some items of a session as a context of their own that a provider takes.

Calls and results go in pairs: with a result comes the answer that called it, and with an answer all
results of its calls. What legality has to change beyond that it says, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eventlog.recorded import StreamKey
from projections.context import ITEM_TYPES
from projections.items import Item
from projections.legality import sendable
from projections.live import Live
from projections.pairing import pair
from projections.repairs import Repair
from projections.runs import Origin, origin, position_of

_BRINGING = {"context_compacted": "messages", "repair_applied": "inserted"}
"""Events that bring in several items, and the field in which these stand."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Items that can be sent."""

    items: tuple[Item, ...]
    """As they came in, in the order of the log."""
    added: tuple[str, ...]
    """Items that came along, since what was asked for does not stand alone."""
    repairs: tuple[Repair, ...]


def excerpt(live: Live, stream: StreamKey, asked: Sequence[str]) -> Excerpt:
    """The originals of some items, with what they need. Raises NoContext where nothing is left."""
    whole = live.materialize(stream, [(item, 0) for item in _every(live, stream)])
    places = {item.id: place for place, item in enumerate(whole)}
    wanted = {places[name] for name in asked}
    found = sorted(wanted | _partners(whole, wanted))
    made = sendable([whole[place] for place in found], live_frontier=False)
    added = tuple(whole[place].id for place in found if place not in wanted)
    return Excerpt(made.items, added, made.repairs)


def _partners(items: Sequence[Item], wanted: set[int]) -> set[int]:
    """All of each answer of which a call or a result is wanted: its messages, and its results."""
    pairing = pair(items)
    answers = {
        one.batch for one in pairing.pairs if one.result_at in wanted or one.call_at in wanted
    }
    said = {at for at, batch in enumerate(pairing.batches) if batch in answers}
    results = (one.result_at for one in pairing.pairs if one.batch in answers)
    return said | {at for at in results if at is not None}


def _every(live: Live, stream: StreamKey) -> list[Origin]:
    """All items that ever came into a session, in the order of the log."""
    version = live.log.version(stream)
    plain = (h.position for h in live.log.headers(stream, 0, version) if h.type in ITEM_TYPES)
    found: list[Origin] = [*plain, *_brought(live, stream)]
    return sorted(found, key=lambda item: (position_of(item), _index(item)))


def _brought(live: Live, stream: StreamKey) -> Iterator[Origin]:
    for event in live.log.read(stream, types=list(_BRINGING)):
        for number in range(len(event.data.get(_BRINGING[event.type], ()))):
            yield origin(f"{event.position}.{number}")


def _index(item: Origin) -> int:
    return int(str(item).partition(".")[2] or -1)
