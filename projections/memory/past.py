"""How memories stood at any moment of the log.

Only what has to do with a memory is folded: its own events, and those of whatever it ever shared a
subject with, or was said to take the place of. Whoever asks of a hundred thousand memories for
three folds a handful of events.

What a redaction took is gone from the past too: an erased memory is ``is_erased`` at every moment,
and ``erased_at`` says when it went.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from functools import cached_property

from eventlog.jsonvalue import loads
from eventlog.recorded import StreamKey
from projections.live import Live
from projections.memory.folding import evolve
from projections.memory.memory import Memory, same_subject
from projections.memory.profile import Profile
from projections.memory.state import MemoryState

_CHANGES = frozenset({"memory_revised", "memory_forgotten", "memory_restored"})


class Past:
    """The memories of one person at any moment; recalls, which change only their age, left out."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        """Raises StreamNotFound, and EventInvalid for a damaged event."""
        self._live, self._stream = live, stream
        self._related = _related(live, stream)
        self._found: dict[int, list[tuple[int, Memory]]] = {}

    def load(self, memories: Iterable[int]) -> None:
        """Fold what has to do with some memories, together: cheaper than one by one."""
        groups = {self._related.group(id) for id in memories if id not in self._found}
        ids = {id for group in groups for id in self._related.members.get(group, ())}
        positions = [at for id in ids for at in self._related.positions[id]]
        state = _Recording()
        for _, event in sorted(self._live.log.at(self._stream, positions).items()):
            state.sequence = event.sequence
            evolve(state, event)
        self._found.update((id, state.found.get(id, [])) for id in ids)

    def at(self, memory: int, sequence: int) -> Memory | None:
        """A memory before a sequence of the log; None where it had not come yet."""
        if memory not in self._found:
            self.load([memory])
        found = self._found.setdefault(memory, [])
        place = bisect_left(found, sequence, key=lambda each: each[0])
        return found[place - 1][1] if place else None

    def profile_at(self, sequence: int) -> Profile:
        """The profile before a sequence of the log."""
        place = bisect_left(self._profile, sequence, key=lambda each: each[0])
        return self._profile[place - 1][1] if place else Profile()

    def profile_of(self, position: int) -> Profile:
        """The profile that was made of the events up to a position."""
        place = bisect_right(self._profile, position, key=lambda each: each[1].position)
        return self._profile[place - 1][1] if place else Profile()

    def erased_at(self, memory: int) -> int:
        """The sequence of the first redaction that took some of a memory; 0 where none did."""
        return self._erased.get(memory, 0)

    @cached_property
    def _profile(self) -> list[tuple[int, Profile]]:
        """As it was after each event that changed it, by the sequence of that."""
        found: list[tuple[int, Profile]] = []
        state = MemoryState()
        for event in self._live.log.read(self._stream, types=["profile_updated"]):
            evolve(state, event)
            if state.profile.position == event.position:
                found.append((event.sequence, state.profile))
        return found

    @cached_property
    def _erased(self) -> dict[int, int]:
        of = {at: id for id, some in self._related.positions.items() for at in some}
        found: dict[int, int] = {}
        for event in self._live.log.read_types("redacted"):
            for target in event.data.get("targets", ()):
                key = target.get("stream") or str(event.stream)
                if key == str(self._stream) and target["position"] in of:
                    found.setdefault(of[target["position"]], event.sequence)
        return found


class Pasts:
    """Those of all persons of a log, each looked at when it is asked for first, and once."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._found: dict[str, Past | None] = {}

    def of(self, key: str) -> Past | None:
        """By the full key of the stream; None where the log holds no such memories."""
        if key not in self._found:
            there = {str(info.key): info.key for info in self._live.log.streams()}
            stream = there.get(key)
            self._found[key] = Past(self._live, stream) if stream is not None else None
        return self._found[key]


class _Recording(MemoryState):
    """A state that keeps each memory as it was after each event."""

    def __init__(self) -> None:
        super().__init__()
        self.sequence = 0
        self.found: dict[int, list[tuple[int, Memory]]] = {}

    def put(self, memory: Memory) -> None:
        """Keep it, and when."""
        super().put(memory)
        found = self.found.setdefault(memory.id, [])
        if found and found[-1][0] == self.sequence:
            found.pop()
        found.append((self.sequence, memory))


# -- what has to do with each other ---------------------------------------------------------------


class _Related:
    """Memories in groups, of which none ever had to do with one of another."""

    def __init__(self) -> None:
        self.positions: dict[int, list[int]] = {}
        """The events of each memory."""
        self._in: dict[int, int] = {}
        self._about: dict[tuple[str, str], int] = {}

    def group(self, id: int) -> int:
        """The one that stands for the group of a memory."""
        while (above := self._in.get(id, id)) != id:
            self._in[id] = self._in.get(above, above)
            id = above
        return id

    def join(self, one: int, other: int) -> None:
        """They had to do with each other."""
        one, other = self.group(one), self.group(other)
        if one != other:
            self._in[max(one, other)] = min(one, other)

    def is_about(self, id: int, kind: str, subject: str) -> None:
        """A memory has a subject from here on."""
        if subject := same_subject(subject):
            self.join(id, self._about.setdefault((kind, subject), id))

    @cached_property
    def members(self) -> dict[int, Collection[int]]:
        """All memories by their groups."""
        found: dict[int, list[int]] = {}
        for id in self.positions:
            found.setdefault(self.group(id), []).append(id)
        return {group: tuple(ids) for group, ids in found.items()}


def _related(live: Live, stream: StreamKey) -> _Related:
    """Read from the payloads as they are stored: no event is made of a hundred thousand."""
    found = _Related()
    now: dict[int, tuple[str, str]] = {}
    headers = live.log.headers(stream)
    wanted = [h.position for h in headers if h.type in _CHANGES or h.type == "remembered"]
    for position, kind, payload in live.log.payloads(stream, wanted):
        data = loads(payload)
        id = position if kind == "remembered" else data["memory"]
        found.positions.setdefault(id, []).append(position)
        if kind in ("remembered", "memory_revised"):
            about, subject = now.get(id, ("fact", ""))
            about = about if data.get("kind") is None else data["kind"]
            subject = subject if data.get("subject") is None else data["subject"]
            now[id] = about, subject
            found.is_about(id, about, subject)
        for other in data.get("supersedes") or ():
            found.join(id, other)
    return found
