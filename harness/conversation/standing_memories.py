"""The memories that stand in a context, and how one leaves that is no longer to be seen.

Which rendition of a message shows which memories is told by its ``MemoryRecalled``. So whatever
brings a rendition back, an undo, a rewind, a fork, it is known what stands in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from eventlog.errors import EventInvalid
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    Event,
    MemoryRecalled,
    MessageRevised,
    ProfileUpdated,
)
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent, StreamKey
from projections import Live
from projections.items import Item
from projections.memory.injecting import ABOUT_LATER, BUDGET, Injection, injection, shown_facts
from projections.memory.memory import Memory
from projections.memory.profile import Profile, updated
from projections.memory.recalls import recall_of
from projections.memory.stream import is_memory_stream, memory_name, memory_stream, stream_id
from projections.runs import origin
from projections.tokens import counter

if TYPE_CHECKING:
    from projections.memory.table import Memories

LABEL = "memories"
"""Of the messages that show them."""

RENEWED = "memory"
"""Who decided that such a message says something else, or nothing: no strategy, and no person."""

BECAUSE = "its memories changed: "
"""The reason of such a revision begins with it; then each is named with what became of it."""

EARLIER = "what it shows is forgotten, or says something else now"
"""The reason that earlier versions gave."""

LEFT_OUT = 20
"""Memories without room that an event names, the most related; who listens is told of all."""

NOBODY = "local"
"""The user in the keys of sessions that say of nobody whose they are."""

_NAMED = 12
"""Memories whose fate a reason tells; more are counted."""

UNEXPLAINED = "nobody says which memories it shows"
"""Why a message leaves the context that came without what tells of it."""

_LONGEST = 1_000
"""Memories that took each other's place one after the other."""


class Standing(NamedTuple):
    """A message that shows memories."""

    item: Item
    told: MemoryRecalled

    @property
    def ids(self) -> tuple[int, ...]:
        """The memories, as they are shown."""
        return tuple(map(id_of, self.told.memories))


class Renewal(NamedTuple):
    """What has to be appended before the context is shown again."""

    events: tuple[Event, ...] = ()
    gone: tuple[str, ...] = ()
    """The memories that are not shown any more, as they were: ``12``, ``12@40``."""
    came: tuple[Memory, ...] = ()
    """Those that stand in their place, or as they were revised."""


class StandingMemories:
    """The memories in the context of one session, told of each event once."""

    def __init__(self, live: Live, key: StreamKey) -> None:
        self._live, self._key = live, key
        self._read = 0
        self._of: dict[str, MemoryRecalled] = {}
        self._last: dict[object, MemoryRecalled] = {}

    def unexplained(self, items: Iterable[Item], version: int) -> list[Item]:
        """Those that are labelled as such a message, and of which no event of this log says which
        memories they show: one came with a document or from another log, or a fork begins right
        behind one. What is forgotten could never leave them."""
        found = list(items)
        known = {each.item.id for each in self.among(found, version)}
        return [i for i in found if _is_ours(i) and i.form != "redacted" and i.id not in known]

    def among(self, items: Iterable[Item], version: int) -> list[Standing]:
        """The messages among these items that show memories; the context is as of ``version``."""
        found = [item for item in items if _is_ours(item)]
        if not found:
            return []
        if version < self._read:
            self._read, self._of, self._last = 0, {}, {}
        for event in self._live.log.read(self._key, self._read, version, types=["memory_recalled"]):
            said = event.event
            if isinstance(said, MemoryRecalled) and not self._is_elsewhere(event):
                self._of[said.item] = self._last[origin(said.item.partition("@")[0])] = said
        self._read = version
        named = [(i, self._of.get(i.rendition) or self._last.get(origin(i.id))) for i in found]
        return [Standing(item, told) for item, told in named if told is not None]

    def _is_elsewhere(self, event: RecordedEvent) -> bool:
        told = recall_of(event)
        return told is None or told.is_elsewhere(self._live.log)


def _is_ours(item: Item) -> bool:
    """Whether it is labelled as one that shows memories: others of that source, which a program
    puts in, are that program's."""
    return item.source == "memory" and item.label == LABEL


def id_of(entry: str) -> int:
    """The memory of ``12`` or ``12@40``; 0 for what is none."""
    id = entry.partition("@")[0]
    return int(id) if id.isdecimal() else 0


def is_renewal(event: RecordedEvent) -> bool:
    """Whether it is what made such a message say something else, or nothing."""
    if event.type == "context_compacted":
        return (event.data.get("by") or {}).get("name") == RENEWED
    reason = event.data.get("reason") or "" if event.type == "message_revised" else ""
    return reason.startswith(BECAUSE) or reason == EARLIER


def fate_in(event: RecordedEvent, memory: int) -> str:
    """What a message says became of a memory that left it with this event; empty where it does not
    say so."""
    if not is_renewal(event):
        return ""
    told = str(event.data.get("trigger") or event.data.get("reason") or "").removeprefix(BECAUSE)
    return next((each for each in told.split(", ") if f"m{memory}" in each.split()), "")


def preferences(memories: Memories) -> list[Memory]:
    """The preferences that stand: each of them is shown with the profile, whatever its area."""
    found = memories.where("stands and kind = 'preference' order by id")
    return [memory for memory in found if belongs(memory)]


def belongs(memory: Memory) -> bool:
    """Whether a memory is shown as part of the profile."""
    return memory.kind == "preference"


def recalled(
    memories: Memories, made: Injection, item: str, *, renewed: bool = False, **asked: object
) -> MemoryRecalled:
    """What tells of a message that shows memories."""
    return MemoryRecalled.model_validate(
        {
            "of": str(memories.key),
            "of_id": stream_id(memories.live.log, memories.key),
            "item": item,
            "memories": tuple(each.rendition for each in made.memories),
            "profile": made.profile,
            "left_out": tuple(each.rendition for each in made.left_out[:LEFT_OUT]),
            "is_renewed": renewed,
            **asked,
        }
    )


def owner_of(key: StreamKey) -> str:
    """The stream of the person whose memories a session may show, by its key; empty where anybody's
    may be: a session of ``local`` is of whoever is said to be that."""
    return "" if key.user == NOBODY else str(memory_stream(key.user))


def renewal(
    live: Live,
    standing: Sequence[Standing],
    position: int,
    budget: int = BUDGET,
    owner: str = "",
    unexplained: Sequence[Item] = (),
) -> Renewal:
    """What takes out of these messages that is no longer to be seen: what was forgotten, erased or
    revised since, and what another memory took the place of, which is shown instead. So is what an
    undo brought back although another message shows it by then. A message of which the text was
    erased leaves whole, and so does one of another person than the ``owner``, where there is one.

    ``position`` is that of the first of the events. What was added to a profile is no reason to
    say all of it anew; what of it does not hold any more is. What is ``unexplained`` leaves.
    """
    events: list[Event] = []
    if unexplained:
        covered = tuple(item.id for item in unexplained)
        by = DecidedBy(name=RENEWED)
        events.append(ContextCompacted(covered=covered, by=by, trigger=UNEXPLAINED))
    gone: list[str] = []
    came: list[Memory] = []
    seen: set[tuple[str, int]] = set()
    """What the messages in front show by then."""
    for each in standing:
        of = each.told.of
        if owner and of != owner:
            by = DecidedBy(name=RENEWED)
            why = "what is remembered of another person"
            events.append(ContextCompacted(covered=(each.item.id,), by=by, trigger=why))
            gone += each.told.memories
            continue
        memories = _memories(live, of)
        if memories is None:
            continue
        now = _as_they_are(memories, each.told.memories)
        lost = [entry for entry, at in now.items() if at is None or at.rendition != entry]
        held = [at for at in now.values() if at is not None and (of, at.id) not in seen]
        is_twice = len(held) + sum(at is None for at in now.values()) < len(now)
        is_changed = _profile_changed(live, memories, each.told)
        is_erased = each.item.form == "redacted"
        if lost or is_twice or is_changed or is_erased:
            behind = [other for other in standing if other is not each and other.told.of == of]
            others = {id for other in behind for id in other.ids} | {id for _, id in seen}
            # What was erased is not revised: it goes, and is not sent as "[redacted]".
            made = Injection("") if is_erased else _again(memories, each, held, others, budget)
            others_why = {
                "its text was erased": is_erased,
                "something else is known of the person": is_changed,
                "another message shows the same": is_twice,
            }
            why = _why(memories, lost, (told for told, is_so in others_why.items() if is_so))
            events += _said(each, memories, made, position + len(events), why)
            gone += now if is_erased else lost
            came += [m for m in made.memories if m.rendition not in each.told.memories]
            held = list(made.memories)
        seen |= {(of, memory.id) for memory in held}
    return Renewal(tuple(events), tuple(gone), tuple(came))


def _memories(live: Live, of: str) -> Memories | None:
    """Whose memories a message shows; None for what is no such stream, whatever a log says."""
    from projections.memory.table import Memories

    try:
        key = StreamKey.parse(of)
        return Memories(live, key.user) if is_memory_stream(key) else None
    except EventInvalid:
        return None


def _as_they_are(memories: Memories, entries: Sequence[str]) -> dict[str, Memory | None]:
    """What each of them is now, or what stands in its place; None where nothing does."""
    found = memories.some(id for entry in entries if (id := id_of(entry)))
    return {entry: _follow(memories, found.get(id_of(entry))) for entry in entries}


def _follow(memories: Memories, memory: Memory | None) -> Memory | None:
    for _ in range(_LONGEST):
        if memory is None or memory.stands:
            return memory
        if memory.is_erased or memory.forgotten:
            return None
        memory = memories.find(memory.superseded_by)
    return None


def _profile_changed(live: Live, memories: Memories, told: MemoryRecalled) -> bool:
    """Whether something of the profile that a message shows does not hold any more."""
    if not told.profile:
        return False
    before, was_erased = Profile(), False
    for event in live.log.read(memories.key, 0, told.profile, types=["profile_updated"]):
        said = event.event
        was_erased |= event.erased
        if isinstance(said, ProfileUpdated) and not event.erased:
            before = updated(before, said, event.position)
    now = shown_facts(memories.profile)
    known = shown_facts(before)
    return was_erased or any(name not in now or now[name] != known[name] for name in known)


def _again(
    memories: Memories,
    each: Standing,
    held: Sequence[Memory],
    others: Collection[int],
    budget: int,
) -> Injection:
    """The message with what stands on. One that was not asked for keeps its profile."""
    counting = counter()
    shown = memories.some(others)
    with_profile = each.told.asked is not None
    return injection(
        memories.profile if each.told.profile else Profile(),
        [memory for memory in held if with_profile and belongs(memory)],
        [memory for memory in held if not (with_profile and belongs(memory))],
        counting=counting,
        budget=max(budget, counting.count(each.item.text)),
        standing=[memory for memory in shown.values() if memory.stands],
        is_later=each.item.text.startswith(ABOUT_LATER),
    )


def _why(memories: Memories, lost: Sequence[str], also: Iterable[str]) -> str:
    """What became of what is not shown any more, and what else there is to say."""
    found = memories.some(map(id_of, lost))
    told = [_became(entry, found.get(id_of(entry))) for entry in lost]
    if len(told) > _NAMED:
        told[_NAMED:] = [f"so it is with {len(told) - _NAMED:,} more"]
    return ", ".join((*told, *also))


def _became(entry: str, memory: Memory | None) -> str:
    name = f"m{id_of(entry)}"
    if memory is None:
        return f"{name} is in this log no more"
    if memory.is_erased:
        return f"{name} was erased"
    if memory.forgotten:
        by = f" ({memory.forgotten})" if memory.forgotten != "asked" else ""
        return f"{name} was forgotten{by}"
    if memory.superseded_by:
        return f"{memory_name(memory.superseded_by)} took the place of {name}"
    return f"{name} was revised"


def _said(
    each: Standing, memories: Memories, made: Injection, position: int, why: str
) -> list[Event]:
    item, told = each.item, each.told
    if not made.text:
        by = DecidedBy(name=RENEWED)
        return [ContextCompacted(covered=(item.id,), by=by, trigger=why)]
    if made.text == item.message.get("content"):  # only what it does not show has changed
        return []
    patch = Json({"content": made.text})
    rendition = f"{item.id}@{position}"
    return [
        MessageRevised(item=item.id, patch=patch, reason=BECAUSE + why),
        recalled(memories, made, rendition, renewed=True, asked=told.asked, query=told.query),
    ]
