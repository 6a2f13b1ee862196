"""What a conversation leaves behind: learned after each reply, and when it ends.

At once what a person asked to have remembered, prefers, and said of themselves; what leaves the
short-term window, scored; at the end the rest and a summary. Each has the id that it has wherever
it is learned: whoever learns the same again adds nothing, and what a process did not learn before
it died the next one does. A failure breaks no reply, and is told.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eventlog.errors import CtxlogError, WrongExpectedVersion
from eventlog.events import ProfileUpdated, Remembered
from eventlog.recorded import Draft
from harness.conversation.happenings import MemoriesChanged, NotRemembered
from harness.conversation.whose_memory import said_by_others
from harness.memory.dating import dated
from harness.memory.keys import key_in_event
from harness.memory.user_memory import UserMemory
from projections.memory.course import READ, CourseFold
from projections.memory.interactions import Course
from projections.memory.learned import learned
from projections.memory.learning import LearnPolicy
from projections.memory.memory import Memory
from projections.memory.short_term import left
from projections.memory.summary import closing, summarized_to

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

_TRIES = 32

Learned = MemoriesChanged | NotRemembered


class Learning:
    """What one conversation learns."""

    def __init__(
        self, of: Conversation, memory: UserMemory, policy: LearnPolicy | None = None
    ) -> None:
        """``policy``: its numbers; None: the usual ones."""
        self.memory = memory
        self.policy = policy or LearnPolicy()
        self._of = of
        self._began = of.version
        """Where this conversation took the session up."""
        self._fold = CourseFold()
        self._known: set[uuid.UUID] = set()
        """What was appended from here, or refused."""
        self._erased = 0
        """The last erasure that the fold knows of."""
        self._left = 0
        """Interactions that have left the window, and were looked at then."""
        self._ended_at = 0
        """The position up to which this conversation was ended."""

    def turn(self) -> Iterator[Learned]:
        """Learn what is to be learned at once, and what has left the window."""
        yield from self._tried(ended=False)

    def end(self) -> Iterator[Learned]:
        """Learn all that is left, and the summary; nothing where nothing was said since the last
        one."""
        if self._ended_at < self._of.live.log.version(self._of.key):
            yield from self._tried(ended=True)

    def _tried(self, *, ended: bool) -> Iterator[Learned]:
        try:
            found = self._kept(ended=ended)
        except CtxlogError as error:
            yield NotRemembered(str(error))
        except Exception as error:  # a rule that a text breaks is no reason to lose an answer
            yield NotRemembered(f"{type(error).__name__}: {error}")
        else:
            yield from found

    def _kept(self, *, ended: bool) -> list[Learned]:
        """What was learned. Who ends a session while another process does counts it anew, with what
        that one has counted."""
        for _ in range(_TRIES):
            with contextlib.suppress(WrongExpectedVersion):
                return list(self._learn(self.memory, ended=ended))
        return list(self._learn(self.memory, ended=ended))

    def _learn(self, memory: UserMemory, *, ended: bool) -> Iterator[Learned]:
        version = memory.live.log.version(memory.key)  # before anything is read
        key, into = str(self._of.key), str(memory.key)
        course = self._course()
        part = course if ended else self._new(course)
        found = [[draft] for draft in learned(part, self.policy, into=into, ended=ended)]
        if ended:
            since = summarized_to(_summaries(memory, key), key)
            # A session is counted with its summary, or it would be counted again.
            found.append(closing(course, self.policy, into=into, since=since))
        kept: list[Draft] = []
        secrets: list[str] = []
        for together in found:
            new = [draft for draft in together if draft.id not in self._known]
            shapes = [key_in_event(draft.event) for draft in new]
            held = [shape[0] for shape in shapes if shape is not None]
            kept += [] if held else new
            secrets += held[:1]
            self._known |= {draft.id for draft in new if held and draft.id is not None}
        expected = version if ended else None
        at = memory.append_new(*dated(memory.live, kept), expected_version=expected)
        self._known |= {draft.id for draft in kept if draft.id is not None}
        self._left = len(left(course, self.policy.capacity))
        if ended:
            self._ended_at = course.position
        changed = _changed(memory, at)
        if changed is not None:
            yield changed
        for secret in secrets:
            yield NotRemembered(f"it holds what looks like a key ({secret})")

    def _new(self, course: Course) -> Course:
        """The course without what had left the window before: that was learned. A rewind may bring
        some of it into the window again."""
        before = min(self._left, len(left(course, self.policy.capacity)))
        return course.model_copy(update={"interactions": course.interactions[before:]})

    def _course(self) -> Course:
        """The course of the session as it stands."""
        erased = self._of.stream.redactions()
        if erased != self._erased:  # what earlier events say may be gone
            self._fold, self._erased = CourseFold(), erased
        log, position = self._of.live.log, self._fold.position
        events = log.read(self._of.key, position, types=[*READ])
        for event in events:
            self._fold.evolve(event)
        course = self._fold.course
        others = said_by_others(self._of.live, self._of.key, str(self.memory.key), self._began)
        if not others:
            return course
        own = [each for each in course.interactions if each.said and each.said[0].position > others]
        return course.model_copy(update={"interactions": own})


def _summaries(memory: UserMemory, key: str) -> Iterator[Memory]:
    """The summaries of a session that there ever were, erased ones too: they are known by where
    they came from."""
    here = "row in (select row from memories_sources where session = ?)"
    return memory.memories.where(f"kind = 'session_summary' and {here}", (key,))


def _changed(memory: UserMemory, positions: Sequence[int]) -> MemoriesChanged | None:
    """What stands at these positions newly; None for nothing."""
    if not positions:
        return None
    events = memory.live.log.at(memory.key, positions)
    told = [events[position].event for position in positions if position in events]
    ids = [position for position in positions if isinstance(events[position].event, Remembered)]
    found = memory.memories.some(ids)
    profile = [
        f"{each.section}.{name}"
        for each in told
        if isinstance(each, ProfileUpdated)
        for name in each.values.value
    ]
    return MemoriesChanged(
        tuple(found[id] for id in ids if id in found), tuple(dict.fromkeys(profile))
    )
