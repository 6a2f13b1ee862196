"""Which calls saw an item: by their manifest where there is one, else by the view at the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eventlog.errors import CriticalUnknown
from eventlog.recorded import StreamInfo, StreamKey
from projections import runs
from projections.context import REFOLDING, View
from projections.live import Live
from projections.runs import Origin
from projections.sent import Requests


class AffectedCall(NamedTuple):
    """A call that saw an item."""

    stream: StreamKey
    number: int
    """``c5`` is the fifth of its stream, a parent's included."""
    position: int


def calls_showing(live: Live, stream: StreamKey, items: Sequence[str]) -> Iterator[AffectedCall]:
    """The calls that saw one of the items, in the stream, its forks and those it was forked from.

    Each once, by the stream that owns it. Behind an event that no fold may skip nothing is known,
    except what manifests say.
    """
    wanted = {runs.origin(item) for item in items}
    if not wanted:
        return
    for info in _lineage(live, stream, min(map(runs.position_of, wanted))):
        yield from _of_stream(live, info, wanted)


def _lineage(live: Live, stream: StreamKey, position: int) -> list[StreamInfo]:
    """The streams that hold the event at a position of one."""
    infos = live.log.streams()
    owner = live.log.stream(stream)
    while owner.parent is not None and position <= owner.base:
        owner = live.log.stream(owner.parent)
    found = [owner]
    for info in found:
        found += [i for i in infos if i.parent == info.key and i.base >= position]
    return found


def _of_stream(live: Live, info: StreamInfo, wanted: set[Origin]) -> Iterator[AffectedCall]:
    calls = list(live.log.read(info.key, types=["model_called"]))
    number = {call.position: at for at, call in enumerate(calls, 1)}
    manifests = {
        call.position: {piece.item for entry in expanded.entries for piece in entry}
        for call, expanded in Requests(live).all_expanded(info.key, calls)
    }
    if not any(position > info.base for position in number):
        return
    try:
        view = live.view(info.key, info.base)
    except CriticalUnknown:
        view = View()
    for event in live.log.read(info.key, after=info.base):
        try:
            if event.type in REFOLDING:
                view = live.view(info.key, event.position)
            else:
                view.evolve(event)
        except CriticalUnknown:
            view = View()
        if event.type == "model_called":
            seen = manifests.get(event.position)
            if wanted & (seen if seen is not None else view.items.keys()):
                yield AffectedCall(info.key, number[event.position], event.position)
