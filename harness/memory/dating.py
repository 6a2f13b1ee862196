"""When that was said which is learned of a session: an imported one has a clock of its own.

So what was said last year is a year old, and not as young as the import. What a program recorded
itself bears no other clock, and is of now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eventlog.errors import EventInvalid
from eventlog.events import MemorySource, ProfileUpdated, Remembered
from eventlog.happened import iso, source_moment
from eventlog.recorded import Draft, StreamKey
from projections.live import Live
from projections.memory.lifecycle import DAY, LifePolicy, stage


def dated(live: Live, drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts with the moment of the newest event that each came from, where its source says
    when that was. Their ids stay.

    Raises what reading the log raises.
    """
    moments: dict[tuple[str, int], int | None] = {}
    return [_dated(live, draft, moments) for draft in drafts]


def is_expired(draft: Draft, now: int, policy: LifePolicy) -> bool:
    """Whether a memory's life is over by the time it is learned: ``gc`` would forget it at once."""
    at = source_moment(draft.occurred_at)
    if at is None or not isinstance(draft.event, Remembered):
        return False
    share = max(0, now - at) / (policy.days(draft.event.kind) * DAY)
    return stage(share, policy) == "expired"


def _dated(live: Live, draft: Draft, moments: dict[tuple[str, int], int | None]) -> Draft:
    if draft.occurred_at is not None or not isinstance(draft.event, Remembered | ProfileUpdated):
        return draft
    places = [(each.stream, at) for each in draft.event.sources for at in each.positions]
    _read(live, draft.event.sources, moments)
    found = [at for place in places if (at := moments.get(place)) is not None]
    return replace(draft, occurred_at=iso(max(found))) if found else draft


def _read(
    live: Live, sources: Iterable[MemorySource], moments: dict[tuple[str, int], int | None]
) -> None:
    for source in sources:
        wanted = [at for at in source.positions if (source.stream, at) not in moments]
        if not wanted:
            continue
        try:
            events = live.log.at(StreamKey.parse(source.stream), wanted)
        except EventInvalid:  # no stream has such a name
            events = {}
        for at in wanted:
            event = events.get(at)
            moments[source.stream, at] = source_moment(event.occurred_at) if event else None
