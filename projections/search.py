"""Searching the log: which items hold what is looked for, and what became of each.

One hit an item, named by the stream whose event brought it in (or by the one that was asked for),
the newest session first, and in it the newest item. The index says which events may hold it; the
item itself, as it was brought in and as it stands now, says whether it does. So a hit is always
true, and what the index does not hold yet is found as well.

The state of a hit is that of the text that was found: an item that stands in the context as a
placeholder is *cleared* where the original holds it, and *visible* where the placeholder does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from eventlog.errors import CriticalUnknown, EventInvalid
from eventlog.happened import moment
from eventlog.recorded import RecordedEvent, StreamKey
from projections import runs
from projections.context import View
from projections.items import Item
from projections.leaving import Leaving, is_folding
from projections.live import Live
from projections.partial import partial_of
from projections.runs import Origin, Standing
from projections.search_index import Candidates, SearchIndex
from projections.search_query import Query
from projections.searchable import NOTES, Text, carried, item_texts, note_texts, safe

State = Literal[
    "visible",
    "cut",
    "cleared",
    "deduplicated",
    "replaced",
    "folded",
    "dropped",
    "rewound",
    "undone",
    "never",
    "unknown",
]
"""What became of a text: it stands in the context; a placeholder or another rendition stands in its
place; its item was folded into a summary, left without one, was rewound away, or went with a
decision that was undone; it was never in a context; or an event that this program does not know
decides about that."""

STATES: tuple[State, ...] = get_args(State)

_CHUNK = 32
"""Events that are held at a time: each may be megabytes."""


class Place(NamedTuple):
    """A session that is searched."""

    stream: StreamKey
    at: int
    """The position up to which it is searched, and at which the states hold."""
    inherited: bool
    """What it shares with the session that it was forked from too."""


@dataclass(frozen=True)
class Wanted:
    """What is looked for, and where. An empty filter lets everything pass."""

    query: Query
    areas: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    since: int | None = None
    """Microseconds since 1970."""
    until: int | None = None


@dataclass(frozen=True)
class Hit:
    """An item, or another event, that holds what was looked for."""

    stream: StreamKey
    event: RecordedEvent
    """That brought the item in."""
    item: Item | None
    """In the rendition in which it was found."""
    text: Text
    """The one of its texts that holds most of what was looked for."""
    state: State
    by: RecordedEvent | None
    """The decision with which the text left the context."""


class Search:
    """One search; ``hits`` may be left at any time."""

    def __init__(self, live: Live, index: SearchIndex, wanted: Wanted, places: Sequence[Place]):
        self._live, self._wanted = live, wanted
        self._places = places
        streams = {info.key: info for info in live.log.streams()}
        self._owners: dict[StreamKey, list[tuple[int, int, int]]] = {}
        for place in places:
            info, high = streams[place.stream], place.at
            parts = self._owners[place.stream] = []
            while True:
                parts.append((info.row, info.base, high))
                if not place.inherited or info.parent is None:
                    break
                high, info = min(high, info.base), streams[info.parent]
        rows = {row for parts in self._owners.values() for row, _, _ in parts}
        every = len(rows) == len(streams)
        self._candidates: Candidates = index.candidates(wanted.query, None if every else rows)

    @property
    def unindexed(self) -> int:
        """Events of the log that were looked at without the index."""
        return self._candidates.unindexed

    @property
    def damage(self) -> str:
        """Why the index could not be read; empty where it could."""
        return self._candidates.damage

    def hits(self) -> Iterator[Hit]:
        """What was found: the sessions in the order given, in each the newest item first."""
        for place in self._places:
            plain = self._within(place, self._candidates.plain)
            carriers = self._within(place, self._candidates.carriers)
            if plain or carriers:
                yield from _InStream(self._live, self._wanted, place).hits(plain, carriers)

    def _within(self, place: Place, found: dict[int, list[int]]) -> list[int]:
        return [
            position
            for row, low, high in self._owners[place.stream]
            for position in found.get(row, ())
            if low < position <= high
        ]


class _InStream:
    """The search of one stream."""

    def __init__(self, live: Live, wanted: Wanted, place: Place) -> None:
        self._live, self._wanted, self._place = live, wanted, place
        self._key = place.stream
        self._view: View | None = None
        with contextlib.suppress(
            CriticalUnknown, EventInvalid
        ):  # what it holds is found all the same
            self._view = live.view(self._key, place.at)
        self._first = 0 if place.inherited else live.log.stream(self._key).base
        self._leaving: Leaving | None = None
        self._tools: dict[str, str] = {}
        self._in_force: int | None = None

    def hits(self, plain: Sequence[int], carriers: Sequence[int]) -> Iterator[Hit]:
        others = self._carried_by(carriers)
        origins = {runs.position_of(item) for item in others}
        positions = sorted({*plain, *origins}, reverse=True)
        for start in range(0, len(positions), _CHUNK):
            chunk = positions[start : start + _CHUNK]
            events = self._live.log.at(self._key, chunk)
            for position in chunk:
                event = events.get(position)  # a decision may name an item that never was
                if event is not None and not event.erased and self._is_in_time(event):
                    yield from self._of(event, others)

    def _carried_by(self, positions: Sequence[int]) -> dict[Origin, list[int]]:
        """The renditions that candidates carry, by their item, the newest first."""
        found: dict[Origin, list[int]] = {}
        for start in range(0, len(positions), _CHUNK):
            chunk = self._live.log.at(self._key, positions[start : start + _CHUNK])
            for event in chunk.values():
                for item, rendition in _carried(event):
                    if rendition:
                        found.setdefault(item, []).append(rendition)
        for renditions in found.values():
            renditions.sort(reverse=True)
        return found

    def _of(self, event: RecordedEvent, others: dict[Origin, list[int]]) -> Iterator[Hit]:
        if event.type in NOTES:
            found = self._note(event)
            if found is not None:
                yield found
            return
        items = [item for item, rendition in _carried(event) if not rendition]
        for item in reversed(items):
            hit = self._item(event, item, others.get(item, []))
            if hit is not None:
                yield hit

    def _item(self, event: RecordedEvent, origin: Origin, others: list[int]) -> Hit | None:
        """The rendition in force if it holds it, else the original, else another one."""
        now = self._view.items.get(origin) if self._view is not None else None
        renditions = others
        if event.position > self._first:  # else the original is another session's hit
            renditions = [*([now] if now is not None else []), 0, *others]
        standing: list[Standing] = [
            (origin, r) for r in dict.fromkeys(renditions) if r <= self._place.at
        ]
        for (_, rendition), item in zip(standing, self._materialized(standing), strict=False):
            text = self._found(safe(item_texts(item)), item.role, event.position)
            if text is not None:
                state, by = self._state(origin, rendition, now)
                return self._passed(Hit(self._key, event, item, text, state, by))
        return None

    def _materialized(self, standing: list[Standing]) -> list[Item]:
        """The items, none where a payload is damaged: ``verify`` tells of that."""
        try:
            return self._live.materialize(self._key, standing)
        except (AttributeError, EventInvalid, LookupError, TypeError, ValueError):
            return []

    def _found(self, texts: list[Text], role: str, position: int) -> Text | None:
        """The text that holds most of the query, where those that are asked for hold all of it."""
        wanted = self._wanted
        if wanted.roles and role not in wanted.roles:
            return None
        if wanted.areas:
            texts = [text for text in texts if text.area in wanted.areas]
        if wanted.tools:
            texts = [text for text in texts if self.tool(text, position) in wanted.tools]
        best = wanted.query.best([text.text for text in texts])
        if best is None:
            return None
        return texts[best]._replace(tool=self.tool(texts[best], position))

    def _note(self, event: RecordedEvent) -> Hit | None:
        partial = partial_of(event)
        role = partial.role if partial is not None else ""
        text = self._found(safe(note_texts(event)), role, event.position)
        if text is None:
            return None
        state: State = "never"
        if event.type == "tools_declared":
            state = "visible" if event.position == self._tools_in_force() else "replaced"
        return self._passed(Hit(self._key, event, None, text, state, None))

    def _passed(self, hit: Hit) -> Hit | None:
        return hit if not self._wanted.states or hit.state in self._wanted.states else None

    def _is_in_time(self, event: RecordedEvent) -> bool:
        since, until = self._wanted.since, self._wanted.until
        if since is None and until is None:
            return True
        at = moment(event.occurred_at, event.recorded_at)
        return (since is None or at >= since) and (until is None or at < until)

    # -- what became of it ----------------------------------------------------------------------

    def _state(
        self, origin: Origin, rendition: int, now: int | None
    ) -> tuple[State, RecordedEvent | None]:
        if self._view is None:
            return "unknown", None
        if now == rendition:
            return "visible", None
        if now is not None:
            event = self._live.log.at(self._key, [now]).get(now) if now else None
            if not rendition and event is not None and event.type == "placeholder_substituted":
                return event.data.get("kind", "cleared"), event
            return "replaced", event
        if self._leaving is None:
            self._leaving = Leaving(self._live, self._key, self._place.at)
        event = self._leaving.of(origin)
        if event is None:
            return "never", None
        if is_folding(event):
            return "folded", event
        return _GONE[event.type], event

    def _tools_in_force(self) -> int:
        """The declaration of tools that the next call would be made with."""
        if self._in_force is None:
            self._in_force = 0
            kinds = ("tools_declared", "model_called")
            for event in self._live.log.read(self._key, to=self._place.at, types=kinds):
                if event.type == "tools_declared":
                    self._in_force = event.position
                elif '"tools":' in event.payload:
                    self._in_force = event.data.get("tools") or self._in_force
        return self._in_force

    def tool(self, text: Text, position: int) -> str:
        """The tool of an input or output; some dialects name it only where it is called."""
        if text.tool or not text.call_id or text.area != "output":
            return text.tool
        name = self._tools.get(text.call_id)
        if name is None:
            name = self._tools[text.call_id] = self._called(text.call_id, position)
        return name

    def _called(self, call_id: str, position: int) -> str:
        """Results stand close behind their calls: ever more is looked through, from there back."""
        high, step = position, 64
        while high > 0:
            low = max(0, high - step)
            events = self._live.log.read(self._key, low, high, types=["message_appended"])
            for event in reversed(list(events)):
                for item in self._materialized([(event.position, 0)]):
                    for part in item.parts:
                        if part.kind == "call" and part.id == call_id:
                            return part.name
            high, step = low, step * 4
        return ""


_GONE: dict[str, State] = {
    "context_compacted": "dropped",
    "repair_applied": "dropped",
    "session_rewound": "rewound",
    "decision_undone": "undone",
    "tool_result_recorded": "replaced",
}


def _carried(event: RecordedEvent) -> list[Standing]:
    try:
        return carried(event)
    except (AttributeError, EventInvalid, LookupError, TypeError, ValueError):
        return []
