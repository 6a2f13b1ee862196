"""What takes the place of what, named in an event before it is appended.

Which of two about one subject stands is decided by the fold, by their subjects. Of an erased one
nobody knows the subject any more; what it names as superseded is kept of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eventlog.events import Remembered
from eventlog.recorded import Draft
from projections.memory.folding import concerns, evolve
from projections.memory.memory import Memory, same_subject
from projections.memory.state import MemoryState
from projections.memory.table import Memories
from projections.observe import draft_at


def in_place_of(memories: Memories, drafts: Iterable[Draft], first: int) -> list[Draft]:
    """The same drafts, each memory of them with all that it will take the place of, if they stand
    from position ``first`` on and nothing comes in between. Nothing is written.

    Raises EventInvalid for what cannot be appended either.
    """
    ahead, key = _Ahead(memories), memories.key
    found = []
    for position, draft in enumerate(drafts, first):
        event = draft_at(draft.event, key, position)
        if concerns(event) == str(key):
            evolve(ahead, event)
        found.append(_named(draft, ahead.get(position)))
    return found


def _named(draft: Draft, memory: Memory | None) -> Draft:
    event = draft.event
    if memory is None or not isinstance(event, Remembered):
        return draft
    more = [id for id in memory.supersedes if id not in event.supersedes]
    if not more:
        return draft
    return replace(draft, event=event.model_copy(update={"supersedes": (*event.supersedes, *more)}))


class _Ahead(MemoryState):
    """A state that goes on from what is remembered, and keeps nothing of it."""

    def __init__(self, memories: Memories) -> None:
        super().__init__()
        self._there = memories

    def get(self, id: int) -> Memory | None:
        return super().get(id) or self._there.find(id)

    def about(self, kind: str, subject: str) -> Memory | None:
        found = super().about(kind, subject) or self._there.about(kind, subject)
        # What stands in the log may have given way here already.
        return self.get(found.id) if found is not None and self._still(found, subject) else None

    def _still(self, memory: Memory, subject: str) -> bool:
        now = self.get(memory.id)
        same = now is not None and (now.kind, same_subject(now.subject)) == (memory.kind, subject)
        return same and now is not None and now.stands
