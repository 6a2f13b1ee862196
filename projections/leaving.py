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
from projections.context import REFOLDING, View
from projections.diff import Became
from projections.force import out_of_force
from projections.live import Live
from projections.runs import Named, Origin

TAKING = ("context_compacted", "decision_undone", "repair_applied", "session_rewound")
"""Decisions that can take an item out of a context."""

_TAKING_IN_FORCE = frozenset(TAKING) - REFOLDING | {"tool_result_recorded"}
"""What takes items out in a history from which undos and rewinds are left out; a real result takes
the place of a synthetic one."""


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
        self._gone: dict[int, int] | None = None
        self._plain: list[_Taken] | None = None
        if {event.type for event in decisions} <= {"context_compacted"}:
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
        if self._gone is None:
            self._gone = self._folded()
        return self._gone.get(came) or self._found.get(item, 0)

    def _folded(self) -> dict[int, int]:
        """Find what every item left with; and what put each event out of force."""
        events = self._live.history(self._key, self._at)
        gone = out_of_force(events)
        view = View()
        for event in events:
            if event.position in gone or event.type in REFOLDING:
                continue
            if event.type not in _TAKING_IN_FORCE:
                view.evolve(event)
                continue
            before = set(view.items)
            view.evolve(event)
            for item in before - view.items.keys():
                self._found[item] = event.position
        return gone


def _taken(event: RecordedEvent) -> _Taken:
    at, layout = event.position, event.data.get("layout")
    if layout is None:
        return _Taken(at, Named(event.data.get("covered", ()), at), False)
    return _Taken(at, Named((entry for entry in layout if entry[:1] != "m"), at), True)
