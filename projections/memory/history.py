"""What became of one memory, event by event, from the log alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from eventlog.events import MemoryRevised, Remembered
from eventlog.happened import moment
from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.memory.stream import memory_stream
from projections.memory.taken_up import came_from

What = Literal["remembered", "revised", "forgotten", "restored"]

_CHANGES: dict[str, What] = {
    "memory_revised": "revised",
    "memory_forgotten": "forgotten",
    "memory_restored": "restored",
}

_FIELDS = (
    *("kind", "text", "importance", "is_explicit", "subject", "area"),
    *("values", "entities", "relations", "sources"),
)


class Change(NamedTuple):
    """One event of a memory."""

    position: int
    what: What
    rendition: str
    """That it brought: ``12``, ``12@40``; empty where it brought none."""
    at: int
    """When, in microseconds since 1970."""
    by: str
    reason: str
    rule: str
    """Of what was forgotten: whether it was asked for, or what ``gc`` went by."""
    text: str | None
    """That it brought; None where the text stayed, and where it was erased."""
    changed: tuple[str, ...]
    """The fields that a revision gave."""
    is_erased: bool
    imported_from: str = ""
    """Of what was taken up from a document: ``user/_/memory@6``, or ``another log``."""


def history(live: Live, user: str, memory: int) -> Iterator[Change]:
    """The events of a memory, the oldest first; none where there is no such memory."""
    key = memory_stream(user)
    if not live.log.exists(key):
        return
    first = live.log.at(key, [memory]).get(memory)
    if first is None or first.type != "remembered":
        return
    yield _change(live, first, "remembered", memory)
    for event in _later(live, key, memory):
        if event.data.get("memory") == memory:
            yield _change(live, event, _CHANGES[event.type], memory)


def _later(live: Live, key: StreamKey, memory: int) -> Iterator[RecordedEvent]:
    named = f'"memory":{memory}'
    return live.log.read(key, after=memory, types=_CHANGES, containing=named)


def _change(live: Live, event: RecordedEvent, what: What, memory: int) -> Change:
    said = event.event
    text, changed = None, tuple[str, ...]()
    if isinstance(said, Remembered | MemoryRevised) and not event.erased:
        text = said.text
    if isinstance(said, MemoryRevised):
        changed = tuple(name for name in _FIELDS if getattr(said, name) not in (None, ()))
    brings = {"remembered": str(memory), "revised": f"{memory}@{event.position}"}
    return Change(
        position=event.position,
        what=what,
        rendition=brings.get(what, ""),
        at=moment(event.occurred_at, event.recorded_at),
        by=str(getattr(said, "by", "")),
        reason=str(getattr(said, "reason", "")),
        rule=str(getattr(said, "rule", "")),
        text=text,
        changed=changed,
        is_erased=event.erased,
        imported_from=came_from(live, event),
    )
