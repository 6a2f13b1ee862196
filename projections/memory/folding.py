"""The fold of memories over the log: one step an event, whatever the state is kept in.

Of two memories of one kind about the same subject only one stands:

* the newer takes the place of the older, and keeps how often that was recalled;
* what a person said is not replaced by what was inferred, whatever that says it supersedes;
* of preferences with values each value is decided by itself, and those that the one that stands
  does not speak of go over to it: they merge;
* whoever restores a memory decides that it stands, and the other gives way.

The one that does not stand stays readable. Forgetting or erasing the newer brings no older one
back. A value that went over says what its memory says, as long as that was not forgotten or erased:
then nobody holds it any more, nor what had gone over to that one. Of an erased one nobody knows
what it was about, only what it names as superseded: whoever appends a memory names what it takes
the place of (``harness.memory.in_place_of``), and whoever erases one forgets what would stand again
all the same, which no memory names (``projections.memory.standing_again``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from eventlog.codec import UnknownEvent
from eventlog.errors import CriticalUnknown, EventInvalid
from eventlog.events import (
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryRevised,
    ProfileUpdated,
    Remembered,
)
from eventlog.happened import moment
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent
from projections.memory.memory import Held, Memory, same_subject
from projections.memory.profile import (
    MOST_SOURCES,
    Profile,
    can_be_held,
    together,
    updated,
)
from projections.memory.stream import is_memory_stream


class Store(Protocol):
    """What the memories of one person are kept in."""

    def get(self, id: int) -> Memory | None:
        """A memory; None where there is none of that id."""

    def put(self, memory: Memory) -> None:
        """Keep a memory as it is now."""

    def about(self, kind: str, subject: str) -> Memory | None:
        """The one that stands about a subject, which is given as ``same_subject`` makes it and is
        not empty."""

    @property
    def profile(self) -> Profile:
        """The profile."""

    @profile.setter
    def profile(self, profile: Profile) -> None: ...


READ = frozenset(
    {
        "remembered",
        "memory_revised",
        "memory_forgotten",
        "memory_restored",
        "profile_updated",
        "memory_recalled",
    }
)
"""Events that the state is folded from."""


IdOf = Callable[[str], str]
"""The id of the stream of that key in a log, in hexadecimal; empty where there is none."""


def concerns(event: RecordedEvent, id_of: IdOf | None = None) -> str:
    """The key of the stream whose memories an event changes; empty for one that changes none.

    A recall that came from another log may name a stream of another id: it changes none here. With
    no ``id_of`` nobody looks.
    """
    if event.type not in READ:
        return ""
    if event.type != "memory_recalled":
        return str(event.stream) if is_memory_stream(event.stream) else ""
    try:
        of, id = event.data.get("of"), event.data.get("of_id", "")
    except EventInvalid:
        return ""
    if not isinstance(of, str):
        return ""
    is_here = not id or id_of is None or str(event.stream) == of or id_of(of) == id
    return of if is_here else ""


def evolve(store: Store, event: RecordedEvent) -> None:
    """Take in an event that concerns these memories, in the order of the log.

    One that cannot be read is passed over: it takes no other memory away, and ``verify`` tells of
    it. Raises CriticalUnknown for one of a later version that says that it may not be.
    """
    try:
        said = event.event
    except EventInvalid:
        return
    if not isinstance(said, UnknownEvent):
        _STEPS[event.type](store, event)
    elif said.critical:
        raise CriticalUnknown(str(event.stream), event.position, event.type)


def _remembered(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, Remembered)
    at = moment(event.occurred_at, event.recorded_at)
    id = event.position
    memory = Memory(
        id=id,
        rendition=str(id),
        kind=said.kind,
        text=said.text,
        importance=said.importance,
        scored=said.scored,
        is_explicit=said.is_explicit,
        subject=said.subject,
        area=said.area,
        held=_held(said.values, id, said.is_explicit),
        entities=said.entities,
        relations=said.relations,
        experience=said.experience,
        summary=said.summary,
        sources=together(said.sources),
        by=said.by,
        remembered_at=at,
        refreshed_at=at,
        is_erased=event.erased,
    )
    for other in said.supersedes:
        old = store.get(other)
        # What it is about, too, is settled below. Erased, it says of nothing what it is about.
        if old is None or not old.stands or _is_about_the_same(old, memory):
            continue
        if _may_replace(memory, old):
            old, memory = _replaced(old, memory)
            store.put(old)
    store.put(_settled(store, memory))


def _revised(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRevised)
    memory = store.get(said.memory)
    if memory is None or memory.is_erased:
        return
    changed: dict[str, Any] = {
        name: value
        for name in (
            *("kind", "text", "importance", "is_explicit", "subject", "area"),
            *("entities", "relations"),
        )
        if (value := getattr(said, name)) is not None
    }
    explicit = changed.get("is_explicit", memory.is_explicit)
    if said.values is not None:
        changed["held"] = _held(said.values, memory.id, explicit)
    elif explicit != memory.is_explicit:
        changed["held"] = tuple(
            each.model_copy(update={"is_explicit": explicit}) if each.memory == memory.id else each
            for each in memory.held
        )
    if said.importance is not None:
        changed["scored"] = ()
    at = moment(event.occurred_at, event.recorded_at)
    memory = memory.model_copy(
        update={
            **changed,
            "rendition": f"{memory.id}@{event.position}",
            "sources": together(memory.sources, said.sources),
            "refreshed_at": max(at, memory.refreshed_at),
            "is_erased": event.erased,
        }
    )
    _followed(store, memory, () if memory.is_erased else memory.held)
    # Not before its rival was looked for: the store knows it under the subject that it had.
    store.put(_settled(store, memory))


def _forgotten(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryForgotten)
    memory = store.get(said.memory)
    if memory is None or memory.forgotten:
        return
    _followed(store, memory, ())
    store.put(memory.model_copy(update={"forgotten": said.rule, "forgotten_at": event.position}))


def _restored(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRestored)
    memory = store.get(said.memory)
    if memory is None or memory.stands or memory.is_erased:
        return
    _taken_back(store, memory)
    before = store.get(memory.superseded_by) if memory.superseded_by else None
    if before is not None:
        left = tuple(id for id in before.supersedes if id != memory.id)
        store.put(before.model_copy(update={"supersedes": left}))
    at = moment(event.occurred_at, event.recorded_at)
    memory = memory.model_copy(
        update={
            "forgotten": "",
            "forgotten_at": 0,
            "superseded_by": 0,
            "refreshed_at": max(at, memory.refreshed_at),
        }
    )
    rival = _rival(store, memory)
    if rival is not None:
        if _merge(rival, memory):
            memory = _with(memory, rival, (*rival.held, *memory.held))
        rival, memory = _replaced(rival, memory)
        store.put(rival)
    store.put(memory)


def _recalled(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRecalled)
    if said.is_renewed:
        return
    at = moment(event.occurred_at, event.recorded_at)
    for id in dict.fromkeys(int(found[1]) for found in map(_ID.match, said.memories) if found):
        memory = store.get(id)
        if memory is not None:
            store.put(
                memory.model_copy(
                    update={
                        "accesses": memory.accesses + 1,
                        "refreshed_at": max(at, memory.refreshed_at),
                    }
                )
            )


def _profile(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, ProfileUpdated)
    if not event.erased:
        store.profile = updated(store.profile, said, event.position)


_STEPS: dict[str, Callable[[Store, RecordedEvent], None]] = {
    "remembered": _remembered,
    "memory_revised": _revised,
    "memory_forgotten": _forgotten,
    "memory_restored": _restored,
    "memory_recalled": _recalled,
    "profile_updated": _profile,
}


_ID = re.compile(r"([1-9][0-9]{0,17})(?:@|\Z)")


# -- conflicts ------------------------------------------------------------------------------------


def _rival(store: Store, memory: Memory) -> Memory | None:
    """Another one of its kind that stands about its subject."""
    subject = same_subject(memory.subject)
    found = store.about(memory.kind, subject) if subject else None
    return found if found is not None and found.id != memory.id else None


def _settled(store: Store, memory: Memory) -> Memory:
    """A memory that just came, or changed, after what stands about its subject was looked at."""
    old = _rival(store, memory) if memory.stands else None
    if old is None:
        return memory
    wins = _may_replace(memory, old)
    if _merge(old, memory):
        known = {each.name: each for each in old.held}
        new = [e for e in memory.held if e.name not in known or _may_replace(e, known[e.name])]
        wins = wins and bool(new)
        if wins:
            memory = _with(memory, old, (*old.held, *new))
        elif new:
            old = _with(old, memory, (*old.held, *new))
    if wins:
        old, memory = _replaced(old, memory)
    else:
        memory, old = _replaced(memory, old)
    store.put(old)
    return memory


def _is_about_the_same(one: Memory, other: Memory) -> bool:
    subject = same_subject(one.subject)
    return bool(subject) and (one.kind, subject) == (other.kind, same_subject(other.subject))


def _may_replace(new: Memory | Held, old: Memory | Held) -> bool:
    return new.is_explicit or not old.is_explicit


def _merge(one: Memory, other: Memory) -> bool:
    return one.kind == "preference" and bool(one.held) and bool(other.held)


def _with(memory: Memory, other: Memory, held: Iterable[Held]) -> Memory:
    """A memory that takes in values of another one; of two by one name it holds the last."""
    named: dict[str, Held] = {each.name: each for each in held}
    taken = any(each.memory != memory.id for each in named.values())
    sources = memory.sources
    if taken:
        sources = together(other.sources[-MOST_SOURCES:], memory.sources)
    return memory.model_copy(update={"held": tuple(named.values()), "sources": sources})


def _replaced(old: Memory, new: Memory) -> tuple[Memory, Memory]:
    """Both, after the new one took the place of the old one."""
    others = (id for id in new.supersedes if id != old.id)
    accesses = max(new.accesses, old.accesses)
    return (
        old.model_copy(update={"superseded_by": new.id}),
        new.model_copy(update={"accesses": accesses, "supersedes": (*others, old.id)}),
    )


def _followed(store: Store, memory: Memory, held: Iterable[Held]) -> None:
    """Whoever holds values of a memory holds those that it says now, or none."""
    said: Mapping[str, Held] = {each.name: each for each in held if each.memory == memory.id}
    for holder in _behind(store, memory):
        kept = tuple(
            said.get(each.name, each) if each.memory == memory.id else each
            for each in holder.held
            if each.memory != memory.id or each.name in said
        )
        if kept != holder.held:
            store.put(holder.model_copy(update={"held": kept}))


def _taken_back(store: Store, memory: Memory) -> None:
    """What went over from a memory, or through it, is held by nobody that took its place."""
    holders = list(_behind(store, memory))
    went_by = {memory.id: True, **dict.fromkeys((each.id for each in holders), False)}
    for holder in holders:
        kept = tuple(each for each in holder.held if not _went_by(store, each.memory, went_by))
        if kept != holder.held:
            store.put(holder.model_copy(update={"held": kept}))


def _went_by(store: Store, id: int, known: dict[int, bool]) -> bool:
    """Whether the memory that it is known of stands on the way of a value; each way once."""
    way = []
    while id and id not in known:
        way.append(id)
        source = store.get(id)
        id = source.superseded_by if source is not None else 0
    known.update(dict.fromkeys(way, known.get(id, False)))
    return known.get(way[0] if way else id, False)


def _behind(store: Store, memory: Memory) -> Iterator[Memory]:
    """Those that took its place, one behind the other: only they hold values of it."""
    at = memory.superseded_by
    while at and (found := store.get(at)) is not None:
        yield found
        at = found.superseded_by


def _held(values: Json | None, id: int, is_explicit: bool) -> tuple[Held, ...]:
    given = values.value if values is not None else None
    return tuple(
        Held(name=name, value=Json(value), memory=id, is_explicit=is_explicit)
        for name, value in (given.items() if isinstance(given, dict) else ())
        if can_be_held(value)
    )
