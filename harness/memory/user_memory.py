"""The memory of one person, to be written to and asked.

    memory = UserMemory(open_log("agent.db"), "ada")
    memory.add("We deploy on Fridays only", kind="project", importance=0.8)

Each change is an event in the person's own stream: what is revised or forgotten stays readable, and
can be taken back. Two processes may write at once; the order of the log decides.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from eventlog.clock import now_us
from eventlog.errors import EventIdConflict, InputRefused, PartialRepeat, WrongExpectedVersion
from eventlog.events import (
    Entity,
    Event,
    Experience,
    MemoryForgotten,
    MemoryKind,
    MemoryRestored,
    MemoryRevised,
    MemorySource,
    ProfileSection,
    ProfileUpdated,
    Relation,
    Remembered,
)
from eventlog.happened import iso
from eventlog.jsonvalue import Json
from eventlog.recorded import Draft
from harness.memory.checked import checked_importance, checked_kind, checked_text
from harness.memory.given import (
    checked_all,
    checked_values,
    checked_whole,
    checked_word,
    made,
)
from harness.memory.in_place_of import in_place_of
from projections.live import Live
from projections.memory.embedding import Embedder
from projections.memory.knowledge import knowledge_after, with_knowledge
from projections.memory.lifecycle import Due, LifePolicy, Status, due, status, why_due
from projections.memory.memory import Memory, same_subject
from projections.memory.profile import SECTIONS, Profile
from projections.memory.recall import Found, Recall, Wanted
from projections.memory.table import Memories

_TRIES = 32


class UserMemory:
    """What is remembered of one person. Holds no state of its own but what is derived."""

    def __init__(
        self,
        live: Live,
        user: str = "local",
        *,
        embedder: Embedder | None = None,
        policy: LifePolicy | None = None,
        clock: Callable[[], int] = now_us,
    ) -> None:
        """``embedder`` finds what is related; without one it is that which needs nothing. ``clock``
        gives the time where a call does not, in microseconds since 1970.

        Raises InputRefused for what is no log, EventInvalid for what is no name of a person.
        """
        if not isinstance(live, Live) or not isinstance(user, str):
            raise InputRefused("a memory is of an open log, and of a person by name")
        self.live, self.user = live, user
        self.policy = policy or LifePolicy()
        self.clock = clock
        self._embedder = embedder
        self._recall: Recall | None = None
        self.memories = Memories(live, user)
        self.key = self.memories.key

    # -- what is there ----------------------------------------------------------------------------

    def get(self, memory: int) -> Memory:
        """A memory, whether or not it stands. Raises MemoryNotFound."""
        return self.memories.get(checked_whole("the name of a memory", memory))

    def all(self, *, standing: bool = True) -> Iterable[Memory]:
        """By their ids: those that stand, or every one that there ever was."""
        return self.memories.all(standing=standing)

    @property
    def profile(self) -> Profile:
        """What is known of the person by name."""
        return self.memories.profile

    def status(self, memory: Memory, now: int | None = None) -> Status:
        """Where in its life a memory is."""
        return status(memory, self._moment(now), self.policy)

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors."""
        if self._embedder is None:
            from harness.embedders import default

            self._embedder = default()
        return self._embedder

    def recall(self, query: str, wanted: Wanted | None = None, now: int | None = None) -> Found:
        """The memories that are related to a text, the most related first. It is no access to them:
        that is what ``MemoryRecalled`` says.

        Where the embedder cannot answer words alone speak, and ``fault`` says why. Raises
        Busy, and what a damaged log raises.
        """
        if not isinstance(query, str) or not isinstance(wanted or Wanted(), Wanted):
            raise InputRefused("memories are looked for with a text, and with a Wanted")
        if self._recall is None:
            self._recall = Recall(self.live, self.user, self.embedder, self.policy)
        return self._recall.find(query, wanted or Wanted(), self._moment(now))

    # -- changes ----------------------------------------------------------------------------------

    def add(
        self,
        text: str,
        *,
        kind: MemoryKind = "fact",
        importance: float = 1.0,
        explicit: bool = True,
        subject: str = "",
        area: Literal["", "technical", "interaction"] = "",
        values: Mapping[str, object] | None = None,
        entities: Sequence[Entity] = (),
        relations: Sequence[Relation] = (),
        experience: Experience | None = None,
        sources: Sequence[MemorySource] = (),
        by: str = "human",
        at: int | None = None,
    ) -> int:
        """Remember something; the id of the memory. What a person asked for counts 1.0. What the
        text speaks of by name is noted beside the entities and relations that are given. Of a
        preference what is not given of area, subject and values is read from the text by the rules
        of a conversation. ``at`` is when it came up, in microseconds since 1970, if not now.

        Raises InputRefused for an empty or a very long text and for a wrong kind or importance,
        EventInvalid for what is no JSON, and what an append raises.
        """
        checked_word("a subject", subject)
        if values is not None:
            checked_values(values)
        if checked_kind(kind) == "preference":
            from projections.memory.preferences import stated  # its rules take long to import

            about = stated(checked_text(text), subject, values)
            subject, area = about.subject, area or about.area
            values = values or about.values
        event = made(
            Remembered,
            kind=kind,
            text=checked_text(text),
            importance=checked_importance(importance),
            scored=(f"explicit {importance:.2f}",) if explicit else (),
            is_explicit=explicit,
            subject=subject,
            area=area,
            values=Json(dict(values)) if values else None,
            entities=checked_all("entities", entities, Entity),
            relations=checked_all("relations", relations, Relation),
            experience=experience,
            sources=checked_all("sources", sources, MemorySource),
            by=by,
        )
        event = with_knowledge(event)
        return self.append(
            event if at is None else Draft(event, occurred_at=iso(checked_whole("a time", at)))
        )

    def revise(
        self,
        memory: int,
        *,
        text: str | None = None,
        kind: MemoryKind | None = None,
        importance: float | None = None,
        subject: str | None = None,
        area: Literal["", "technical", "interaction"] | None = None,
        values: Mapping[str, object] | None = None,
        entities: Sequence[Entity] | None = None,
        relations: Sequence[Relation] | None = None,
        sources: Sequence[MemorySource] = (),
        reason: str = "",
        by: str = "human",
    ) -> int:
        """A memory says something else from here on; the position of the event. With another text
        it speaks of what that names, unless entities or relations are given; and what it is about,
        where that was read from its old text, is read from the new one, unless any of it is given.

        Raises MemoryNotFound, InputRefused for an erased memory and as ``add`` does, and where
        nothing is to be changed.
        """
        found = self._alive(memory)
        if text is not None and entities is None and relations is None:
            entities, relations = knowledge_after(found, checked_text(text))
        if entities is not None:
            entities = checked_all("entities", entities, Entity)
        if relations is not None:
            relations = checked_all("relations", relations, Relation)
        if text is not None and not any((kind, subject is not None, area, values is not None)):
            from projections.memory.rereading import reread  # its rules take long to import

            subject, area, values = reread(found, checked_text(text))
        event = made(
            MemoryRevised,
            memory=found.id,
            text=checked_text(text) if text is not None else None,
            kind=checked_kind(kind) if kind is not None else None,
            importance=checked_importance(importance) if importance is not None else None,
            subject=subject,
            area=area,
            values=checked_values(values) if values is not None else None,
            entities=entities,
            relations=relations,
            sources=checked_all("sources", sources, MemorySource),
            is_explicit=True if by == "human" else None,
            reason=reason,
            by=by,
        )
        given = (text, kind, importance, subject, area, values, entities, relations)
        if all(each is None for each in given) and not sources:
            raise InputRefused(f"nothing of {found.name} is to be revised: give a text, say")
        return self.append(event)

    def forget(self, memory: int, reason: str = "", by: str = "human") -> bool:
        """A memory is not recalled any more; whether it was until now. Raises MemoryNotFound."""
        return bool(self.forget_all([memory], reason, by))

    def forget_all(self, memories: Iterable[int], reason: str = "", by: str = "human") -> list[int]:
        """Forget several in one append; those that were recalled until now. Raises MemoryNotFound,
        and then forgets none."""
        found = [self.get(memory) for memory in dict.fromkeys(memories)]
        gone = [each.id for each in found if not (each.forgotten or each.is_erased)]
        if gone:
            told = {"reason": reason, "by": by}
            self.append(*(made(MemoryForgotten, memory=id, **told) for id in gone))
        return gone

    def restore(self, memory: int, reason: str = "", by: str = "human") -> bool:
        """A memory stands again that was forgotten or superseded; whether it did not until now.

        Raises MemoryNotFound, InputRefused for one whose text was erased.
        """
        return bool(self.restore_all([memory], reason, by))

    def restore_all(
        self, memories: Iterable[int], reason: str = "", by: str = "human"
    ) -> list[int]:
        """Let several stand again in one append; those that did not until now. Of two about the
        same subject the later takes the place of the earlier, as if each were restored by itself.

        Raises MemoryNotFound, and InputRefused for one whose text was erased; then restores none.
        """
        back: list[Memory] = []
        for found in [self._alive(memory) for memory in dict.fromkeys(memories)]:
            if not found.stands or any(_is_rival(found, other) for other in back):
                back.append(found)
        if back:
            told = {"reason": reason, "by": by}
            self.append(*(made(MemoryRestored, memory=each.id, **told) for each in back))
        return [each.id for each in back]

    def set_profile(
        self,
        section: ProfileSection,
        values: Mapping[str, object],
        *,
        explicit: bool = True,
        reason: str = "",
        by: str = "human",
    ) -> int:
        """Something is known of the person, by name; None: nothing is known of it any more.

        Raises InputRefused for an unknown section and where nothing is given.
        """
        if section not in SECTIONS:
            raise InputRefused(f"a profile has {', '.join(SECTIONS)}, no {str(section)[:40]!r}")
        if not values:
            raise InputRefused("nothing of the profile is to be changed")
        return self.append(
            made(
                ProfileUpdated,
                section=section,
                values=checked_values(values),
                is_explicit=explicit,
                reason=reason,
                by=by,
            )
        )

    def append(self, *events: Event | Draft) -> int:
        """Append events of memory, all or none; the position of the first.

        What one of them takes the place of is named in it, so that it does not stand again when
        this one is erased. Under a clock that was given they are of its time: what is restored is
        as young there as it should be. Raises what an append raises.
        """
        at = iso(self.clock()) if self.clock is not now_us else None
        drafts = [
            each if isinstance(each, Draft) else Draft(each, occurred_at=at) for each in events
        ]
        for _ in range(_TRIES):
            version = self.live.log.version(self.key)
            named = in_place_of(self.memories, drafts, version + 1)
            with contextlib.suppress(WrongExpectedVersion):
                return self.live.append(self.key, *named, expected_version=version).first
        return self.live.append(self.key, *named).first  # others write all the time

    def append_new(self, *drafts: Draft, expected_version: int | None = None) -> list[int]:
        """Append drafts with ids of their own, each of them that does not stand there yet; the
        positions of those that are new. Whoever learns the same twice adds nothing, whatever it
        took the place of.

        ``expected_version``: of this person's stream, where they were made from what it held.
        Raises WrongExpectedVersion then, and what an append raises.
        """
        lost: Exception | None = None
        for _ in range(_TRIES):
            known = self.live.log.known_ids([draft.id for draft in drafts if draft.id is not None])
            new = [draft for draft in drafts if draft.id not in known]
            if not new:
                return []
            version = self.live.log.version(self.key)
            if expected_version not in (None, version):
                raise WrongExpectedVersion(str(self.key), expected_version or 0, version)
            named = in_place_of(self.memories, new, version + 1)
            try:
                done = self.live.append(self.key, *named, expected_version=version)
                return [] if done.repeated else list(range(done.first, done.last + 1))
            except (WrongExpectedVersion, PartialRepeat, EventIdConflict) as error:
                lost = error  # somebody else was quicker
        assert lost is not None
        raise lost

    # -- the end of a life ------------------------------------------------------------------------

    def due(self, now: int | None = None) -> list[Due]:
        """What ``gc`` would forget."""
        return list(due(self.all(), self._moment(now), self.policy))

    def gc(self, now: int | None = None) -> list[Due]:
        """Forget what is expired, and what is old and of little importance; each can be restored,
        and is as young then as one that was just recalled.

        A moment that lies behind the last refreshes finds nothing; one ahead finds what would be
        forgotten then, and what is restored before it is found again. The reason of each event says
        how old the memory was, and at which moment. It is one append: all of it or nothing. Raises
        what an append raises.
        """
        at = self._moment(now)
        lost: WrongExpectedVersion | None = None
        for _ in range(_TRIES):
            version = self.live.log.version(self.key)
            found = self.due(at)
            if not found:
                return []
            events = [
                MemoryForgotten(
                    memory=each.memory.id,
                    rule=each.rule,
                    reason=f"{why_due(each, at, self.policy)}; reckoned at {iso(at)}",
                    by="gc",
                )
                for each in found
            ]
            try:
                self.live.append(self.key, *events, expected_version=version)
                return found
            except WrongExpectedVersion as error:
                lost = error
        assert lost is not None
        raise lost

    def _moment(self, now: int | None) -> int:
        return checked_whole("a time", self.clock() if now is None else now)

    def _alive(self, memory: int) -> Memory:
        found = self.get(memory)
        if found.is_erased:
            raise InputRefused(f"the text of {found.name} was erased: nothing is left of it")
        return found


def _is_rival(one: Memory, other: Memory) -> bool:
    """Whether only one of two can stand."""
    subject = same_subject(one.subject)
    return one.kind == other.kind and bool(subject) and subject == same_subject(other.subject)
