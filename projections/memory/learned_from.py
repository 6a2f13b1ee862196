"""What was learned from a session: memories, and what of a profile, that name it as a source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import Target
from projections.carriers import Carriers
from projections.live import Live
from projections.memory.stream import AGENT, SESSION
from projections.quotes import texts_in

_LEARNED = ("remembered", "memory_revised", "profile_updated")


def learned_in(live: Live, stream: StreamKey) -> list[RecordedEvent]:
    """The events that name a session as a source and were not erased, in the order of the log.

    Of the profile those only that say something in words. Raises EventInvalid for a damaged event.
    """
    return [
        event
        for event in _naming(live, [str(stream)])
        if any(source.get("stream") == str(stream) for source in _sources(event))
    ]


def learned_from(
    live: Live, carriers: Carriers, targets: Collection[Target]
) -> list[tuple[RecordedEvent, Target]]:
    """Those whose sources name one of some events, in the session itself or in a fork that holds
    it; each with the first of these events.

    Raises EventInvalid for a damaged event.
    """
    keys = _holders(carriers, targets)

    def named(source: dict[str, Any]) -> Target | None:
        key = keys.get(str(source.get("stream", "")))
        positions = source.get("positions") or () if key is not None else ()
        found = (Target(carriers.owner(key, at).key, at) for at in positions if key is not None)
        return next((each for each in found if each in targets), None)

    some = []
    for event in _naming(live, keys) if keys else ():
        found = [target for target in map(named, _sources(event)) if target is not None]
        some += [(event, target) for target in found[:1]]
    return some


def learned_of_all(
    live: Live, carriers: Carriers, targets: Collection[Target]
) -> list[RecordedEvent]:
    """Those whose source is a session as a whole that holds one of some events: whether they came
    from it nobody says. Raises EventInvalid for a damaged event."""
    keys = _holders(carriers, targets)
    return [
        event
        for event in (_naming(live, keys) if keys else ())
        if any(s.get("stream") in keys and not s.get("positions") for s in _sources(event))
    ]


def _holders(carriers: Carriers, targets: Iterable[Target]) -> dict[str, StreamKey]:
    """The sessions that hold some events, by their keys."""
    found = (carriers.holders(target.stream, target.position) for target in targets)
    return {str(info.key): info.key for some in found for info in some}


def memory_named(event: RecordedEvent) -> int:
    """The memory that an event brought in or revised; 0 for a change of the profile."""
    if event.type == "remembered":
        return event.position
    return int(event.data.get("memory", 0)) if event.type == "memory_revised" else 0


def _sources(event: RecordedEvent) -> Iterable[dict[str, Any]]:
    """Those that stand in this log."""
    return (each for each in event.data.get("sources") or () if not each.get("elsewhere"))


def _naming(live: Live, keys: Iterable[str]) -> Iterator[RecordedEvent]:
    """The events that may name one of some sessions."""
    names = [dumps(key) for key in keys]
    kinds = ", ".join("?" * len(_LEARNED))
    for row, user in live.log.query(
        "select row, user from streams where agent = ? and session = ? order by row",
        (AGENT, SESSION),
    ).fetchall():
        found = live.log.query(
            f"select position, payload from events where stream = ? and type in ({kinds}) "
            "and payload is not null order by position",
            (row, *_LEARNED),
        )
        # In a payload with half of a character every letter beyond ASCII is an escape.
        at = [p for p, text in found if "\\u" in text or any(name in text for name in names)]
        events = live.log.at(StreamKey(user, AGENT, SESSION), at)
        yield from filter(_has_words, events.values())


def _has_words(event: RecordedEvent) -> bool:
    if event.type != "profile_updated":
        return True
    return any(texts_in({"values": event.data.get("values")}))
