"""All memories of one person, folded from the events of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from projections.memory.folding import IdOf, concerns, evolve
from projections.memory.memory import Memory, same_subject
from projections.memory.profile import Profile


class MemoryState:
    """A fold in progress: the memories by their ids, and the profile."""

    def __init__(self) -> None:
        self._memories: dict[int, Memory] = {}
        self._about: dict[tuple[str, str], set[int]] = {}
        self.profile = Profile()

    def get(self, id: int) -> Memory | None:
        """A memory; None where there is none of that id."""
        return self._memories.get(id)

    def put(self, memory: Memory) -> None:
        """Keep a memory as it is now."""
        before = self._memories.get(memory.id)
        if before is not None:
            self._about.get(_group(before), set()).discard(memory.id)
        self._memories[memory.id] = memory
        group = _group(memory)
        if memory.stands and group[1]:
            self._about.setdefault(group, set()).add(memory.id)

    def about(self, kind: str, subject: str) -> Memory | None:
        """The newest that stands about a subject."""
        found = self._about.get((kind, subject))
        return self._memories[max(found)] if found else None

    def __iter__(self) -> Iterator[Memory]:
        return (self._memories[id] for id in sorted(self._memories))

    def __len__(self) -> int:
        return len(self._memories)

    def text(self) -> str:
        """All of it as JSON, a line a memory: equal states are equal texts."""
        return text_of(self, self.profile)


def text_of(memories: Iterable[Memory], profile: Profile) -> str:
    """Memories, by their ids, and a profile as JSON: equal states are equal texts."""
    lines = [dumps(memory.model_dump()) for memory in memories]
    return "\n".join([*lines, dumps(profile.model_dump())])


def fold(events: Iterable[RecordedEvent], key: str, id_of: IdOf | None = None) -> MemoryState:
    """The memories of the stream ``key`` after these events, which come in the order of the log.

    ``id_of`` tells the recalls of another log's memories (``folding.concerns``).
    """
    state = MemoryState()
    for event in events:
        if concerns(event, id_of) == key:
            evolve(state, event)
    return state


def _group(memory: Memory) -> tuple[str, str]:
    return memory.kind, same_subject(memory.subject)
