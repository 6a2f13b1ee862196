"""What stood of a person's memories before each call of a session, and how those stood then.

A memory stands, or not, by the events of its own stream that came before the call in the log. So
they are folded call by call, and only where the session shows memories at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from eventlog.events import MemorySource
from eventlog.recorded import RecordedEvent, StreamKey
from projections.audit.model import MemoryRow, MemoryStanding
from projections.audit.rule import MOST_REFS
from projections.audit.subject import Recalled
from projections.live import Live
from projections.memory.folding import concerns, evolve
from projections.memory.memory import Memory
from projections.memory.profile import Profile
from projections.memory.recalls import recalls_in
from projections.memory.shown import Shown, all_shown
from projections.memory.state import MemoryState
from projections.memory.stream import is_memory_stream, memory_name
from projections.ownership import is_observed


def recalled(live: Live, stream: StreamKey) -> Recalled:
    """What the rules look at. Raises StreamNotFound, and EventInvalid for a damaged event."""
    explained = frozenset(recall.item for recall in recalls_in(live, stream))
    shown = all_shown(live, stream) if explained else {}
    rows = _Then(live).rows(stream, shown) if shown else {}
    return Recalled(rows, explained, is_observed(live.log, stream))


class _Then:
    """Memories as they stood at one call after the other."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._streams = {
            str(info.key): info.key for info in live.log.streams() if is_memory_stream(info.key)
        }
        self._erased = dict(_erased(live))
        self._states: dict[str, _State] = {}

    def rows(
        self, stream: StreamKey, shown: Mapping[int, Sequence[Shown]]
    ) -> dict[int, tuple[MemoryRow, ...]]:
        """By the positions of the calls; these in their order."""
        found = {}
        for position, call in sorted(self._live.log.at(stream, shown).items()):
            some = [row for each in shown[position] for row in self._of(each, call.sequence)]
            found[position] = tuple(some)
        return found

    def _of(self, shown: Shown, sequence: int) -> Iterator[MemoryRow]:
        state = self._at(shown.of, sequence)
        for id, rendition in shown.memories:
            memory = state.memories.get(id) if state is not None else None
            sources = named(memory.sources) if memory is not None else ()
            yield MemoryRow(
                memory=memory_name(id),
                rendition=rendition,
                of=shown.of,
                item=shown.item,
                sources=sources[:MOST_REFS],
                source_count=len(sources),
                standing=self._standing(shown.of, memory, rendition, sequence),
                since=_since(memory),
            )
        if shown.profile:
            known = state.memories.profile if state is not None else Profile()
            yield MemoryRow(
                memory="profile",
                rendition=str(shown.profile),
                of=shown.of,
                item=shown.item,
                sources=(),
                source_count=0,
                standing="revised" if known.position > shown.profile else "stands",
                since=known.position if known.position > shown.profile else 0,
            )

    def _at(self, key: str, sequence: int) -> _State | None:
        stream = self._streams.get(key)
        if stream is None:
            return None
        if key not in self._states:
            self._states[key] = _State(self._live, stream)
        self._states[key].go_on(sequence)
        return self._states[key]

    def _standing(
        self, of: str, memory: Memory | None, rendition: str, sequence: int
    ) -> MemoryStanding:
        if memory is None:
            return "unknown"
        if memory.is_erased:
            at = self._erased.get((of, memory.id), 0)
            return "erased" if at < sequence else "stands"
        if memory.stands and memory.rendition != rendition:
            return "revised"
        return memory.standing


class _State:
    """A fold in progress."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        self.memories = MemoryState()
        self._events = live.log.read(stream)
        self._next: RecordedEvent | None = next(self._events, None)

    def go_on(self, sequence: int) -> None:
        """Take in what came before a sequence of the log."""
        while self._next is not None and self._next.sequence < sequence:
            if concerns(self._next):
                evolve(self.memories, self._next)
            self._next = next(self._events, None)


def _erased(live: Live) -> Iterator[tuple[tuple[str, int], int]]:
    """Of erased events of memory streams, the sequence of the redaction, the first one last."""
    found = list(live.log.read_types("redacted"))
    for event in reversed(found):
        for target in event.data.get("targets", ()):
            key = target.get("stream") or str(event.stream)
            yield (key, target["position"]), event.sequence


def _since(memory: Memory | None) -> int:
    """The event of its stream with which it does not stand any more, or stands otherwise."""
    if memory is None or memory.is_erased:
        return 0
    revised = memory.rendition.partition("@")[2]
    return memory.forgotten_at or memory.superseded_by or int(revised or 0)


def named(sources: Iterable[MemorySource]) -> tuple[str, ...]:
    """Sources as they are typed: ``user/agent/session@3``, or the session alone."""
    return tuple(
        f"{source.stream}@{position}" if position else source.stream
        for source in sources
        for position in source.positions or (0,)
    )
