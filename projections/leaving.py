"""Which decision keeps an item out of a context: the one that ``why.taker`` names, for all items.

Where nothing was undone, rewound or repaired, that is the first compaction behind the item that
names it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal, NamedTuple

from eventlog.recorded import RecordedEvent, StreamKey
from projections import runs
from projections.diff import Became
from projections.force import TAKING, Force, in_force
from projections.live import Live
from projections.runs import Named, Origin


def is_folding(event: RecordedEvent) -> bool:
    """Whether a decision put messages in place of what it took out: a summary, as a rule."""
    return event.type == "context_compacted" and bool(event.data.get("messages"))


def became(live: Live, key: StreamKey, items: Iterable[Origin], at: int) -> dict[str, Became]:
    """What became of the items that do not stand after a position, by their ids.

    Summarised is all that a compaction with messages took, wherever those messages stand.
    """
    leaving = Leaving(live, key, at)
    found: dict[str, Became] = {}
    for item in items:
        event = leaving.of(item)
        if event is not None:
            kind: Literal["summarised", "dropped"] = (
                "summarised" if is_folding(event) else "dropped"
            )
            found[str(item)] = Became(kind, str(event.position))
    return found


class _Taken(NamedTuple):
    """What a compaction takes: what it names, or all but what its layout names."""

    position: int
    named: Named
    is_layout: bool

    def takes(self, item: Origin) -> bool:
        return (item in self.named) != self.is_layout


class Leaving:
    """What keeps items out of a context, up to a position.

    That is asked of decisions in force: what a rewind took back keeps nothing out, but the rewind
    does. Where only compactions were ever made, they are looked at no further than is asked for,
    from the item on; else all that is in force is folded once.
    """

    def __init__(self, live: Live, key: StreamKey, at: int) -> None:
        self._live, self._key, self._at = live, key, at
        self._standing = live.view(key, at).items
        self._found: dict[Origin, int] = {}
        decisions = list(live.log.read(key, to=at, types=TAKING))
        self._events = {event.position: event for event in decisions}
        self._force: Force | None = None
        self._plain: list[_Taken] | None = None
        if all(map(_is_plain, decisions)):
            self._plain = [_taken(event) for event in decisions]

    def of(self, item: Origin) -> RecordedEvent | None:
        """The event in force that keeps an item out; None when it stands, or never stood.

        That is a decision, or the real result that took the place of a synthetic one.
        """
        if item in self._standing:
            return None
        position = self._position(item)
        if not position:
            return None
        if position not in self._events:
            self._events.update(self._live.log.at(self._key, [position]))
        return self._events[position]

    def _position(self, item: Origin) -> int:
        came = runs.position_of(item)
        if self._plain is not None:
            if item not in self._found:
                first = bisect_right(self._plain, came, key=lambda taken: taken.position)
                taken = (t.position for t in self._plain[first:] if t.takes(item))
                self._found[item] = next(taken, 0)
            return self._found[item]
        if self._force is None:
            self._force = in_force(self._live.history(self._key, self._at))
        return self._force.taker(item)


def _is_plain(event: RecordedEvent) -> bool:
    """Whether it is a compaction of which every message stood: a layout may leave some out."""
    if event.type != "context_compacted":
        return False
    layout, messages = event.data.get("layout"), event.data.get("messages", ())
    return layout is None or {f"m{n}" for n in range(len(messages))} <= {*layout}


def _taken(event: RecordedEvent) -> _Taken:
    at, layout = event.position, event.data.get("layout")
    if layout is None:
        return _Taken(at, Named(event.data.get("covered", ()), at), False)
    return _Taken(at, Named((entry for entry in layout if entry[:1] != "m"), at), True)
