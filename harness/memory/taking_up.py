"""A document of memories, taken up into a log: what is new of it, under the names that it has here.

It is one append, in the order of the document, behind what stands there. So of two memories about
one subject the one of the document is the newer, whenever it was remembered: where it is the older
one, that is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eventlog.errors import EventIdConflict, PartialRepeat, WrongExpectedVersion
from eventlog.events import (
    Event,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryRevised,
    MemorySource,
    ProfileUpdated,
    Remembered,
)
from eventlog.log import EventLog
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from harness.brought_in import refused
from harness.memory.documents import (
    Sourced,
    Told,
    memory_of,
    other_id,
    read_document,
    sessions_of,
)
from harness.memory.in_place_of import in_place_of
from harness.memory.user_memory import UserMemory
from projections.memory.folding import READ, concerns, evolve
from projections.memory.memory import Memory
from projections.memory.state import MemoryState, fold
from projections.memory.stream import stream_id
from projections.observe import draft_at

_TRIES = 32
_TOLD = 5
"""Warnings of one kind that are told one by one."""

_OfOne = MemoryRevised | MemoryForgotten | MemoryRestored


class Imported(NamedTuple):
    """What became of a document."""

    added: int
    """Events that are new, or would be."""
    known: int
    """Events that stood there already."""
    warnings: tuple[str, ...] = ()
    """A line each."""


class _Planned(NamedTuple):
    drafts: list[Draft]
    known: int
    left_out: int
    """References to memories that are not in the document."""


def import_memories(memory: UserMemory, document: Any, *, dry_run: bool = False) -> Imported:
    """Take up what a document tells of a person, all of it or nothing; what is known is passed
    over. With ``dry_run`` nothing is written.

    Raises InputRefused, with the place of the first fault, for what is no such document, and what
    an append raises.
    """
    told, warnings = read_document(document)
    sessions = sessions_of(document)
    lost: Exception | None = None
    for _ in range(_TRIES):
        version = memory.live.log.version(memory.key)
        planned = _plan(memory, told, version, sessions)
        found = [*warnings, *_left_out(planned.left_out), *_displaced(memory, planned, version)]
        if dry_run or not planned.drafts:
            return Imported(len(planned.drafts), planned.known, tuple(found))
        try:
            done = memory.live.append(memory.key, *planned.drafts, expected_version=version)
            new = 0 if done.repeated else len(planned.drafts)  # somebody else was quicker
            known = planned.known + len(planned.drafts) - new
            return Imported(new, known, tuple(found))
        except (WrongExpectedVersion, EventIdConflict, PartialRepeat) as error:
            lost = error
    assert lost is not None
    raise lost


def _left_out(count: int) -> list[str]:
    if not count:
        return []
    return [f"left out: {count:,} references to memories that are not in the document"]


def _plan(
    memory: UserMemory, told: Sequence[Told], version: int, sessions: Mapping[str, str] | None
) -> _Planned:
    log, key = memory.live.log, memory.key
    places = log.known_ids([id for each in told for id in (each.id, other_id(key, each.id))])
    there = _there(memory, places.values())
    drafts: list[Draft] = []
    ids: dict[int, int] = {}
    known = left_out = 0
    for each in told:
        other = other_id(key, each.id)
        found = [there[places[id]] for id in (each.id, other) if id in places]
        position = _position(key, each, found)
        if position:
            known += 1
            if isinstance(each.event, Remembered):
                ids[each.position] = position
            continue
        if isinstance(each.event, MemoryForgotten) and _is_gone(memory, ids.get(each.event.memory)):
            known += 1
            continue
        event, missing = _renamed(each.event, key, ids)
        left_out += missing
        if event is None:
            continue
        if isinstance(event, Sourced):
            twin = there.get(places[each.id]) if each.id in places else None
            event = _placed(event, memory.live.log, sessions, twin)
        drafts.append(Draft(event, id=other if each.id in places else each.id, occurred_at=each.at))
        if isinstance(event, Remembered):
            ids[each.position] = version + len(drafts)
    return _Planned(in_place_of(memory.memories, drafts, version + 1), known, left_out)


def _is_gone(memory: UserMemory, id: int | None) -> bool:
    """Whether a memory does not stand here, since what took its place was erased. A document says
    of such a one that it is forgotten."""
    found = memory.memories.find(id) if id is not None else None
    other = memory.memories.find(found.superseded_by) if found and found.superseded_by else None
    return other is not None and other.is_erased


def _placed(
    event: Sourced,
    log: EventLog,
    sessions: Mapping[str, str] | None,
    twin: RecordedEvent | None,
) -> Event:
    """An event whose sources are said to stand elsewhere, but those that stand in this log: it has
    that session, with that id. With no ids in a document, whether it stands here is known of an
    event that this log has already, of another person."""

    def is_here(source: MemorySource) -> bool:
        if sessions is not None:
            id = sessions.get(source.stream, "").replace("-", "")
            return bool(id) and stream_id(log, source.stream) == id
        said = twin.event if twin is not None else None
        return isinstance(said, Sourced) and source in said.sources

    placed = tuple(
        source
        if source.elsewhere or is_here(source)
        else source.model_copy(update={"elsewhere": True})
        for source in event.sources
    )
    changed: dict[str, Any] = {"sources": placed}
    went = placed != event.sources and all(each.elsewhere for each in placed)
    if went and isinstance(event, Remembered) and event.kind == "session_summary":
        # Else it contradicts the summary of a session that is called so here.
        changed["subject"] = f"{event.subject} in another log"
    return event.model_copy(update=changed)


def _there(
    memory: UserMemory, places: Iterable[tuple[StreamKey, int]]
) -> dict[tuple[StreamKey, int], RecordedEvent]:
    """The events at places of the log."""
    by_stream: dict[StreamKey, list[int]] = {}
    for stream, position in places:
        by_stream.setdefault(stream, []).append(position)
    return {
        (stream, position): event
        for stream, positions in by_stream.items()
        for position, event in memory.live.log.at(stream, positions).items()
    }


def _position(key: StreamKey, told: Told, there: Iterable[RecordedEvent]) -> int:
    """Where an event of a document stands already; 0 where it does not."""
    for event in there:
        if event.stream != key and not isinstance(told.event, MemoryRecalled):
            continue
        if event.type == told.event.type and concerns(event) == str(key):
            return event.position
        if event.stream == key:
            where = f"{event.position} in {key}"
            raise refused(told.where, f"its id is that of another event, {where}")
    return 0


def _renamed(event: Event, key: StreamKey, ids: Mapping[int, int]) -> tuple[Event | None, int]:
    """An event with the names that memories have here, None where it is about none of them, and how
    many names were left out."""
    if isinstance(event, Remembered):
        kept = tuple(ids[id] for id in event.supersedes if id in ids)
        return event.model_copy(update={"supersedes": kept}), len(event.supersedes) - len(kept)
    if isinstance(event, _OfOne):
        if event.memory not in ids:
            return None, 1
        return event.model_copy(update={"memory": ids[event.memory]}), 0
    if isinstance(event, MemoryRecalled):
        named = [str(ids[id]) for each in event.memories if (id := memory_of(each)) in ids]
        missing = len(event.memories) - len(named)
        if not named:
            return None, missing
        # It stands in the stream that it is of; that of the other log is told by its origin.
        changed = {"of": str(key), "of_id": "", "memories": tuple(named)}
        return event.model_copy(update=changed), missing
    assert isinstance(event, ProfileUpdated)
    return event, 0


def _displaced(memory: UserMemory, planned: _Planned, version: int) -> Iterator[str]:
    """Memories that give way to older ones of the document: the order of the log decides."""
    if not planned.drafts:
        return
    key = memory.key
    log = memory.live.log
    state = fold(log.read_all(types=READ), str(key), lambda of: stream_id(log, of))
    stood = [each for each in state if each.stands]
    for position, draft in enumerate(planned.drafts, version + 1):
        event = draft_at(draft.event, key, position)
        event.occurred_at, event.recorded_at = draft.occurred_at, memory.clock()
        evolve(state, event)
    gave_way = [(old, new) for old in stood if (new := _winner(state, old)) is not None]
    for old, new in gave_way[:_TOLD]:
        yield f"{old.name} gives way to {new.name} of the document, which is older"
    if len(gave_way) > _TOLD:
        yield f"{len(gave_way) - _TOLD:,} more give way to older ones"


def _winner(state: MemoryState, old: Memory) -> Memory | None:
    now = state.get(old.id)
    new = state.get(now.superseded_by) if now is not None and now.superseded_by else None
    return new if new is not None and new.remembered_at < old.remembered_at else None
