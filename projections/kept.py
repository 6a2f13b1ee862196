"""What an erasure leaves of a text: the places in which it still stands, and what needs them.

An erased event keeps call ids, names of tools, what its source is counted by; some events are
never erased (a redaction, the beginning of a fork), and the name of a session is none. A text that
stands in one of these stays, and whoever erased it has to know.

=============================  =====================================================
kept                           read by
=============================  =====================================================
call ids                       pairing of calls with results, repairs, sub-agents
tool names                     the rendering of a call in any dialect
model                          a replayed request
format                         statistics, which count by the rules of a format
type and ids of its origin     the counts of the source
pass id, who decided           undoing decisions, and telling them apart
replies, tasks, middlewares    an agent's own state, of which they are the names
sources of memories            whoever asks where one came from
parent, occurred at            links between sessions; the chain covers the times
a redaction, a fork's start    every reader, their reasons included
=============================  =====================================================

Other kept fields are spared (``eventlog.skeleton``): they go when the text stands in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import Target
from eventlog.skeleton import REDACTED, skeleton_of
from projections.findings import NEVER, ThoseWith
from projections.live import Live
from projections.places import Place, named, places


class Kept(NamedTuple):
    """A place in which a text stays."""

    stream: StreamKey
    position: int
    """0 for the name of the session."""
    type: str
    field: str
    why: str
    text: str


def kept(
    live: Live,
    streams: Iterable[StreamKey],
    those_with: ThoseWith,
    *,
    going: Collection[Target] = (),
    besides: Collection[Target] = (),
) -> list[Kept]:
    """Where it stands in some streams' own events, and stays.

    ``going`` are events as they will be when they are erased; ``besides`` are not looked at.
    """

    def holds(text: str) -> bool:
        return bool(those_with([Place((), text)]))

    found: dict[tuple[StreamKey, int, str], Kept] = {}
    for key in dict.fromkeys(streams):
        if holds(str(key)) or any(map(holds, key)):
            why = "which its events are filed under"
            found[key, 0, "name"] = Kept(key, 0, "", "name", why, str(key))
        for event in live.log.read(key, after=live.log.stream(key).base):
            target = Target(event.stream, event.position)
            if target in besides:
                continue
            some = list(_left(event, holds if target in going else None))
            for place in those_with(some):
                field, why = _named(event, place)
                made = Kept(*target, event.type, field, why, place.text)
                found.setdefault((*target, field), made)
    return list(found.values())


def _left(event: RecordedEvent, holds: Callable[[str], bool] | None) -> Iterator[Place]:
    """The texts that are in an event, or will be when it is erased."""
    if event.occurred_at is not None:
        yield Place(("occurred_at",), event.occurred_at)
    try:
        payload: Any = loads(event.payload)
        if holds is not None:
            payload = skeleton_of(event.type, payload, holds)
    except (EventInvalid, AttributeError, LookupError, TypeError):
        return
    if event.type == "redacted":  # what it keeps of others stands at their places
        payload = {name: value for name, value in payload.items() if name != "targets"}
    for place in places(payload):
        if place.text != REDACTED:
            yield place


def _named(event: RecordedEvent, place: Place) -> tuple[str, str]:
    if place.path == ("occurred_at",):
        return "occurred_at", "which the chain covers"
    if event.type == "middleware_state_set" and place.path == ("name",):
        return "middleware", "which its state is found by"
    field, why = named(place.path)
    if event.type in NEVER and field not in ("parent", "parent_session"):
        return field, "which is never erased"
    return field, why
