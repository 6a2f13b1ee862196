"""The view: the items that stand in the context, in order, with their renditions.

It is a fold over the events of one stream. A plain event (a message, a result) costs O(1) and needs
no payload; only decisions are read. Two decisions, undo and rewind, change what earlier events
mean: they make the stream fold anew over its *effective* history, which one pass from the end finds
(``effective``).

The fold is total: a decision about an item that is not there is ignored and noted, never an error.
Only an unknown *critical* event stops it (``CriticalUnknown``).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from eventlog.codec import CLASSES
from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent
from projections import runs
from projections.runs import ItemPositions, Origin, Standing

ITEM_TYPES = frozenset({"message_appended", "tool_result_recorded"})
"""Events that bring in an item."""

REFOLDING = frozenset({"decision_undone", "session_rewound"})
"""Decisions that change what earlier events mean."""

UNDOABLE = frozenset(
    {"placeholder_substituted", "message_revised", "context_compacted", *REFOLDING}
)

DECISIONS = UNDOABLE | {"repair_applied", "item_pinned", "item_unpinned"}
"""Events whose payload a fold reads."""

SLACK = 64
"""Barriers over twice the items that are kept before they are thinned."""


class Note(NamedTuple):
    """Something in the events that could not be done, and was left out."""

    position: int
    message: str


class View:
    """The state of a context. Changed in place by ``evolve``; ``copy`` before keeping one."""

    __slots__ = ("_barriers", "items", "notes", "pins", "version", "waiting")

    def __init__(self) -> None:
        self.version = 0
        """The position of the last event taken in."""
        self.items: dict[Origin, int] = {}
        """Origin to rendition (0: original), in the order of the context."""
        self.pins: set[Origin] = set()
        self.waiting: dict[str, Origin] = {}
        """Call ids answered by a synthetic result, which a real one replaces."""
        self.notes: list[Note] = []
        self._barriers: list[float] = []

    def copy(self) -> View:
        """An independent view of the same state."""
        other = View()
        other.version = self.version
        other.items = dict(self.items)
        other.pins = set(self.pins)
        other.waiting = dict(self.waiting)
        other.notes = list(self.notes)
        other._barriers = list(self._barriers)
        return other

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item: object) -> bool:
        return item in self.items

    def __eq__(self, other: object) -> bool:
        """Equal when the same items stand in the same renditions and order, pins included."""
        return (
            isinstance(other, View)
            and list(self.items.items()) == list(other.items.items())
            and self.pins == other.pins
            and self.waiting == other.waiting
        )

    __hash__ = None  # type: ignore[assignment]

    def standing(self) -> list[Standing]:
        """(origin, rendition) of each item, in order."""
        return list(self.items.items())

    def labels(self) -> list[str]:
        """``12``, ``12@340``, ``57.0`` …, in order."""
        return [runs.label(item, rendition) for item, rendition in self.items.items()]

    # -- as text --------------------------------------------------------------------------------

    def entries(self, *, open_end: bool = False) -> list[str]:
        """The view as runs; with ``open_end`` so that later plain items are in it too."""
        after = self.version + 1 if open_end else None
        return runs.encode(self.items.items(), self._barriers, after)

    def dump(self) -> dict[str, Any]:
        """The state as JSON, from which ``load`` makes it again."""
        state: dict[str, Any] = {"runs": self.entries(open_end=True)}
        if self.pins:
            state["pins"] = sorted(str(item) for item in self.pins)
        if self.waiting:
            state["waiting"] = {call: str(item) for call, item in self.waiting.items()}
        return state

    @classmethod
    def load(cls, state: dict[str, Any], positions: ItemPositions, version: int) -> View:
        """From what ``dump`` gave, at a version; an open run goes up to there."""
        view = cls()
        entries = state["runs"]
        view.items = dict(runs.expand(entries, positions, version))
        view.pins = {runs.origin(item) for item in state.get("pins", ())}
        view.waiting = {c: runs.origin(i) for c, i in state.get("waiting", {}).items()}
        view._barriers = runs.barriers_between(entries)
        view.version = version
        return view

    # -- steps ----------------------------------------------------------------------------------

    def append_item(self, position: int) -> None:
        """A plain item came in at the end. O(1)."""
        self.items[position] = 0
        self.version = position

    def take_back(self, to: int, position: int) -> None:
        """A rewind, where only items came in at the end since ``to``. O(what leaves)."""
        gone = list(takewhile(lambda i: isinstance(i, int) and i > to, reversed(self.items)))
        self._remove(reversed(gone))
        self._prune()
        self.version = position

    def set_apart(self, items: Iterable[int]) -> None:
        """Items that a rewind took away, and no step: they keep runs apart, too."""
        for item in items:
            self._leave(item)
        self._prune()

    def evolve(self, event: RecordedEvent) -> None:
        """Take in the next event. Raises CriticalUnknown; undo and rewind are not for this."""
        assert event.type not in REFOLDING
        position, kind = event.position, event.type
        if not is_known(kind, event.schema_version):
            if event.critical:
                raise CriticalUnknown(str(event.stream), position, kind)
            self._note(position, f"an event of unknown type {kind} was skipped")
        elif kind in ITEM_TYPES:
            self._item(event)
        elif kind == "placeholder_substituted" or kind == "message_revised":
            self._render(position, event.data["item"])
        elif kind == "context_compacted":
            self._compact(position, event.data)
        elif kind == "item_pinned":
            self.pins.add(runs.origin(event.data["item"]))
        elif kind == "item_unpinned":
            self.pins.discard(runs.origin(event.data["item"]))
        elif kind == "repair_applied":
            self._repair(position, event.data)
        self.version = position

    def _item(self, event: RecordedEvent) -> None:
        position = event.position
        after = None
        if '"after":' in event.payload:
            after = event.data.get("after")
        if self.waiting and event.type == "tool_result_recorded":
            synthetic = self.waiting.pop(event.data["tool_call_id"], None)
            if synthetic is not None and synthetic in self.items:
                self._place([position], synthetic)
                self._remove([synthetic])
                return
        if after is not None:
            anchor = None if after == runs.FRONT else runs.origin(after)
            if anchor is None or anchor in self.items:
                self._place([position], anchor)
                return
            self._note(position, f"item {after} is not there: put at the end")
        self.items[position] = 0

    def _render(self, position: int, item_id: str) -> None:
        item = runs.origin(item_id)
        if item in self.items:
            self.items[item] = position
        else:
            self._note(position, f"item {item_id} is not there")

    def _compact(self, position: int, data: dict[str, Any]) -> None:
        names: list[Origin] = [f"{position}.{i}" for i in range(len(data.get("messages", ())))]
        if changes_nothing(data):
            return
        layout = data.get("layout")
        covered = list(self._covered(position, data.get("covered", ())))
        self._prune()
        if layout is not None:
            self._lay_out(position, layout, names, covered)
            return
        anchor: Origin | None = None
        gone = set(covered)
        for item in self.items:
            if item in gone:
                break
            anchor = item
        else:
            anchor = next(reversed(self.items), None)
        self._remove(covered)
        if names:
            self._place(names, anchor)

    def _covered(self, position: int, entries: Iterable[str]) -> Iterator[Origin]:
        whole = None
        for entry in entries:
            if runs.is_run(entry):
                if whole is None:
                    whole = sorted(item for item in self.items if isinstance(item, int))
                first, last = runs.bounds(entry, position)
                yield from (item for item in whole if first <= item <= last)
                continue
            item, _ = runs.standing(entry)
            if item in self.items:
                yield item
            else:
                self._note(position, f"covered item {entry} is not there")

    def _lay_out(
        self, position: int, layout: Sequence[str], names: list[Origin], covered: list[Origin]
    ) -> None:
        placed: dict[Origin, int] = {}
        whole = sorted(item for item in self.items if isinstance(item, int))
        for entry in layout:
            if entry.startswith("m"):
                number = entry[1:]
                if number.isdecimal() and int(number) < len(names):
                    placed[names[int(number)]] = 0
                else:
                    self._note(position, f"layout names {entry}, which is no message of it")
            elif runs.is_run(entry):
                first, last = runs.bounds(entry, position)
                placed.update((i, self.items[i]) for i in whole if first <= i <= last)
            else:
                item, rendition = runs.standing(entry)
                if item in self.items:
                    placed[item] = rendition or self.items[item]
                else:
                    self._note(position, f"layout names item {entry}, which is not there")
        expected = set(covered)
        for item in self.items:
            if item not in placed:
                self._leave(item)
                if item not in expected:
                    self._note(position, f"item {item} left with the layout, covered by nothing")
        self.items = placed

    def _repair(self, position: int, data: dict[str, Any]) -> None:
        for rename in data.get("renamed", ()):
            self._render(position, rename["item"])
        inserted: list[Origin] = []
        behind: dict[Origin | None, Origin] = {}
        for index, insert in enumerate(data.get("inserted", ())):
            name: Origin = f"{position}.{index}"
            after = insert.get("after")
            anchor = runs.origin(after) if after is not None else None
            if anchor is not None and anchor not in self.items:
                self._note(position, f"item {after} is not there: put at the end")
                anchor = next(reversed(self.items), None)
            # Several behind one item stand in the order in which the repair names them.
            self._place([name], behind.get(anchor, anchor))
            behind[anchor] = name
            inserted.append(name)
        for call, item in zip(data.get("call_ids", ()), inserted, strict=False):
            self.waiting[call] = item
        self._remove([runs.origin(item) for item in data.get("dropped", ())])

    def _place(self, names: Sequence[Origin], after: Origin | None) -> None:
        """Put items behind another one, or in front of everything."""
        if after is not None and after == next(reversed(self.items), None):
            self.items.update((name, 0) for name in names)
            return
        placed: dict[Origin, int] = {} if after is not None else dict.fromkeys(names, 0)
        for item, rendition in self.items.items():
            placed[item] = rendition
            if item == after:
                placed.update((name, 0) for name in names)
        self.items = placed

    def _remove(self, items: Iterable[Origin]) -> None:
        for item in items:
            if self.items.pop(item, None) is not None:
                self._leave(item)

    def _leave(self, item: Origin) -> None:
        if isinstance(item, int):
            if not self._barriers or item > self._barriers[-1]:
                self._barriers.append(item)
            else:
                insort(self._barriers, item)

    def _prune(self) -> None:
        """Keep one barrier between neighbours: the list must not grow with what has left."""
        if len(self._barriers) <= 2 * len(self.items) + SLACK:
            return
        whole = sorted(item for item in self.items if isinstance(item, int))
        kept: list[float] = []
        at = 0
        for item in (*whole, float("inf")):
            end = bisect_left(self._barriers, item, at)
            if end > at:
                kept.append(self._barriers[end - 1])
            at = end
        self._barriers = kept

    def _note(self, position: int, message: str) -> None:
        self.notes.append(Note(position, message))


def changes_nothing(compaction: Mapping[str, Any]) -> bool:
    """Whether a compaction covers nothing and brings in nothing, as an agent may write one."""
    empty = not (compaction.get("covered") or compaction.get("messages"))
    return empty and compaction.get("layout") is None


def is_known(type_name: str, schema_version: int) -> bool:
    """Whether this program knows the event type in that shape."""
    known = CLASSES.get(type_name)
    return known is not None and schema_version <= known.schema_version


def effective(events: Sequence[RecordedEvent]) -> tuple[list[RecordedEvent], list[Note]]:
    """The events that are in force, and notes on undos that name nothing.

    One pass from the end: a rewind in force jumps to where it points, so what lies between (undos
    included) is not seen; an undo in force makes its target be passed over. Both only name earlier
    events, so each is decided before its target is reached.
    """
    notes: list[Note] = []
    found: list[RecordedEvent] = []
    undone: set[int] = set()
    passes: dict[str, int] = {}
    index = {event.position: at for at, event in enumerate(events)}
    at = len(events) - 1
    while at >= 0:
        event = events[at]
        at -= 1
        if event.position in undone:
            continue
        kind = event.type
        if kind == "decision_undone":
            target, pass_id = event.data.get("target", 0), event.data.get("pass_id", "")
            if pass_id:
                passes.setdefault(pass_id, event.position)
                continue
            place = index.get(target)
            if place is None or events[place].type not in UNDOABLE or target >= event.position:
                notes.append(Note(event.position, f"there is no decision {target} to undo"))
            else:
                undone.add(target)
        elif kind == "session_rewound":
            to = event.data["to"]
            if to >= event.position:
                notes.append(Note(event.position, f"a rewind to {to} goes nowhere"))
                continue
            while at >= 0 and events[at].position > to:
                at -= 1
        elif passes and kind == "placeholder_substituted" and event.data.get("pass_id") in passes:
            continue
        else:
            found.append(event)
    found.reverse()
    return found, notes[::-1]


def fold(events: Iterable[RecordedEvent]) -> View:
    """The view after all of these events, which are a stream from its first position on."""
    sequence, view = list(events), View()
    notes: list[Note] = []
    in_force = sequence
    if any(event.type in REFOLDING for event in sequence):
        in_force, notes = effective(sequence)
    for event in in_force:
        view.evolve(event)
    if len(in_force) < len(sequence):
        # Items that a rewind took away keep runs apart, too: last, since a step may forget
        # barriers that lie in front of what comes in later.
        kept = {event.position for event in in_force}
        gone = (e.position for e in sequence if e.type in ITEM_TYPES and e.position not in kept)
        view.set_apart(gone)
    if sequence:
        view.version = sequence[-1].position
    view.notes = sorted([*view.notes, *notes])
    return view
