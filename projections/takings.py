"""Decisions that take content out of sight: compactions, substitutions and revisions.

No call can tell apart what was substituted between it and the one before, in whatever passes; so
that is one decision, and goes by any of its events. So are the revisions of such a moment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from eventlog.recorded import RecordedEvent, StreamKey
from projections.items import Item
from projections.live import Live
from projections.runs import Origin, Standing, origin, position_of

Kind = Literal["compaction", "substitution", "revision"]

KINDS: dict[str, Kind] = {
    "context_compacted": "compaction",
    "placeholder_substituted": "substitution",
    "message_revised": "revision",
}
"""By the type of the event."""


class Taking(NamedTuple):
    """One such decision."""

    kind: Kind
    events: tuple[RecordedEvent, ...]
    """In their order; of a compaction the one."""
    until: int
    """The last position before the next call; of a compaction its own."""

    @property
    def first(self) -> int:
        """The position of its first event."""
        return self.events[0].position

    @property
    def did(self) -> str:
        """compacted, revised, or what its substitutions did: cleared, cut, deduplicated."""
        if self.kind == "substitution":
            kinds = (str(event.data.get("kind", "cleared")) for event in self.events)
            return " or ".join(dict.fromkeys(kinds))
        return "compacted" if self.kind == "compaction" else "revised"

    @property
    def items(self) -> list[Origin]:
        """Of substitutions and revisions: what they are of, each once."""
        named = (str(event.data["item"]) for event in self.events if "item" in event.data)
        return list(dict.fromkeys(map(origin, named)))


def taking_at(live: Live, stream: StreamKey, position: int) -> Taking | None:
    """The decision that the event at a position belongs to; None where it is of no such kind."""
    event = live.log.at(stream, [position]).get(position)
    kind = KINDS.get(event.type) if event is not None else None
    if event is None or kind is None:
        return None
    if kind == "compaction":
        return Taking(kind, (event,), position)
    calls = [h.position for h in live.log.headers(stream) if h.type == "model_called"]
    after = max((at for at in calls if at < position), default=0)
    until = min((at - 1 for at in calls if at > position), default=live.log.version(stream))
    events = live.log.read(stream, after, until, types=[event.type])
    return Taking(kind, tuple(events), until)


def before_and_behind(
    live: Live, stream: StreamKey, taking: Taking
) -> tuple[list[Item], list[Item]]:
    """The context that a decision found, and what it made of it.

    Of substitutions and revisions the one holds what came in between too, as it came; the other is
    the same but for what they changed: what else was decided in that moment took nothing here.
    """
    if taking.kind == "compaction":
        return live.items(stream, taking.first - 1), live.items(stream, taking.first)
    found = live.view(stream, taking.first - 1)
    end = live.view(stream, taking.until)
    came = (item for item in end.items if item not in found.items)
    left: list[Standing] = found.standing()
    left += [(item, 0) for item in came if position_of(item) >= taking.first]
    return live.materialize(stream, left), live.materialize(stream, _changed(left, taking.events))


def _changed(standing: Iterable[Standing], events: Iterable[RecordedEvent]) -> list[Standing]:
    renditions = dict(standing)
    for event in events:
        item = origin(str(event.data["item"]))
        if item in renditions and event.position > position_of(item):
            renditions[item] = event.position
    return list(renditions.items())
