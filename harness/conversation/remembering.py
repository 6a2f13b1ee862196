"""What a conversation knows from earlier sessions, and shows its model.

When a session begins the profile and what is related to the first thing that is said come in, as
one message in front of it. Before each call what was forgotten since leaves it. More comes in when
it is asked for. Nothing is shown twice, and nothing as if a person said it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventlog import messages
from eventlog.errors import CtxlogError, InputRefused
from eventlog.events import Event, MessageAppended
from eventlog.jsonvalue import Json
from harness.conversation.happenings import (
    Happening,
    MemoriesChanged,
    MemoriesShown,
    NotRemembered,
)
from harness.conversation.standing_memories import (
    LABEL,
    Renewal,
    Standing,
    StandingMemories,
    owner_of,
    preferences,
    recalled,
    renewal,
)
from projections.memory.injecting import BUDGET, Injection, injection, ranked
from projections.memory.memory import Memory
from projections.memory.profile import Profile
from projections.runs import origin, position_of
from projections.tokens import counter

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation
    from harness.conversation.learning import Learning
    from harness.memory.user_memory import UserMemory
    from projections.memory.learning import LearnPolicy
    from projections.memory.recall import Found

MOST = 50
"""Memories that are asked for at once."""


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """How a conversation uses what is remembered. Making it raises InputRefused."""

    top: int = 5
    """Related memories that come in when a session begins."""
    budget: int = BUDGET
    """Tokens of the message that shows them, as strategies count."""
    learns: bool = True
    """Whether anything is learned; else only what is added by hand is remembered."""
    learning: LearnPolicy | None = None
    """From which importance on what leaves the short-term window is remembered, how much stays in
    that, and the other numbers; None: the usual ones."""

    def __post_init__(self) -> None:
        for number in (self.top, self.budget):
            if isinstance(number, bool) or not isinstance(number, int):
                raise InputRefused(f"top and budget are whole numbers, not {str(number)[:40]!r}")
        if not isinstance(self.learns, bool):
            raise InputRefused(f"learns is True or False, not {str(self.learns)[:40]!r}")
        if not 0 <= self.top <= MOST:
            raise InputRefused(f"between 0 and {MOST} memories come in, not {self.top}")
        if self.budget < 0:
            raise InputRefused(f"a budget of {self.budget} tokens is none")


@dataclass(frozen=True, slots=True)
class Shown:
    """What is to be appended so that memories stand in the context."""

    message: MessageAppended
    made: Injection
    query: str = ""
    """What they are related to, where that is not what a person says behind them."""
    embedder: str = ""
    dimension: int = 0
    fault: str = ""
    """Why only words were compared, or nothing; the message may be empty then."""


class Remembering:
    """The memory of one conversation. Without a ``UserMemory`` nothing comes in and nothing is
    learned; what is forgotten leaves in any case."""

    def __init__(
        self, of: Conversation, memory: UserMemory | None, settings: MemorySettings | None
    ) -> None:
        self.memory = memory
        self.settings = settings or MemorySettings()
        self._of = of
        self._learning: Learning | None = None
        if memory is not None and self.settings.learns:
            from harness.conversation.learning import Learning  # its rules take long to import

            self._learning = Learning(of, memory, self.settings.learning)
        self._standing = StandingMemories(of.live, of.key)
        self._owner = str(memory.key) if memory is not None else owner_of(of.key)
        self._has_begun = False

    def standing(self) -> list[Standing]:
        """The messages of the context that show memories."""
        return self._standing.among(self._of.items(), self._of.version)

    def shown(self) -> list[Memory]:
        """The memories that the context shows, of this person, as they are now."""
        if self.memory is None:
            return []
        own = [each for each in self.standing() if each.told.of == str(self.memory.key)]
        ids = [id for each in own for id in each.ids]
        found = self.memory.memories.some(ids)
        return [found[id] for id in dict.fromkeys(ids) if id in found]

    # -- when a session begins --------------------------------------------------------------------

    def is_first(self, said: MessageAppended) -> bool:
        """Whether a person says something for the first time in this conversation."""
        return self.memory is not None and not self._has_begun and said.source == "human"

    def opening(self, said: MessageAppended) -> Shown | None:
        """What comes in in front of what a person says first; None where nothing does, and where
        what came in so stands already. What was shown since somebody asked for it is no reason."""
        if self.memory is None or not self.is_first(said):
            return None
        if any(each.told.asked is not None for each in self.standing()):
            return None
        query = messages.text(said.dialect, said.message.value)
        try:
            every = self._elsewhere(preferences(self.memory.memories))
            liked = [each for each in every if self._is_alive(each)]
            own = {each.id for each in liked}
            top = self.settings.top  # preferences take no place of what else is related
            found = self._found(query, top and top + min(len(own), MOST), ())
            every = self._elsewhere(_memories(found))
            related = [each for each in every if each.id not in own][:top]
            return self._message(self.memory.profile, ranked(liked, every), related, found)
        except CtxlogError as error:  # what is not known is no reason not to answer
            return self._message(Profile(), (), (), fault=str(error))

    def began(self) -> None:
        """A person has said something: what comes in when a session begins stands in the log."""
        self._has_begun = True

    def told(self, shown: Shown, item: int, asked: int) -> Event:
        """What tells that they stand in an item; ``asked`` is the one that they are related to, 0
        for none."""
        assert self.memory is not None
        return recalled(
            self.memory.memories,
            shown.made,
            str(item),
            asked=str(asked) if asked else None,
            query=shown.query,
            embedder=shown.embedder,
            dimension=shown.dimension,
        )

    def happened(self, shown: Shown, item: int) -> MemoriesShown:
        """The same, for whoever listens."""
        made = shown.made
        return MemoriesShown(item, made.memories, made.profile, made.left_out, fault=shown.fault)

    # -- later ------------------------------------------------------------------------------------

    def more(self, query: str, top: int) -> Shown | None:
        """Memories that are related to something and do not stand in the context yet; None where
        there is none. Raises InputRefused, and what ``UserMemory.recall`` raises."""
        if not query.strip():
            raise InputRefused("what are the memories to be about?")
        if not 1 <= top <= MOST:
            raise InputRefused(f"between 1 and {MOST} memories come in at once, not {top}")
        found = self._found(query, top, [each.id for each in self.shown()])
        return self._message(Profile(), (), _memories(found), found, query=query)

    def these(self, ids: Sequence[int]) -> Shown | None:
        """These memories, but those that stand in the context already; None where there is none.

        Raises InputRefused, MemoryNotFound.
        """
        memory = self._asked()
        return self._message(Profile(), (), [memory.get(id) for id in ids])

    def due(self) -> Renewal:
        """What has to be appended so that nothing stands that is no longer to be seen."""
        of, standing, budget = self._of, self.standing(), self.settings.budget
        unexplained = self._standing.unexplained(of.items(), of.version)
        if not standing and not unexplained:
            return Renewal()
        return renewal(of.live, standing, of.version + 1, budget, self._owner, unexplained)

    def renewed(self) -> Iterator[Happening]:
        """Take out what is no longer to be seen; to be called before the context is shown."""
        of = self._of
        found = self.due()
        if not found.events:
            return
        of.append(*found.events)
        yield MemoriesShown(0, found.came, gone=found.gone)

    # -- what is learned --------------------------------------------------------------------------

    def learn(self) -> Iterator[MemoriesChanged | NotRemembered]:
        """Learn what is to be learned at once, and what has left the short-term window."""
        if self._learning is not None:
            yield from self._learning.turn()

    def end(self) -> Iterator[MemoriesChanged | NotRemembered]:
        """Learn all that is left, and what the session leaves behind as a whole."""
        if self._learning is not None:
            yield from self._learning.end()

    # ---------------------------------------------------------------------------------------------

    def _asked(self) -> UserMemory:
        if self.memory is None:
            raise InputRefused("this conversation has no memory")
        return self.memory

    def _found(self, query: str, top: int, exclude: Sequence[int]) -> Found | None:
        """Memories by their rank. Where only their words could be compared it says why."""
        memory = self._asked()
        if not query.strip() or not top:
            return None
        from projections.memory.recall import Wanted

        return memory.recall(query, Wanted(top=top, exclude=frozenset(exclude)))

    def _is_alive(self, memory: Memory) -> bool:
        return self._asked().status(memory) in ("active", "stale")

    def _elsewhere(self, memories: Iterable[Memory]) -> list[Memory]:
        """Without those that came from what stands in this context, and without what this very
        session, which is gone on with, left behind as a whole."""
        key = str(self._of.key)
        standing = {position_of(origin(item.id)) for item in self._of.items()}

        def is_here(memory: Memory) -> bool:
            places = {position for source in memory.sources for position in source.positions}
            is_own = {(each.stream, each.elsewhere) for each in memory.sources} == {(key, False)}
            is_known = bool(places) and places <= standing
            return is_own and (is_known or memory.kind == "session_summary")

        return [memory for memory in memories if not is_here(memory)]

    def _message(
        self,
        profile: Profile,
        liked: Iterable[Memory],
        related: Sequence[Memory],
        found: Found | None = None,
        *,
        query: str = "",
        fault: str = "",
    ) -> Shown | None:
        made = injection(
            profile,
            liked,
            related,
            counting=counter(),
            budget=self.settings.budget,
            standing=self.shown() if not fault else (),
            is_later=bool(self.standing()),
        )
        if found is not None and found.fault is not None:
            fault = str(found.fault)
        if not made.text and not fault and not made.left_out:
            return None
        message = MessageAppended(
            dialect="openai_chat",
            source="memory",
            label=LABEL,
            message=Json({"role": "system", "content": made.text}),
        )
        by = (found.embedder, found.dimension) if found and not fault else ("", 0)
        return Shown(message, made, query, *by, fault)


def _memories(found: Found | None) -> list[Memory]:
    return [each.memory for each in found or ()]
