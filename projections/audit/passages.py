"""What came into a session's context and what left it, call by call, and by which decision.

One walk over what became of the context (``recording.seen``): each item is met when it comes, when
it changes and when it leaves, so whoever watches pays for what changes, and no context is ever
looked through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from projections.items import Item
from projections.recording import Recording, Step
from projections.runs import Origin, origin
from projections.seen import Counted, Seen

MoveKind = Literal[
    "summarised",
    "dropped",
    "cleared",
    "cut",
    "deduplicated",
    "revised",
    "redacted",
    "rewound",
    "undone",
    "repaired",
    "inserted",
]
RENDERING = frozenset({"cleared", "cut", "deduplicated", "revised", "redacted"})
"""Kinds after which the item still stands, in another form."""

EDITED = RENDERING - {"revised"}
"""Of those, the ones that left less of it."""


@dataclass(slots=True)
class Move:
    """A decision, as far as it changed what stands; of a pass all substitutions together."""

    kind: MoveKind
    position: int
    """Of the event, of a pass the first one."""
    reason: str
    items: list[Origin] = field(default_factory=list)
    """What left, or stands otherwise."""
    brought: list[Origin] = field(default_factory=list)
    """What came, or came back."""
    before: int = 0
    """Tokens of ``items`` before it."""
    after: int = 0
    """Tokens of what stands for them."""


@dataclass(slots=True)
class Fate:
    """What became of one item."""

    came: int
    """Tokens as it came in."""
    tokens: int
    """Of it in the context now."""
    form: str
    stands: bool = True
    first: int = 0
    """The first call that was given it, counted from 1 over all that the walk met; 0: none."""
    move: Move | None = None
    """What edited it or took it, the latest one that the walk met; it may be in force no longer."""


@dataclass(slots=True)
class Passage:
    """One call, and what changed since the one before."""

    position: int
    items: int = 0
    tokens: int = 0
    """Of all items, without tools."""
    came: list[Origin] = field(default_factory=list)
    """What came since and stands."""
    came_tokens: int = 0
    moves: list[Move] = field(default_factory=list)


class Watcher:
    """Is told of every change. All methods may be left out."""

    def came(self, item: Item, move: Move | None) -> None:
        """An item stands now; with a move where a decision brought it, or brought it back."""

    def left(self, item: Item, move: Move) -> None:
        """An item stands no longer."""

    def changed(self, before: Item, after: Item, move: Move) -> None:
        """An item stands in another form."""

    def decided(self, move: Move) -> None:
        """Everything that a decision did has been told."""

    def called(self, number: int, passage: Passage) -> None:
        """A call is made with what stands."""


class Passages:
    """The walk, and what it found."""

    def __init__(
        self,
        recording: Recording,
        watchers: Sequence[Watcher] = (),
        gone_through: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.calls: list[Passage] = []
        self.fates: dict[Origin, Fate] = {}
        self.standing: dict[Origin, Counted] = {}
        self.tokens = 0
        self.rest = Passage(0)
        """What changed behind the last call."""
        self.renderings: dict[int, tuple[Move, list[int]]] = {}
        """By each event that gave an item another form: the pass, and all events of it."""
        self._watchers = watchers
        self._fresh: dict[Origin, None] = {}
        """What no call was given yet."""
        for step in recording.seen:
            self._step(step)
            gone_through(step.position)
        self._watchers = ()  # they hold what holds this: nothing goes round in a circle

    def _step(self, step: Seen | Step) -> None:
        if isinstance(step, Step):
            if step.item is None:
                self._called(step.position)
            else:
                self._came((step.item, step.tokens), None)
        elif step.kind == "render":
            self._render(step)
        elif step.kind == "compact":
            kind: MoveKind = "summarised" if step.items else "dropped"
            move = Move(kind, step.position, step.reason)
            self._decide(move, step.covered, step.items)
        else:
            self._again(step)

    def _called(self, position: int) -> None:
        passage = self.rest
        passage.position, passage.items, passage.tokens = position, len(self.standing), self.tokens
        passage.came = [name for name in dict.fromkeys(passage.came) if name in self.standing]
        passage.came_tokens = sum(self.standing[name][1] for name in passage.came)
        self.calls.append(passage)
        self.rest = Passage(0)
        for each in self._fresh:
            self.fates[each].first = len(self.calls)
        self._fresh = {}
        for watcher in self._watchers:
            watcher.called(len(self.calls), passage)

    def _came(self, counted: Counted, move: Move | None) -> None:
        item, tokens = counted
        name = origin(item.id)
        fate = self.fates.get(name)
        if fate is None:
            fate = self.fates[name] = Fate(tokens, tokens, item.form)
        fate.stands, fate.tokens, fate.form = True, tokens, item.form
        if item.form == "original":
            fate.move = None
        if not fate.first:
            self._fresh[name] = None
        self.standing[name] = counted
        self.tokens += tokens
        self.rest.came.append(name)
        for watcher in self._watchers:
            watcher.came(item, move)

    def _left(self, name: Origin, move: Move) -> None:
        item, tokens = self.standing.pop(name)
        self.tokens -= tokens
        fate = self.fates[name]
        fate.stands, fate.tokens, fate.move = False, 0, move
        self._fresh.pop(name, None)
        move.items.append(name)
        move.before += tokens
        for watcher in self._watchers:
            watcher.left(item, move)

    def _render(self, step: Seen) -> None:
        for counted in step.items:
            self._changed(step, counted)

    def _changed(self, step: Seen, counted: Counted, kind: MoveKind | None = None) -> None:
        item, tokens = counted
        name = origin(item.id)
        before, was = self.standing[name]
        self.standing[name] = counted
        self.tokens += tokens - was
        move = self._pass(kind or _rendering(item), step, self.fates[name])
        if step.kind == "render":
            same = self.renderings.get(move.position, (move, []))
            same[1].append(step.position)
            self.renderings[step.position] = same
        move.items.append(name)
        move.before += was
        move.after += tokens
        fate = self.fates[name]
        fate.tokens, fate.form = tokens, item.form
        fate.move = move if item.form != "original" else None
        for watcher in self._watchers:
            watcher.changed(before, item, move)
            watcher.decided(move)

    def _pass(self, kind: MoveKind, step: Seen, fate: Fate) -> Move:
        """The substitutions of one pass follow on each other, each of another item, and are told
        as one."""
        moves = self.rest.moves
        alike = moves and (moves[-1].kind, moves[-1].reason) == (kind, step.reason)
        if alike and fate.move is not moves[-1]:
            return moves[-1]
        moves.append(Move(kind, step.position, step.reason))
        return moves[-1]

    def _decide(self, move: Move, gone: Iterable[Origin], new: Iterable[Counted]) -> None:
        self.rest.moves.append(move)
        for name in gone:
            if name in self.standing:
                self._left(name, move)
        for counted in new:
            self._came(counted, None if move.kind == "inserted" else move)
            move.brought.append(origin(counted[0].id))
            move.after += counted[1]
        for watcher in self._watchers:
            watcher.decided(move)

    def _again(self, step: Seen) -> None:
        after = {origin(item.id): (item, tokens) for item, tokens in step.items}
        gone = [name for name in self.standing if name not in after]
        new = [counted for name, counted in after.items() if name not in self.standing]
        others = [
            (name, counted)
            for name, counted in after.items()
            if name in self.standing and self.standing[name][0].rendition != counted[0].rendition
        ]
        if step.cause == "inserted" and not gone and not others:
            for counted in new:
                self._came(counted, None)
        elif gone or new:
            self._decide(Move(_kind(step, new), step.position, step.reason), gone, new)
        whole = step.cause in ("rewound", "undone", "repaired")
        for _, counted in others:
            self._changed(step, counted, _kind(step, ()) if whole else None)
        if others or gone or new:
            self.standing = {name: self.standing[name] for name in after}


def _kind(step: Seen, new: Sequence[Counted]) -> MoveKind:
    if step.cause == "compacted":
        return "summarised" if new else "dropped"
    if step.cause == "rewound" or step.cause == "undone" or step.cause == "repaired":
        return step.cause
    return "inserted"


def _rendering(item: Item) -> MoveKind:
    """How an item stands; one that stands in its original again was revised to it."""
    return "revised" if item.form == "original" else item.form
