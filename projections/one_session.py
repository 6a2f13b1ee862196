"""Two places that lie in one session, be it through a fork that holds its parent's events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from projections.live import Live
from projections.references import Reference


def in_one_session(live: Live, one: Reference, other: Reference) -> tuple[Reference, Reference]:
    """The same two places in one session: a fork holds its parent's events up to where it began.

    Raises InputRefused where neither session holds both places.
    """
    if one.stream == other.stream:
        return one, other
    shared = _shared(live, one.stream, other.stream)
    if not shared:
        raise InputRefused(
            "two places of one session are compared, or of sessions that were forked from each "
            f"other, not of {one.stream} and {other.stream}"
        )
    if _end(other) <= shared:
        return one, _moved(other, one.stream, shared)
    if _end(one) <= shared:
        return _moved(one, other.stream, shared), other
    raise InputRefused(
        f"{one.stream} and {other.stream} part after event {shared}: "
        f"of one of them name a place up to there, such as @{shared}"
    )


def _end(place: Reference) -> int:
    """The last event that a place is about: a call is named just before it."""
    return place.position + (place.kind == "call")


def _moved(place: Reference, stream: StreamKey, shared: int) -> Reference:
    is_before = place.kind == "before_compaction" and place.position == shared
    if place.kind == "now" or is_before:  # of a compaction that the other does not have
        return Reference(stream, "position", place.position)
    return replace(place, stream=stream)


def _shared(live: Live, one: StreamKey, other: StreamKey) -> int:
    """The last position whose event two sessions share; 0 where they share none."""
    ends = dict(_lineage(live, one))
    return next((min(end, ends[key]) for key, end in _lineage(live, other) if key in ends), 0)


def _lineage(live: Live, stream: StreamKey) -> Iterator[tuple[StreamKey, int]]:
    """A session and those that it was forked from, each with the last of their events in it."""
    info, end = live.log.stream(stream), live.log.version(stream)
    yield info.key, end
    while info.parent is not None:
        end = min(end, info.base)
        info = live.log.stream(info.parent)
        yield info.key, end
