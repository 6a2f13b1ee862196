"""Where else the text of an erased memory stands, and which memories hold text of what is erased.

Found by reference, both ways: the messages of sessions that showed a memory, and what was made of
those; a memory that was said to take the place of it and says one of its values again; a memory, or
something in a profile, whose sources name an event that is erased. What a preference holds of an
older one is not told: it stands in the events of that one alone. What was taken up from it under
another person names it in its origin. A memory whose source is a whole
session may hold something of it, or not: it is told apart, and no copy unless it quotes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from eventlog.errors import ItemNotFound
from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import Target
from projections import copies
from projections.affected import AffectedCall
from projections.carriers import MEMORY, Carriers, family
from projections.copies import Carrying, Copy
from projections.live import Live
from projections.memory.learned_from import learned_from, learned_of_all, memory_named
from projections.memory.recalls import recalls_of
from projections.memory.shown import shown_in
from projections.memory.stream import is_memory_stream, memory_stream
from projections.memory.taken_up import taken_up
from projections.quotes import texts_in


def of_memories(
    live: Live, carriers: Carriers, carrying: Carrying, found: Sequence[Copy]
) -> list[Copy]:
    """The copies of memories that are erased, and the memories that are copies of what is.

    ``found`` are copies that were found already: what was learned of those is one too. Raises
    EventInvalid for a damaged event.
    """
    return _Finding(live, carriers, carrying, found).copies()


def perhaps(live: Live, carriers: Carriers, found: Collection[Target]) -> list[Target]:
    """What may hold something of events that are erased, or of their copies: nobody says which
    events of their session it came from. Raises EventInvalid for a damaged event."""
    events = (each for each in learned_of_all(live, carriers, found) if not each.erased)
    targets = (Target(event.stream, event.position) for event in events)
    return [target for target in targets if target not in found]


class _Finding:
    """A search in progress: what was found is looked at in its turn."""

    def __init__(
        self, live: Live, carriers: Carriers, carrying: Carrying, found: Sequence[Copy]
    ) -> None:
        self._live, self._carriers, self._carrying = live, carriers, carrying
        self._known = {copy.target: copy.item for copy in found}
        self._known |= {target: item for target, (item, _) in carrying.items()}
        self._memories: dict[tuple[StreamKey, int], str] = {}
        """Each with the item that it is a copy of."""
        self._found: list[Copy] = []

    def copies(self) -> list[Copy]:
        for target, (item, event) in self._carrying.items():
            if event.type == MEMORY:
                self._memories[target] = item
            if is_memory_stream(event.stream):
                self._said(event, item)
        targets, memories = dict(self._known), dict(self._memories)
        while targets or memories:
            before = set(self._known), set(self._memories)
            for event, source in learned_from(self._live, self._carriers, targets.keys()):
                self._learned(event, self._known[source])
            self._taken_up(targets)
            by_stream: dict[StreamKey, dict[int, str]] = {}
            for (key, memory), item in memories.items():
                by_stream.setdefault(key, {})[memory] = item
            for key, some in by_stream.items():
                self._shown(key, some)
                self._in_their_place(key, some)
            targets = {t: item for t, item in self._known.items() if t not in before[0]}
            memories = {m: item for m, item in self._memories.items() if m not in before[1]}
        return self._found

    def _learned(self, event: RecordedEvent, item: str) -> None:
        memory = memory_named(event)
        if not memory:
            self._add(event, item)
            return
        if (event.stream, memory) not in self._memories:
            self._memories[event.stream, memory] = item
            self._add(event, item)
            with contextlib.suppress(ItemNotFound):  # a revision may name what is no memory
                for rendition in self._carriers.renditions(event.stream, str(memory)):
                    self._add(rendition, item)

    def _said(self, event: RecordedEvent, item: str) -> None:
        """The events that it came from, where they hold what it says: however short that is."""
        told = {each for text in _texts(event) if (each := _folded(text))}
        for source in event.data.get("sources") or ():
            key = self._carriers.named(str(source.get("stream", "")))
            if key is None or not told:
                continue
            for found in self._live.log.at(key, source.get("positions") or ()).values():
                texts = [_folded(text) for text in texts_in(found.data)]
                if not found.erased and any(each in text for each in told for text in texts):
                    owner = self._carriers.owner(key, found.position).key
                    self._take(Copy(owner, found.position, item, "reference"))

    def _taken_up(self, targets: Mapping[Target, str]) -> None:
        at: dict[StreamKey, list[int]] = {}
        for target in targets:
            if is_memory_stream(target.stream):
                at.setdefault(target.stream, []).append(target.position)
        some = [e for key, all in at.items() for e in self._live.log.at(key, all).values()]
        for event, of in taken_up(self._live, some):
            self._learned(event, targets[Target(of.stream, of.position)])

    def _shown(self, key: StreamKey, memories: Mapping[int, str]) -> None:
        for recall in recalls_of(self._live, key, memories):
            event = self._carriers.carrying(recall.stream, recall.item)
            if event is None:
                continue
            item = next(memories[id] for id in recall.ids if id in memories)
            self._add(event, item)
            for asked in self._live.log.at(recall.stream, [recall.position]).values():
                if asked.data.get("query"):  # what was looked for is much like what was found
                    self._add(asked, item)
            name = recall.item.partition("@")[0]
            for copy in copies.references(self._carriers, recall.stream, [name], self._carrying):
                self._take(copy._replace(item=item))

    def _in_their_place(self, key: StreamKey, memories: Mapping[int, str]) -> None:
        """Those that were said to take their place, and say a value of theirs again."""
        for event in self._live.log.read(key, types=[MEMORY], containing='"supersedes":['):
            values = _values(event)
            for memory in event.data.get("supersedes", ()) if values else ():
                if memory in memories and values & self._values_of(key, memory):
                    self._learned(event, memories[memory])

    def _values_of(self, key: StreamKey, memory: int) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        with contextlib.suppress(ItemNotFound):
            for event in self._carriers.renditions(key, str(memory)):
                found |= _values(event)
        return found

    def _add(self, event: RecordedEvent, item: str) -> None:
        if not event.erased:
            self._take(Copy(event.stream, event.position, item, "reference"))

    def _take(self, copy: Copy) -> None:
        if copy.target not in self._known:
            self._known[copy.target] = copy.item
            self._found.append(copy)


def _texts(event: RecordedEvent) -> Iterator[str]:
    """What an event says is remembered, and what a profile knows, whatever it is called there."""
    values = event.data.get("values")
    for value in (event.data.get("text"), *(values.values() if isinstance(values, dict) else ())):
        yield from [value] if isinstance(value, str) else texts_in(value)


def _folded(text: str) -> str:
    """Texts that differ in case or in blanks are one."""
    return " ".join(text.casefold().split())


def _values(event: RecordedEvent) -> set[tuple[str, str]]:
    """What a preference says by name, as the event has it; nothing of what was erased."""
    values = event.data.get("values")
    return {(n, dumps(v)) for n, v in values.items()} if isinstance(values, dict) else set()


def scope(live: Live, stream: StreamKey, carrying: Carrying) -> list[StreamKey]:
    """Where quotes of what is erased are looked for: what is linked with the session, and the
    memories of its user; of a memory, the sessions that it came from and that showed it."""
    found = dict.fromkeys(family(live, stream))
    if not is_memory_stream(stream):
        found |= dict.fromkeys([memory_stream(stream.user)])
    else:
        for key in _linked(live, stream, carrying):
            found |= dict.fromkeys(family(live, key)) if key not in found else {}
    return [key for key in found if live.log.exists(key)]


def _linked(live: Live, stream: StreamKey, carrying: Carrying) -> Iterator[StreamKey]:
    there = {str(info.key): info.key for info in live.log.streams()}
    for _, event in carrying.values():
        for source in event.data.get("sources") or ():
            if source.get("stream") in there and not source.get("elsewhere"):
                yield there[source["stream"]]
    memories = [target.position for target, (_, event) in carrying.items() if event.type == MEMORY]
    for recall in recalls_of(live, stream, memories) if memories else ():
        yield recall.stream


def calls_given(live: Live, stream: StreamKey, items: Iterable[str]) -> list[AffectedCall]:
    """The calls before which some memories stood, each once, in the order of the log's streams."""
    found = {
        AffectedCall(shown.stream, int(call.number[1:]), call.position): None
        for item in items
        for shown in shown_in(live, stream.user, int(item))
        for call in shown.calls
    }
    return list(found)
