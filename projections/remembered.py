"""A stream as its own events tell it, held in memory: what ``observe`` may look at.

An importer folds what its file holds, at the positions that its events have in the log, and never
reads them back from there: an event may have been erased since, and the file still says what the
model saw. What the log holds besides (pins, titles, redactions) changes no context and is not here.

An event costs what it is; a request costs its own length. Only an undo and a rewind fold anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from eventlog.events import DecisionUndone, Event
from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from projections import forms, materialize, runs
from projections.changes import entry_key, item_kind
from projections.context import DECISIONS, ITEM_TYPES, REFOLDING, View, effective, fold
from projections.expanding import Expanded, expand
from projections.items import Item
from projections.known import Earlier, Known, Undone
from projections.manifest import Piece
from projections.observe import MAX_BRANCHES, placed
from projections.partial import partial_of
from projections.parts import part_of, parted
from projections.runs import Origin, Standing

UNDONE = 4
"""Compactions that a request may show not to have been."""


class Remembered:
    """The events of one stream, taken in one after the other."""

    def __init__(self) -> None:
        self.view = View()
        self.calls = 0
        """How many calls there were, those without a manifest included."""
        self.last: Expanded | None = None
        """The manifest of the last call; None where it has none."""
        self.compacted = False
        """Whether there was a compaction since the last call."""
        self.partial: Item | None = None
        """What had come of the answer to the last call, where that did not come to its end."""
        self._events: list[RecordedEvent] = []
        self._places: list[int] = []
        self._items: dict[Standing, Item] = {}
        self._beneath: dict[Standing, int] = {}
        """What stood before a rendition came into force."""
        self.tools: list[tuple[int, str]] = []
        """(position, definitions as written) of the declared tools, the newest last."""
        self._earlier: deque[Earlier] = deque(maxlen=MAX_BRANCHES + 1)
        self._asked: set[tuple[int | None, str]] = set()
        self._answers: dict[int, list[int]] = {}
        """By call: what came back to it."""
        self._hashes: dict[tuple[Origin, int, int | None], int] = {}
        self._by_hash: dict[int, set[Origin]] = {}
        self._hashed = 0
        """How many of the items are in ``_by_hash``."""

    # -- taking in ------------------------------------------------------------------------------

    def take(self, event: Event, position: int) -> None:
        """An event that stands at that position. A call that has a manifest is for ``called``."""
        self.take_recorded(placed(event, position))

    def take_recorded(self, event: RecordedEvent) -> None:
        """An event of the log; a call with the manifest that it has there.

        Raises CriticalUnknown for one that no fold may pass over.
        """
        kind, data = event.type, event.data
        if kind == "model_called":
            sent = expand(event, self.last, self.positions)
            if sent is not None:
                self.called(event.position, sent, data.get("tools"), data.get("model", ""))
            else:
                self._called(None, data.get("tools"), data.get("model", ""))
        elif kind == "tools_declared":
            self.tools.append((event.position, forms.written(data["definitions"])))
        elif kind == "model_failed":
            self.partial = partial_of(event)
        if kind in ITEM_TYPES or kind in DECISIONS:
            self._carry(event)
            self._events.append(_light(event) if kind in ITEM_TYPES else event)
        elif not event.critical:
            return
        if kind in REFOLDING:
            self.view = fold(self._events)
        else:
            self.view.evolve(event)
        if kind == "context_compacted":
            self.compacted = True

    def called(self, position: int, sent: Expanded, tools: int | None, model: str) -> None:
        """A call with its manifest."""
        self._earlier.append(Earlier(position, sent.entries, len(sent.entries)))
        self._called(sent, tools, model)

    def _called(self, sent: Expanded | None, tools: int | None, model: str) -> None:
        self.calls += 1
        self.last, self.compacted, self.partial = sent, False, None
        self._asked.add((tools, model))

    def _carry(self, event: RecordedEvent) -> None:
        """Make the items, or the rendition, that the event carries."""
        at, events = event.position, {event.position: event}
        if event.type in ITEM_TYPES:
            self._places.append(at)
            self._make(at, events)
            call = self._items[at, 0].call
            if call:
                self._answers.setdefault(call, []).append(at)
        elif event.type in ("context_compacted", "repair_applied"):
            brought = "messages" if event.type == "context_compacted" else "inserted"
            for number in range(len(event.data.get(brought, ()))):
                self._make(f"{at}.{number}", events)
            for renamed in event.data.get("renamed", ()):
                self._rename(runs.origin(renamed["item"]), event)
        elif event.type in ("placeholder_substituted", "message_revised"):
            item = runs.origin(event.data["item"])
            original = self._items.get((item, 0))
            if original is not None:
                self._beneath[item, at] = self.view.items.get(item, 0)
                self._items[item, at] = materialize.rendered(original, at, events)

    def _rename(self, item: Origin, event: RecordedEvent) -> None:
        original = self._items.get((item, 0))
        before = self.view.items.get(item, 0)
        if original is None:
            return
        carriers = {event.position: event}
        self._beneath[item, event.position] = before
        carriers |= {e.position: e for e in self._events if e.position == before}
        self._items[item, event.position] = materialize.rendered(original, event.position, carriers)

    def _make(self, item: Origin, events: dict[int, RecordedEvent]) -> None:
        made = materialize.original(item, events)
        assert made is not None
        self._items[item, 0] = made

    # -- asking ---------------------------------------------------------------------------------

    def known(self, version: int, front: Sequence[Piece] = ()) -> Known:
        """All that ``observe`` may look at. The request's own events begin behind ``version``;
        ``front`` is known to stand at its front."""
        return Known(
            version=version,
            view=self.view,
            items=parted(self.items(self.view.standing())),
            calls=lambda: self._earlier,
            tools=self.tools,
            asked=self._asked,
            answers=lambda call: parted(self._items[at, 0] for at in self._answers.get(call, ())),
            renditions=self._renditions,
            sent=lambda call: self._sent(call.pieces),
            front=front,
            keys=lambda pieces: map(self._hash, pieces),
            stood=self._stood,
            at=lambda position: fold([e for e in self._events if e.position <= position]),
            undone=self._undone,
            partial=self.partial,
        )

    def _hash(self, piece: Piece) -> int:
        """The hash of the key of a piece, made once."""
        name = (*piece.standing, piece.part)
        if name not in self._hashes:
            item = part_of(self._items[piece.standing], piece)
            self._hashes[name] = hash(entry_key(item_kind(item), item.message))
        return self._hashes[name]

    def _stood(self, keys: Iterable[int]) -> bool:
        for item, rendition in islice(self._items, self._hashed, None):
            known = parted([self._items[item, rendition]])
            for each in known:
                self._by_hash.setdefault(
                    self._hash(Piece(item, rendition, part=each.part)), set()
                ).add(item)
        self._hashed = len(self._items)
        return any(self._by_hash.get(key, set()) - self.view.items.keys() for key in keys)

    def _undone(self) -> Iterator[Undone]:
        taken = [e for e in effective(self._events)[0] if e.type == "context_compacted"]
        positions: list[int] = []
        for event in taken[: -1 - UNDONE : -1]:
            positions.append(event.position)
            undo = [DecisionUndone(target=position) for position in positions]
            at = enumerate(undo, self._events[-1].position + 1)
            view = fold([*self._events, *(placed(event, n) for n, event in at)])
            view.version = self.view.version
            yield Undone(tuple(positions), view, parted(self.items(view.standing())))

    def preview(self, pieces: Iterable[Piece], made: Mapping[int, RecordedEvent]) -> list[Item]:
        """What pieces name in a manifest, also of events that are not yet taken. There an erased
        item has no rendition, so that what a repair renamed in it is a form."""
        found = []
        for piece in pieces:
            item, rendition = piece.item, 0 if piece.redacted else piece.rendition
            known = self._items.get((item, rendition))
            if known is None:
                original = self._items.get((item, 0)) or materialize.original(item, made)
                assert original is not None
                known = materialize.rendered(original, rendition, made) if rendition else original
            found.append(part_of(known, piece))
        return found

    def items(self, standing: Iterable[Standing]) -> list[Item]:
        """Items in the renditions that are named."""
        return [self._items[each] for each in standing]

    def _sent(self, pieces: Iterable[Piece]) -> Iterator[Item]:
        return (part_of(self._items[piece.standing], piece) for piece in pieces)

    def positions(self, low: int, high: int) -> list[int]:
        """The positions of the items of the stream in a range."""
        places = self._places
        return places[bisect_left(places, low) : bisect_right(places, high)]

    def _renditions(self, item: Origin) -> list[tuple[int, Item]]:
        chain: list[tuple[int, Item]] = []
        current = self.view.items.get(item, 0)
        while current:
            current = self._beneath[item, current]
            chain.append((current, self._items[item, current]))
        return chain


def _light(event: RecordedEvent) -> RecordedEvent:
    """The event without its text: what a fold reads of it."""
    kept = ((name, event.data.get(name)) for name in ("after", "tool_call_id"))
    return event.without_text(dumps({name: value for name, value in kept if value is not None}))
