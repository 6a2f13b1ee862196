"""From a request to events: what changed in the context since the last call.

An agent that is only watched reports no decisions. They are read off its requests: the request and
the view are walked together, and what differs becomes events, marked ``inferred``. One function
serves the wrapper, the proxy and every transcript that holds true requests. It is pure: the caller
gives the salts.

=====================================================  ========================================
found in the request                                   event
=====================================================  ========================================
an entry that is like an item of the view              none
an earlier rendition of the item at its place          ``DecisionUndone`` of the later ones
the same place and call id, other content              ``PlaceholderSubstituted``
what a tool said, as text, with other text there       ``PlaceholderSubstituted``
another system prompt, other text with the same calls  ``MessageRevised``
the same answer without its thinking                   ``MessageRevised``
only some parts of an answer, or others in place       ``MessageRevised``
one message in the place of one                        the first or the second of these
runs of items gone, or replaced                        ``ContextCompacted``
anything else                                          a new item
an earlier manifest, and from there another answer     ``SessionRewound``, then new items
the last manifest again, without what was answered     ``SessionRewound``
what had left, and most of what stood with it          ``DecisionUndone`` or ``SessionRewound``
nothing of the conversation, other system or tools     a side call: no events
=====================================================  ========================================

After the events, the view is the manifest: what no single event explains is laid out by one
compaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from eventlog import codec, events, messages
from eventlog.events import Event
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent, StreamKey
from projections import forms, runs
from projections.alignment import Pair, align, slid
from projections.branches import MAX_BRANCHES as MAX_BRANCHES
from projections.branches import base_of, is_side
from projections.changes import (
    change,
    entry_key,
    entry_kind,
    item_kind,
    new_item,
)
from projections.dialects.entries import RequestEntry
from projections.items import Item
from projections.known import Earlier as Earlier
from projections.known import Known as Known
from projections.known import Request as Request
from projections.known import Undone, tools_position
from projections.manifest import Piece
from projections.runs import Origin, Standing
from projections.said_again import lines_of, repeats
from projections.sent_back import Revised, sent_back


@dataclass(frozen=True, slots=True)
class Observation:
    """What to append before the call, and what the request was made of."""

    kind: Literal["call", "branch", "side"]
    events: tuple[Event, ...]
    pieces: tuple[Piece, ...]
    """One for each entry of the request; empty for a side call."""
    tools: int | None
    """The position of the ToolsDeclared in force."""


def observe(known: Known, request: Request) -> Observation:
    """The events that explain a request, and its pieces. Nothing is appended here.

    Positions are those that the events get when they are appended at version ``known.version``.
    """
    return _Observer(known, request).run()


def continued(items: Sequence[Item], entries: Sequence[RequestEntry]) -> int | None:
    """How many entries are the items that stand, all of them and in their order, where a request
    goes on behind them; None where anything else changed, and ``observe`` has to say what."""
    if len(entries) < len(items):
        return None
    for item, entry in zip(items, entries, strict=False):
        kind = item_kind(item)
        if kind != entry_kind(entry):
            return None
        if forms.identical(item.message, entry.message):
            continue
        if entry_key(kind, item.message) != entry_key(kind, entry.message):
            return None
    return len(items)


@dataclass(slots=True)
class _Left:
    """Items that left, and what stands where the first of them stood."""

    gone: list[int]
    brought: list[int]


class _Observer:
    def __init__(self, known: Known, request: Request) -> None:
        self.known, self.request = known, request
        self.view = known.view.copy()
        self.items = list(known.items)
        self.events: list[Event] = []
        self.pieces: dict[int, Piece] = {}
        self.left: list[_Left] = []

    def run(self) -> Observation:
        old, new = self._keys()
        pairs = align(old, new)
        kind: Literal["call", "branch"] = "call"
        if len(pairs) < len(old) or pairs != [(n, n) for n in range(len(pairs))]:
            base = base_of(self.known, self.items, self.request.entries, pairs)
            if base is not None:
                kind = "branch" if isinstance(base, Earlier) else "call"
                self._go_back(base)
                old, new = self._keys()
                pairs = align(old, new)
            elif len(pairs) < len(old) and is_side(
                self.known, self.items, self.request, pairs, self._tools()
            ):
                return Observation("side", (), (), None)
        pairs = slid(pairs, old, lambda i: self.items[i].role == "user")
        tools = self._declare_tools()
        pairs, revised = sent_back(self.items, self.request.entries, old, new, pairs)
        for each in revised:
            self._revise(each)
        self._match(old, new, pairs, {part for each in revised for part in each.parts})
        self._settle()
        pieces = tuple(self.pieces[j] for j in range(len(new)))
        return Observation(kind, tuple(self.events), pieces, tools)

    def _keys(self) -> tuple[list[str], list[str]]:
        """Keys of the items and of the entries; where they begin alike none has to be made."""
        entries = self.request.entries
        same = 0
        for item, entry in zip(self.items, entries, strict=False):
            if item_kind(item) != entry_kind(entry):
                break
            if not forms.identical(item.message, entry.message):
                break
            same += 1
        front = [f"={place}" for place in range(same)]
        old = [entry_key(item_kind(i), i.message) for i in self.items[same:]]
        new = [entry_key(entry_kind(e), e.message) for e in entries[same:]]
        return front + old, front + new

    # -- what kind of call ----------------------------------------------------------------------

    def _go_back(self, base: Undone | Earlier) -> None:
        """To where the request goes on from."""
        if isinstance(base, Undone):
            for position in base.compactions:
                self._add(events.DecisionUndone(target=position, reason="seen again in a request"))
            self.items, self.view = list(base.items), base.view
            return
        sent = self.known.sent(base)
        self._add(events.SessionRewound(to=base.position, reason="branch", inferred=True))
        self.items = list(sent)
        self.view.items = dict(piece.standing for piece in base.pieces)

    def _tools(self) -> int | None:
        return tools_position(self.known.tools, self.request.tools)

    def _declare_tools(self) -> int | None:
        position = self._tools()
        if position != -1:
            return position
        definitions = Json(self.request.tools)
        return self._add(
            events.ToolsDeclared(dialect=self.request.dialect, definitions=definitions)
        )

    # -- events ---------------------------------------------------------------------------------

    def _add(self, event: Event) -> int:
        self.events.append(event)
        return self.known.version + len(self.events)

    def _evolve(self, event: Event) -> int:
        """Add an event and take it into the view."""
        position = self._add(event)
        self.view.evolve(placed(event, position))
        return position

    def _revise(self, revised: Revised) -> None:
        position = self._evolve(revised.event)
        for number, j in enumerate(revised.places):
            self.pieces[j] = Piece(runs.origin(revised.event.item), position, part=number)

    def _match(self, old: list[str], new: list[str], pairs: list[Pair], revised: set[int]) -> None:
        for i, j in pairs:
            self.pieces.setdefault(j, self._piece(i))
        used = {i for i, _ in pairs} | revised
        moved: dict[str, list[int]] = {}
        for i in range(len(old)):
            if i not in used and self.items[i].part is None:
                moved.setdefault(old[i], []).append(i)
        newest = max(
            (i for i, item in enumerate(self.items) if item.role == "assistant"), default=-1
        )
        answered = next((j for i, j in pairs if i == newest), len(new))
        for j, key in enumerate(new):
            if j in self.pieces:
                continue
            if j > answered:
                break  # behind the newest answer the same words are said again
            if not moved.get(key):
                if j > (pairs[-1][1] if pairs else -1):
                    break  # and so are they behind what is new
                continue
            i = moved[key].pop(0)
            self.pieces[j] = self._piece(i)
            used.add(i)
        bounds = [(-1, -1), *pairs, (len(old), len(new))]
        fresh: list[tuple[int, bool]] = []
        for (i0, j0), (i1, j1) in pairwise(bounds):
            left = [i for i in range(i0 + 1, i1) if i not in used]
            unknown = [j for j in range(j0 + 1, j1) if j not in self.pieces]
            is_last = j1 == len(new)
            fresh += ((j, is_last) for j in self._gap(left, unknown, new, last=is_last))
        self._compact()
        for j, is_last in fresh:
            self._append(j, at_end=is_last)

    def _piece(self, index: int) -> Piece:
        item, rendition = self._standing(index)
        known = self.items[index]
        return Piece(item, rendition, known.form == "redacted", known.part)

    def _standing(self, index: int) -> Standing:
        origin = runs.origin(self.items[index].id)
        return origin, self.view.items.get(origin, 0)

    def _gap(
        self, left: list[int], fresh: list[int], new: Sequence[str], *, last: bool
    ) -> list[int]:
        """What became of the items between two that stand; gives the entries that are new."""
        gone = list(left)
        unknown = []
        places = dict(zip(fresh, left, strict=True)) if len(fresh) == len(left) else {}
        for j in fresh:
            found = self._explained(gone, j, new[j], places.get(j), alone=len(left) == 1)
            if found is None:
                unknown.append(j)
            else:
                gone.remove(found)
        if not gone:
            return unknown
        # At the end of the request the newest entry is what the call is about, not a summary.
        split = len(unknown) - 1 if last and unknown else len(unknown)
        if len(unknown) == 1 and self._sums_up(unknown[0], gone):
            split = 1
        self.left.append(_Left(gone, unknown[:split]))
        return unknown[split:]

    def _sums_up(self, j: int, gone: Sequence[int]) -> bool:
        """Whether an entry repeats what was answered before, here or beside: then it stands for
        what left."""
        entry = self.request.entries[j]
        text = messages.text(self.request.dialect, entry.message)
        given = (self.items[i].text for i in gone if self.items[i].role == "assistant")
        said = [*self.request.said, *map(lines_of, given)]
        return any(lines and repeats(text, lines) for lines in said)

    def _explained(
        self, gone: Sequence[int], j: int, key: str, place: int | None, *, alone: bool
    ) -> int | None:
        entry = self.request.entries[j]
        whole = [i for i in gone if self.items[i].part is None]
        for i in whole:
            item = self.items[i]
            origin = runs.origin(item.id)
            for depth, (rendition, earlier) in enumerate(self.known.renditions(origin)):
                if entry_key(item_kind(earlier), earlier.message) == key:
                    self._restore(origin, rendition, depth)
                    self.pieces[j] = Piece(origin, rendition, earlier.form == "redacted")
                    return i
        for i in whole:
            if self.items[i].form == "redacted":
                continue  # no rendition of it is shown: what is sent again is another item
            if self.items[i].kind == "summary" and len(gone) > 1:
                continue  # the next summary takes in what came behind it
            changed = change(self.items[i], entry, in_place=i == place, alone=alone)
            if changed is not None:
                if isinstance(changed, events.PlaceholderSubstituted):
                    together = f"request {self.known.version + 1}"
                    changed = changed.model_copy(update={"pass_id": together})
                position = self._evolve(changed)
                self.pieces[j] = Piece(runs.origin(self.items[i].id), position)
                return i
        return None

    def _restore(self, origin: Origin, rendition: int, depth: int) -> None:
        above = [self.view.items[origin]]
        above += [position for position, _ in list(self.known.renditions(origin))[:depth]]
        for position in above:
            if position:
                self._add(events.DecisionUndone(target=position, reason="seen again in a request"))
        self.view.items[origin] = rendition

    def _compact(self) -> None:
        """What left at one moment is one compaction, as far as one place says where it is."""
        decisions: list[_Left] = []
        for left in self.left:
            if decisions and not left.brought:
                decisions[-1].gone += left.gone
            else:
                decisions.append(left)
        for each in decisions:
            covered = list(dict.fromkeys(self._standing(i) for i in each.gone))
            event = events.ContextCompacted(
                covered=self._entries(covered),
                messages=tuple(self._new_message(j) for j in each.brought),
                inferred=True,
            )
            position = self._evolve(event)
            for number, j in enumerate(each.brought):
                self.pieces[j] = Piece(f"{position}.{number}")

    def _entries(self, standing: Sequence[Standing]) -> tuple[str, ...]:
        gone = {origin for origin, _ in standing}
        others = sorted(o for o in self.view.items if isinstance(o, int) and o not in gone)
        ordered = [(origin, 0) for origin, _ in standing]
        return tuple(runs.encode(ordered, others))

    def _append(self, j: int, *, at_end: bool) -> None:
        after = None
        if not at_end and j > 0 and j - 1 in self.pieces:
            after = str(self.pieces[j - 1].item)
        entry = self.request.entries[j]
        position = self._evolve(new_item(self.request.dialect, entry, after))
        self.pieces[j] = Piece(position)

    def _new_message(self, j: int) -> events.NewMessage:
        entry = self.request.entries[j]
        return events.NewMessage(dialect=self.request.dialect, message=Json(dict(entry.message)))

    def _settle(self) -> None:
        """What no single event explains: the order of the request is laid out as it is."""
        pieces = [self.pieces[j] for j in range(len(self.request.entries))]
        wanted = [piece.standing for piece in pieces if not piece.part]
        if self.view.standing() == wanted:
            return
        names = {origin for origin, _ in wanted}
        gone = [(origin, r) for origin, r in self.view.items.items() if origin not in names]
        # Without its rendition an item stands in the one in force, which a later undo may change.
        named = [
            (o, 0 if self.view.items.get(o) == rendition else rendition) for o, rendition in wanted
        ]
        others = sorted(o for o in self.view.items if isinstance(o, int))
        layout = tuple(runs.encode(named, [o for o in others if o not in names]))
        self._evolve(
            events.ContextCompacted(covered=self._entries(gone), layout=layout, inferred=True)
        )


_NOWHERE = StreamKey("-", "-", "-")


def placed(event: Event, position: int) -> RecordedEvent:
    """An event as if it stood at a position of some stream: for a fold in memory."""
    return draft_at(event, _NOWHERE, position)


def draft_at(event: Event, stream: StreamKey, position: int) -> RecordedEvent:
    """An event as if it stood at a position already: for folding what is about to be appended."""
    encoded = codec.encode(event)
    return RecordedEvent(
        stream=stream,
        sequence=0,
        position=position,
        event_id=b"",
        type=encoded.type,
        schema_version=encoded.schema_version,
        critical=encoded.critical,
        occurred_at=None,
        recorded_at=0,
        chain=b"",
        erased=False,
        payload=encoded.payload,
        event=event,
    )
