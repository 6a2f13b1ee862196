"""The fold of memories over the log: one step an event, whatever the state is kept in.

Of two memories of one kind about the same subject only one stands:

* the newer takes the place of the older, and keeps how often that was recalled;
* what a person said is not replaced by what was inferred;
* of preferences with values each value is decided by itself, and those that the newer one does not
  speak of go over to it: they merge;
* whoever restores a memory decides that it stands, and the other gives way.

The one that does not stand stays readable. Forgetting the newer brings no older one back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

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
from projections.memory.profile import Profile, together, updated
from projections.memory.stream import is_memory_stream


class Store(Protocol):
    """What the memories of one person are kept in."""

    def get(self, id: int) -> Memory | None:
        """A memory; None where there is none of that id."""

    def put(self, memory: Memory) -> None:
        """Keep a memory as it is now."""

    def about(self, kind: str, subject: str) -> Memory | None:
        """The one that stands about a subject, which is given as ``same_subject`` makes it."""

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


def concerns(event: RecordedEvent) -> str:
    """The key of the stream whose memories an event changes; empty for one that changes none."""
    if event.type not in READ:
        return ""
    if event.type == "memory_recalled":
        return str(event.data.get("of", ""))
    return str(event.stream) if is_memory_stream(event.stream) else ""


def evolve(store: Store, event: RecordedEvent) -> None:
    """Take in an event that concerns these memories, in the order of the log.

    Raises EventInvalid for a damaged payload.
    """
    _STEPS[event.type](store, event)


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
        if old is not None and old.stands and old.id != id:
            memory = _gives_way(store, old, memory)
    store.put(_settled(store, memory))


def _revised(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRevised)
    memory = store.get(said.memory)
    if memory is None:
        return
    changed: dict[str, Any] = {
        name: value
        for name in ("kind", "text", "importance", "is_explicit", "subject", "area")
        if (value := getattr(said, name)) is not None
    }
    changed |= {
        name: value
        for name in ("entities", "relations")
        if (value := getattr(said, name)) is not None
    }
    explicit = changed.get("is_explicit", memory.is_explicit)
    if said.values is not None:
        changed["held"] = _held(said.values, memory.id, explicit)
    if said.importance is not None:
        changed["scored"] = ()
    at = moment(event.occurred_at, event.recorded_at)
    memory = memory.model_copy(
        update={
            **changed,
            "rendition": f"{memory.id}@{event.position}",
            "sources": together(memory.sources, said.sources),
            "refreshed_at": max(at, memory.refreshed_at),
            "is_erased": memory.is_erased or event.erased,
        }
    )
    store.put(memory)  # under its new subject, before that is looked for
    if memory.stands:
        store.put(_settled(store, memory))


def _forgotten(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryForgotten)
    memory = store.get(said.memory)
    if memory is not None and not memory.forgotten:
        store.put(
            memory.model_copy(update={"forgotten": said.rule, "forgotten_at": event.position})
        )


def _restored(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRestored)
    memory = store.get(said.memory)
    if memory is None or memory.stands or memory.is_erased:
        return
    at = moment(event.occurred_at, event.recorded_at)
    memory = memory.model_copy(
        update={
            "forgotten": "",
            "forgotten_at": 0,
            "superseded_by": 0,
            "refreshed_at": max(at, memory.refreshed_at),
        }
    )
    rival = store.about(memory.kind, same_subject(memory.subject)) if memory.subject else None
    if rival is not None and rival.id != memory.id:
        memory = _gives_way(store, rival, memory)
    store.put(memory)


def _recalled(store: Store, event: RecordedEvent) -> None:
    said = event.event
    assert isinstance(said, MemoryRecalled)
    if said.is_renewed:
        return
    at = moment(event.occurred_at, event.recorded_at)
    for id in dict.fromkeys(
        int(entry.partition("@")[0]) for entry in said.memories if _is_id(entry)
    ):
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


# -- conflicts ------------------------------------------------------------------------------------


def _settled(store: Store, memory: Memory) -> Memory:
    """A memory that just came, or changed, after what stands about its subject was looked at."""
    if not memory.subject or not memory.stands:
        return memory
    old = store.about(memory.kind, same_subject(memory.subject))
    if old is None or old.id == memory.id:
        return memory
    if memory.kind == "preference" and memory.held and old.held:
        return _merged(store, old, memory)
    if old.is_explicit and not memory.is_explicit:
        return memory.model_copy(update={"superseded_by": old.id})
    return _gives_way(store, old, memory)


def _merged(store: Store, old: Memory, new: Memory) -> Memory:
    known = {each.name: each for each in old.held}
    said = {
        each.name: each
        for each in new.held
        if each.name not in known or each.is_explicit or not known[each.name].is_explicit
    }
    if not said:
        return new.model_copy(update={"superseded_by": old.id})
    held = tuple({**known, **said}.values())
    kept = {each.memory for each in held} - {new.id}
    merged = _gives_way(store, old, new.model_copy(update={"held": held}))
    if kept:
        merged = merged.model_copy(update={"sources": together(old.sources, merged.sources)})
    return merged


def _gives_way(store: Store, old: Memory, new: Memory) -> Memory:
    """The new one, in the place of the old one."""
    store.put(old.model_copy(update={"superseded_by": new.id}))
    return new.model_copy(
        update={
            "accesses": max(new.accesses, old.accesses),
            "supersedes": (*(id for id in new.supersedes if id != old.id), old.id),
        }
    )


def _held(values: Json | None, id: int, is_explicit: bool) -> tuple[Held, ...]:
    given = values.value if values is not None else None
    return tuple(
        Held(name=name, value=Json(value), memory=id, is_explicit=is_explicit)
        for name, value in (given.items() if isinstance(given, dict) else ())
    )


def _is_id(entry: str) -> bool:
    return entry.partition("@")[0].isdecimal()
