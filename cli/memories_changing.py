"""Remembering, revising, forgetting and restoring on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cli.memories import id_of, kinds_of, moment_of, row_of
from cli.memory_values import (
    Area,
    area_of,
    clean,
    entities_of,
    refuse_keys,
    relations_of,
    sources_of,
    text_of,
    values_of,
)
from cli.models_memory import (
    DueRow,
    MemoryAddData,
    MemoryChanged,
    MemoryChangesData,
    MemoryGcData,
    MemoryRow,
)
from cli.render_memory import value_text
from eventlog.errors import InputRefused
from eventlog.events import Entity, Event, MemoryKind, ProfileUpdated, Relation, Remembered
from eventlog.happened import iso, source_moment
from eventlog.recorded import Draft
from harness.memory import UserMemory
from harness.memory.checked import checked_importance, checked_text
from harness.memory.wishes import wished
from projections.memory.knowledge import with_knowledge
from projections.memory.learned import fact_subject
from projections.memory.lifecycle import why_due
from projections.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed of a memory; None, or nothing in it: it was not."""

    text: str | None = None
    kind: str = ""
    importance: float | None = None
    subject: str | None = None
    area: str = ""
    values: Sequence[str] = ()
    sources: Sequence[str] = ()
    entities: Sequence[str] = ()
    relations: Sequence[str] = ()
    force: bool = False


class Given(NamedTuple):
    """What was typed of a memory, as it is meant: read before a log is made for it."""

    text: str | None
    kind: MemoryKind | None
    importance: float | None
    subject: str | None
    area: Area
    values: dict[str, object]
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    sources: Sequence[str]
    """As they were typed: what they name stands in the log."""
    at: int | None = None


def given(typed: Typed) -> Given:
    """What was typed, without what looks like a key. Raises InputRefused."""
    values = values_of(typed.values)
    text = checked_text(text_of(typed.text)) if typed.text is not None else None
    subject = clean(typed.subject, "--subject") if typed.subject is not None else None
    named = (f"{name}: {value}" for name, value in values.items())
    about = (text or "", subject or "", *typed.entities, *typed.relations, *named)
    refuse_keys(typed.force, *about, *values, values=values.values())
    return Given(
        text=text,
        kind=kinds_of([typed.kind])[0] if typed.kind else None,
        importance=None if typed.importance is None else checked_importance(typed.importance),
        subject=subject,
        area=area_of(typed.area),
        values=values,
        entities=entities_of(typed.entities),
        relations=relations_of(typed.relations),
        sources=typed.sources,
    )


def new(typed: Typed, at: str = "") -> Given:
    """What was typed of a memory that is to be added. Raises InputRefused."""
    found = given(typed)
    kind = found.kind
    if found.values or found.area:
        kind = kind or "preference"
        if kind != "preference":
            raise InputRefused(
                f"only a preference has values and an area, no {kind}: --kind preference"
            )
    return found._replace(
        kind=kind, text=checked_text(found.text or ""), at=_came_up(at) if at else None
    )


def _came_up(at: str) -> int:
    """A moment that a log can hold. Raises InputRefused."""
    found = moment_of(at)
    if source_moment(iso(found)) != found - found % 1000:
        raise InputRefused(f"--at {at[:60]!r}: a log knows no time before March 1973")
    return found


def added(memory: UserMemory, new: Given) -> MemoryAddData:
    """What was remembered, and what it took the place of.

    Where neither a kind nor a subject is given, both, and what it says of the profile, are read out
    of the text, as in a chat. Raises InputRefused; StreamNotFound and the like for a source.
    """
    if new.kind is None and new.subject is None:
        return _as_in_a_chat(memory, new)
    id = memory.add(
        new.text or "",
        kind=new.kind or "fact",
        importance=1.0 if new.importance is None else new.importance,
        subject=new.subject or "",
        area=new.area,
        values=new.values,
        entities=new.entities,
        relations=new.relations,
        sources=sources_of(memory.live, new.sources),
        at=new.at,
    )
    return _data(memory, id)


def _as_in_a_chat(memory: UserMemory, new: Given) -> MemoryAddData:
    text = new.text or ""
    sources = sources_of(memory.live, new.sources)
    events = wished(text, sources)
    told = [event for event in events if isinstance(event, Remembered)]
    # What says several things is remembered as it was typed: nothing of it may be lost.
    one = told[0] if len(told) == 1 else Remembered(text=text, subject=fact_subject(text))
    importance = 1.0 if new.importance is None else new.importance
    event = with_knowledge(
        one.model_copy(
            update={
                "text": text,
                "importance": importance,
                "scored": (f"explicit {importance:.2f}",),
                "is_explicit": True,
                "entities": new.entities,
                "relations": new.relations,
                "sources": sources,
                "by": "human",
            }
        )
    )
    profile = [event for event in events if isinstance(event, ProfileUpdated)]
    at = iso(new.at) if new.at is not None else None
    said: list[Event] = [event, *profile]
    id = memory.append(*(Draft(each, occurred_at=at) for each in said))
    data = _data(memory, id)
    data.profile = {
        f"{each.section}.{name}": value
        for each in profile
        for name, value in each.values.value.items()
    }
    return data


def revised(
    memory: UserMemory, name: str, typed: Typed, reason: str = ""
) -> tuple[MemoryAddData, str]:
    """What a memory says now, and a note on what it is about.

    Raises MemoryNotFound, InputRefused and as ``added`` does.
    """
    id = id_of(memory, name)
    before = memory.get(id)
    new = given(typed)
    if (new.values or new.area) and (kind := new.kind or before.kind) != "preference":
        raise InputRefused(
            f"only a preference has values and an area, and {before.name} is a {kind}"
        )
    memory.revise(
        id,
        text=new.text,
        kind=new.kind,
        importance=new.importance,
        subject=new.subject,
        area=new.area or None,
        values=new.values or None,
        entities=new.entities or None,
        relations=new.relations or None,
        sources=sources_of(memory.live, new.sources),
        reason=clean(reason, "--reason"),
    )
    return _data(memory, id, before), _about_note(before, memory.get(id), new)


def _about_note(before: Memory, after: Memory, new: Given) -> str:
    """What became of what a memory is about, where only its text was given; empty: nothing."""
    if new.text is None or new.subject is not None or new.values:
        return ""
    now = _about(after)
    if _about(before) != now:
        return f"read from the new text: {now or 'no subject'}"
    if not now or new.text == before.text:
        return ""
    return f"kept from before: {now}; --subject and --value change it"


def _about(memory: Memory) -> str:
    values = [f"{name} = {value_text(value)}" for name, value in memory.values.items()]
    return ", ".join([f"subject {memory.subject}"] * bool(memory.subject) + values)


def _data(memory: UserMemory, id: int, before: Memory | None = None) -> MemoryAddData:
    """A memory, and what its last event did to others; ``before``: as it was until then."""
    now = moment_of("")
    found = memory.get(id)
    known = before.supersedes if before is not None else ()
    other = found.superseded_by
    if before is not None and before.superseded_by == other:
        other = 0
    return MemoryAddData(
        user=memory.user,
        memory=row_of(memory, found, now),
        took_the_place_of=rows_of(memory, [n for n in found.supersedes if n not in known], now),
        gave_way_to=next(iter(rows_of(memory, [other], now)), None) if other else None,
    )


def rows_of(memory: UserMemory, ids: Iterable[int], now: int) -> list[MemoryRow]:
    """The memories of these ids, as rows in their order; those that there are."""
    wanted = list(ids)
    found = memory.memories.some(wanted)
    return [row_of(memory, found[id], now) for id in wanted if id in found]


# -- several at once ------------------------------------------------------------------------------


def forgotten(memory: UserMemory, names: Sequence[str], reason: str) -> MemoryChangesData:
    """Memories that are not recalled any more. Raises MemoryNotFound, and then changes none."""
    reason = clean(reason, "--reason")
    return _changes(memory, names, lambda ids: memory.forget_all(ids, reason))


def restored(memory: UserMemory, names: Sequence[str], reason: str) -> MemoryChangesData:
    """Memories that stand again. Raises MemoryNotFound and InputRefused, and then changes none."""
    reason = clean(reason, "--reason")
    return _changes(memory, names, lambda ids: memory.restore_all(ids, reason))


def _changes(
    memory: UserMemory, names: Sequence[str], change: Callable[[list[int]], list[int]]
) -> MemoryChangesData:
    """All that was named is changed at once, or nothing of it."""
    ids = list(dict.fromkeys(id_of(memory, name) for name in names))
    before = [memory.get(id) for id in ids]
    changed = change(ids)
    now = moment_of("")
    data = MemoryChangesData(user=memory.user, memories=[])
    for old in before:
        after = memory.get(old.id)
        gave_way = [id for id in after.supersedes if id not in old.supersedes]
        data.memories.append(
            MemoryChanged(
                memory=row_of(memory, after, now),
                changed=old.id in changed,
                gave_way=rows_of(memory, gave_way, now),
            )
        )
    return data


# -- the end of a life ----------------------------------------------------------------------------


def collected(memory: UserMemory, at: str, dry_run: bool) -> MemoryGcData:
    """What was forgotten by its age, or would be.

    Raises InputRefused, also for a moment ahead where it is no dry run: what is active today would
    be gone today.
    """
    now = moment_of(at)
    if not dry_run and now > moment_of(""):
        raise InputRefused(
            f"--at {at[:60]} lies ahead: only --dry-run says what would be forgotten then"
        )
    found = memory.due(now) if dry_run else memory.gc(now)
    rows = [
        DueRow(
            memory=row_of(memory, each.memory, now),
            rule=each.rule,
            reason=why_due(each, now, memory.policy),
        )
        for each in found
    ]
    return MemoryGcData(user=memory.user, at=iso(now), dry_run=dry_run, forgotten=rows)
