"""All that is remembered of a person as one JSON document, out of one log and into another.

    {"ctxlog": 1, "kind": "memory", "stream": "ada/_/memory", "erased": 0,
     "sessions": {"ada/coder/work": "0198c0de-…"}, "events": [
      {"id": …, "at": …, "position": 12, "type": "remembered", "schema_version": 1, "data": {…}},
      {"id": …, "at": …, "session": "ada/coder/work", "type": "memory_recalled", …}]}

``events`` are those of the person's stream and, where they were recalled, those of the sessions, in
the order of the log. Folded elsewhere they give the same state: what was superseded or forgotten
comes along, with all times and with how often it was recalled. A memory is named by its place in
the document; it gets another one where it is taken up.

An event keeps its id where that is free. Under another person's name, where it is not, it gets one
that is made of both. So a document that is taken up twice adds nothing, nor does one that comes
back to where it was made. Every event that was taken up names its place in the document as its
origin. A recall stands in the person's own stream then, since the session may be in no log here.

``sessions`` has the ids of the sessions that memories came from. Where a log has that session with
that id it is a source still; else it stands ``elsewhere``, whatever is called so there.

What was erased is left out, and told. What an erased memory took the place of is forgotten in the
document: it did not stand.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeGuard

from eventlog import codec
from eventlog.errors import (
    EventInvalid,
    InputRefused,
)
from eventlog.events import (
    Event,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryRevised,
    Origin,
    OriginRecord,
    ProfileUpdated,
    Remembered,
)
from eventlog.happened import moment, source_moment
from eventlog.jsonvalue import dumps
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamKey
from harness.brought_in import refused
from harness.importers.identity import uuid8
from harness.memory.checked import LONGEST
from harness.memory.given import clipped
from harness.memory.user_memory import UserMemory
from projections.memory.folding import READ, concerns
from projections.memory.state import MemoryState, fold
from projections.memory.stream import stream_id

FORMAT: Final = 1
KIND: Final = "memory"

_FIELDS = frozenset({"ctxlog", "kind", "stream", "erased", "sessions", "events"})
_TOLD = 5
"""Warnings of one kind that are told one by one."""

_LAST = 1 << 53
"""The largest position that is read: every reader of JSON knows it."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


Sourced = Remembered | MemoryRevised | ProfileUpdated
"""Events that name where they came from."""


class Told(NamedTuple):
    """An event of a document."""

    where: str
    id: uuid.UUID
    at: str | None
    position: int
    """0: a recall, which stood in a session."""
    event: Event


# -- out ------------------------------------------------------------------------------------------


def export_memories(memory: UserMemory) -> dict[str, Any]:
    """All memories of a person with their history, and the profile, as a JSON document. An event
    that cannot be read is left out, as the fold passes over it."""
    key = memory.key
    log = memory.live.log
    events = [
        event
        for event in log.read_all(types=READ)
        if concerns(event, lambda of: stream_id(log, of)) == str(key) and _is_readable(event)
    ]
    state = fold(events, str(key), lambda of: stream_id(log, of))
    gone = {each.id for each in state if each.is_erased}
    ids = {str(_first_id(event, key)) for event in events}
    told = [entry for event in events for entry in _entries(event, key, state, gone, ids)]
    own = [e for e in events if e.stream == key]
    return {
        "ctxlog": FORMAT,
        "kind": KIND,
        "stream": str(key),
        "erased": len(gone) + sum(e.erased for e in own if e.type == "profile_updated"),
        "sessions": _sessions(log, events),
        "events": told,
    }


def _sessions(log: EventLog, events: Iterable[RecordedEvent]) -> dict[str, str]:
    """The ids of the sessions in this log that events name as sources."""
    named = {
        source.stream: None
        for event in events
        if isinstance(event.event, Sourced)
        for source in event.event.sources
        if not source.elsewhere
    }
    return {key: str(uuid.UUID(id)) for key in named if (id := stream_id(log, key))}


def _entries(
    event: RecordedEvent, key: StreamKey, state: MemoryState, gone: set[int], ids: set[str]
) -> Iterator[dict[str, Any]]:
    """What a document says of an event; ``ids`` are those of all events."""
    said = event.event
    id = _first_id(event, key)
    if isinstance(said, MemoryRecalled):
        left = [each for each in said.memories if memory_of(each) not in gone]
        if left and not said.is_renewed:
            entry = _entry(event, id, {"item": said.item, "memories": left})
            if event.stream == key:
                entry["position"] = event.position
            yield {**entry, "session": _session_of(event, key)}
        return
    about = event.position if isinstance(said, Remembered) else getattr(said, "memory", 0)
    # Of one that is about a memory the names alone say what it does: its reason is erased.
    if about not in gone and (not event.erased or isinstance(said, _NAMING)):
        yield {**_entry(event, id, event.data), "position": event.position}
    elif isinstance(said, Remembered):
        for each in state:
            if each.superseded_by == about and not each.is_erased and not each.forgotten:
                why = {"memory": each.id, "reason": "what took its place was erased"}
                made = uuid8(hashlib.sha256(f"{id}/{each.id}".encode()).digest())
                if str(made) in ids:  # it was taken up from a document, and forgets no more
                    made = other_id(key, made)
                entry = _entry(event, made, why)
                yield {**entry, "type": "memory_forgotten", "position": event.position}


_NAMING = (MemoryForgotten, MemoryRestored)


def _is_readable(event: RecordedEvent) -> bool:
    try:
        return not isinstance(event.event, codec.UnknownEvent)
    except EventInvalid:
        return False


def _entry(event: RecordedEvent, id: uuid.UUID, data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(id),
        "at": _label(moment(event.occurred_at, event.recorded_at)),
        "type": event.type,
        "schema_version": codec.CLASSES[event.type].schema_version,
        "data": dict(data),
    }


def _label(at: int) -> str | None:
    """A time to the microsecond; None for one that no text can say."""
    try:
        return (_EPOCH + timedelta(microseconds=at)).isoformat(timespec="microseconds")
    except OverflowError:
        return None


def _first_id(event: RecordedEvent, key: StreamKey) -> uuid.UUID:
    """The id that an event had in the document that it came with."""
    said = event.event
    for record in said.origin.records if said.origin is not None else ():
        first = _uuid(record.id.partition(" ")[0])
        if first is not None and other_id(key, first) == event.id:
            return first
    return event.id


def _session_of(event: RecordedEvent, key: StreamKey) -> str:
    said = event.event
    if event.stream != key or said.origin is None:
        return str(event.stream)
    return next((record.id.partition(" ")[2] for record in said.origin.records), "")


# -- in -------------------------------------------------------------------------------------------


def sessions_of(document: Mapping[str, Any]) -> Mapping[str, str] | None:
    """The ids of the sessions that memories of a document came from; None where it has none, as
    those of earlier versions. Raises InputRefused."""
    found = document.get("sessions")
    if found is None:
        return None
    if not isinstance(found, dict) or not all(isinstance(id, str) for id in found.values()):
        raise InputRefused('"sessions" is no object of ids')
    return found


def read_document(document: Any) -> tuple[list[Told], list[str]]:
    """The events that a document tells of, and what is to be said of it, a line each.

    Raises InputRefused, with the place of the first fault, for what is no such document.
    """
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InputRefused(f'it holds no memories ("ctxlog": {FORMAT}, "kind": "{KIND}")')
    version = document.get("ctxlog")
    if not _is_number(version) or version != FORMAT:
        told = f"it is {str(version)[:40]}; this program reads {FORMAT}: upgrade ctxlog"
        raise refused('"ctxlog"', told)
    events = document.get("events")
    if not isinstance(events, list):
        raise InputRefused('"events" is no list')
    sessions_of(document)
    found: list[Told] = []
    unknown: Counter[str] = Counter()
    too_much: list[str] = []
    ids: set[uuid.UUID] = set()
    last = 0
    for number, entry in enumerate(events):
        each = _told(f"events.{number}", entry, unknown)
        if each is None:
            continue
        if each.id in ids:
            raise refused(each.where, f"the id {each.id} stands twice")
        if each.position and each.position < last:
            raise refused(each.where, f"position {each.position} stands behind {last}")
        ids.add(each.id)
        last = max(last, each.position)
        event, lost = clipped(each.event)
        found.append(each._replace(event=event))
        if lost:
            too_much.append(f"left out of {each.where}: {lost}")
    more = len(too_much) - _TOLD
    clips = [*too_much[:_TOLD], *([f"so it is with {more:,} more"] if more > 0 else [])]
    return found, [*_warnings(document, unknown), *clips]


def _told(where: str, entry: Any, unknown: Counter[str]) -> Told | None:
    if not isinstance(entry, dict):
        raise refused(where, "it is no object")
    kind, data, version = entry.get("type"), entry.get("data"), entry.get("schema_version", 1)
    if not isinstance(kind, str):
        raise refused(where, "its type is no text")
    if kind not in READ:
        unknown[kind] += 1
        return None
    id = _uuid(entry.get("id"))
    if id is None:
        raise refused(where, "its id is no UUID")
    at, position = entry.get("at"), entry.get("position", 0)
    if at is not None and (not isinstance(at, str) or len(at) > 64 or source_moment(at) is None):
        raise refused(where, "at is no time such as 2026-01-31T12:00:00.000000Z")
    is_recall = kind == "memory_recalled"
    if not _is_number(position) or not (not is_recall) <= position <= _LAST:
        raise refused(where, "its position is no number from 1 on")
    if not _is_number(version) or version < 1:
        raise refused(where, "its schema_version is no number from 1 on")
    if not isinstance(data, dict):
        raise refused(where, "its data is no object")
    if is_recall:
        data = {name: data[name] for name in ("item", "memories") if name in data}
        data["of"] = ""
    try:
        event = codec.decode(kind, version, False, dumps(data))
    except EventInvalid as error:
        raise refused(where, str(error).removeprefix(f"a stored {kind} does not fit: ")) from None
    if isinstance(event, codec.UnknownEvent):
        unknown[kind] += 1
        return None
    text = getattr(event, "text", None)
    if text is not None and len(text) > LONGEST:
        raise refused(where, f"a memory has at most {LONGEST:,} characters, not {len(text):,}")
    if event.origin is None or is_recall:
        session = entry.get("session", "") if is_recall else ""
        if not isinstance(session, str):
            raise refused(where, "its session is no text")
        record = OriginRecord(line=position, type=kind, id=f"{id} {session}".strip())
        event = event.model_copy(update={"origin": Origin(records=(record,))})
    return Told(where, id, at, position, event)


def _warnings(document: Mapping[str, Any], unknown: Counter[str]) -> Iterator[str]:
    for kind, count in sorted(unknown.items())[:_TOLD]:
        yield f"left out: {count:,} of {kind[:40]!r}, which is no event of memory known here"
    if len(unknown) > _TOLD:
        yield f"left out: {len(unknown) - _TOLD:,} more kinds of event"
    fields = sorted(str(name)[:40] for name in document.keys() - _FIELDS)
    if fields:
        yield f"left out: {', '.join(map(repr, fields[:_TOLD]))}"
    erased = document.get("erased")
    if _is_number(erased) and 0 < erased <= _LAST:
        yield f"not in the document: {erased:,} that had been erased"


# -- names ----------------------------------------------------------------------------------------


def other_id(key: StreamKey, id: uuid.UUID) -> uuid.UUID:
    """The id of an event whose own one stands elsewhere in the log."""
    return uuid8(hashlib.sha256(f"ctxlog/memory/1\n{key}\n{id}".encode()).digest())


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _uuid(value: Any) -> uuid.UUID | None:
    try:
        return uuid.UUID(value) if isinstance(value, str) and len(value) == 36 else None
    except ValueError:
        return None


def memory_of(entry: str) -> int:
    """The memory that an entry names; 0 where it names none."""
    name = entry.partition("@")[0]
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 19 else 0
