"""What stood of a person's memories before each call of a session, and how those stood then.

A memory stands, or not, by the events of its own stream that came before the call in the log. So
that stream is folded, once for all sessions, and only where one shows memories at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from eventlog.events import MemorySource
from eventlog.recorded import StreamKey
from projections.audit.model import MemoryRow, MemoryStanding
from projections.audit.rule import MOST_REFS
from projections.audit.subject import Recalled
from projections.live import Live
from projections.memory.injecting import shown_facts
from projections.memory.memory import Memory
from projections.memory.past import Past, Pasts
from projections.memory.profile import Profile, together
from projections.memory.recalls import recalls_in
from projections.memory.shown import Shown, all_shown
from projections.memory.stream import memory_name
from projections.ownership import is_observed


def recalled(live: Live, stream: StreamKey, pasts: Pasts) -> Recalled:
    """What the rules look at. Raises StreamNotFound, and EventInvalid for a damaged event."""
    explained = frozenset(recall.item for recall in recalls_in(live, stream))
    shown = all_shown(live, stream) if explained else {}
    rows = _rows(live, stream, shown, pasts) if shown else {}
    return Recalled(rows, explained, is_observed(live.log, stream))


def _rows(
    live: Live, stream: StreamKey, shown: Mapping[int, Sequence[Shown]], pasts: Pasts
) -> dict[int, tuple[MemoryRow, ...]]:
    """By the positions of the calls; these in their order."""
    ids: dict[str, dict[int, None]] = {}
    for each in (each for some in shown.values() for each in some if not each.is_elsewhere):
        ids.setdefault(each.of, {}).update(dict.fromkeys(id for id, _ in each.memories))
    for of, some_ids in ids.items():
        past = pasts.of(of)
        if past is not None:
            past.load(some_ids)
    made = _Making(pasts)
    return {
        position: tuple(row for each in shown[position] for row in made.of(each, call.sequence))
        for position, call in sorted(live.log.at(stream, shown).items())
    }


class _Making:
    """Rows in the making: the same at most calls, and then one."""

    def __init__(self, pasts: Pasts) -> None:
        self._pasts = pasts
        self._made: dict[tuple[str, str, str, str, MemoryStanding, int, int], MemoryRow] = {}

    def of(self, shown: Shown, sequence: int) -> Iterator[MemoryRow]:
        """What one message shows at a call."""
        past = self._pasts.of(shown.of) if not shown.is_elsewhere else None
        for id, rendition in shown.memories:
            memory = past.at(id, sequence) if past is not None else None
            erased = past.erased_at(id) if past is not None and memory is not None else 0
            standing = _standing(memory, rendition, bool(erased) and erased < sequence)
            sources = memory.sources if memory is not None else ()
            name = memory_name(id)
            yield self._row(shown, name, rendition, standing, _since(memory), sources)
        if shown.profile:
            yield self._profile(shown, past, sequence)

    def _profile(self, shown: Shown, past: Past | None, sequence: int) -> MemoryRow:
        """With what its facts came from; what was counted of sessions no message shows."""
        told = past.profile_of(shown.profile) if past is not None else Profile()
        now = past.profile_at(sequence) if past is not None else Profile()
        facts = shown_facts(told)
        is_old = facts != shown_facts(now)
        sources = together(
            *(
                each.sources or (MemorySource(stream=shown.of, positions=(each.position,)),)
                for each in told.known
                if (each.section, each.name) in facts
            )
        )
        standing: MemoryStanding = "revised" if is_old else "stands"
        if shown.is_elsewhere:
            standing = "unknown"
        since = now.position if is_old else 0
        return self._row(shown, "profile", str(shown.profile), standing, since, sources)

    def _row(
        self,
        shown: Shown,
        memory: str,
        rendition: str,
        standing: MemoryStanding,
        since: int,
        sources: tuple[MemorySource, ...],
    ) -> MemoryRow:
        key = shown.of, shown.item, memory, rendition, standing, since, len(sources)
        if key not in self._made:
            names = named(sources)
            self._made[key] = MemoryRow(
                memory=memory,
                rendition=rendition,
                of=shown.of,
                item=shown.item,
                sources=names[:MOST_REFS],
                source_count=len(names),
                standing=standing,
                since=since,
            )
        return self._made[key]


def _standing(memory: Memory | None, rendition: str, was_erased: bool) -> MemoryStanding:
    if memory is None:
        return "unknown"
    if memory.is_erased:  # as it is now: what it was before that is not known any more
        return "erased" if was_erased else "stands"
    if memory.stands and memory.rendition != rendition:
        return "revised"
    return memory.standing


def _since(memory: Memory | None) -> int:
    """The event of its stream with which it does not stand any more, or stands otherwise."""
    if memory is None or memory.is_erased:
        return 0
    revised = memory.rendition.partition("@")[2]
    return memory.forgotten_at or memory.superseded_by or int(revised or 0)


def named(sources: Iterable[MemorySource]) -> tuple[str, ...]:
    """Sources as they are typed: ``user/agent/session@3``, or the session alone; of one in another
    log, where nobody can type it, that is told."""
    return tuple(
        (f"{source.stream}@{position}" if position else source.stream)
        + (" in another log" if source.elsewhere else "")
        for source in sources
        for position in source.positions or (0,)
    )
