"""The view after each event of a stream, one event at a time, undos and rewinds included.

Those two change what earlier events mean. ``context.fold`` then begins anew; here the fold goes on
from a view that was kept in front of everything that they change. So a session that is rewound a
thousand times costs a thousand times what lies between, and not a thousand times the whole of it.
"""

from __future__ import annotations

from eventlog.recorded import RecordedEvent
from projections.backwards import Backwards
from projections.context import REFOLDING, View

MOST_KEPT = 32
"""Views that are kept on the way; the distance between two grows with the stream."""

STRIDE = 64
"""Events between two of them, at first."""


class Folding:
    """A fold in progress over a stream that is read from its first position on.

    ``view`` is that of ``context.fold`` over the same events, but for the marks that keep runs
    apart after a rewind: it says what stands, and is not to be written as runs.
    """

    def __init__(self) -> None:
        self.view = View()
        self._events: list[RecordedEvent] = []
        self._passes: dict[str, int] = {}
        """The position of the first substitution of each pass."""
        self._kept: list[View] = []
        self._stride = STRIDE

    def take(self, event: RecordedEvent) -> View:
        """The view after the next event; it is changed by the one behind it. Raises
        CriticalUnknown."""
        if len(self._events) >= (len(self._kept) + 1) * self._stride:
            self._keep()
        self._events.append(event)
        if event.type in REFOLDING:
            self.view = self._again()
            return self.view
        if event.type == "placeholder_substituted" and event.data.get("pass_id"):
            self._passes.setdefault(event.data["pass_id"], event.position)
        self.view.evolve(event)
        return self.view

    def _keep(self) -> None:
        self._kept.append(self.view.copy())
        if len(self._kept) > MOST_KEPT:
            self._kept = self._kept[1::2]
            self._stride *= 2

    def _again(self) -> View:
        """As far back as it takes to meet a kept view that nothing behind it changes."""
        walk = Backwards(lambda pass_id: self._passes.get(pass_id, float("inf")))
        kept = len(self._kept) - 1
        at = len(self._events)
        base: View | None = None
        while at > 0:
            while kept >= 0 and self._kept[kept].version > at:
                kept -= 1
            if kept >= 0 and self._kept[kept].version == at < walk.begins:
                base = self._kept[kept]
                break
            at = walk.take(self._events[at - 1])
        view = base.copy() if base is not None else View()
        for event in reversed(walk.found):
            view.evolve(event)
        view.version = self._events[-1].position
        return view
