"""Which literals stand in the context, which decision took the last of each, and who missed it.

What stands is followed as a count by literal: one that no item holds any more, and no summary in
any words, is lost by the decision that took the last. Who brings it up later tells what that cost:
a tool (it was looked up again), a person (who had to say it again), or the model (which used what
it could not see). So a decision costs what it takes, and every item is searched for anchors once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from projections.anchors import Anchor, item_anchors, lost
from projections.audit.passages import EDITED, Move, Passage, Watcher
from projections.audit.subject import Subject
from projections.held import reworded
from projections.items import Item
from projections.metrics.mentions import texts
from projections.reading import role_of
from projections.runs import origin
from projections.said import Branch, is_told, sayers


@dataclass(slots=True)
class LostLiteral:
    """A literal that nothing in the context holds any more."""

    anchor: Anchor
    item: Item
    """Where it was first said (see ``said``); while the walk goes on, one that held it."""
    call: int
    """How many calls had been made when it left."""
    is_named: bool = False
    """Of a path: the summary holds at least the name of the file."""
    used: str = ""
    """The item in which it came up again."""
    in_arguments: bool = False
    """There a tool was called with it."""
    used_call: int = 0
    """The position of the call whose answer that was; 0 of anything else."""
    by: Literal["", "model", "person", "tool"] = ""
    is_back: bool = False
    """The decision was taken back before anybody missed it."""


class LostLiterals(Watcher):
    """Follows which literals stand, and by which decision each was lost."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._by: dict[int, list[LostLiteral]] = {}
        self._reworded: dict[int, list[LostLiteral]] = {}
        self.before: dict[int, int] = {}
        """Of what a compaction covered, the literals that earlier decisions had lost."""
        self._count: dict[str, int] = {}
        """How many items that stand hold a literal."""
        self._of: dict[str, tuple[Anchor, ...]] = {}
        """Of each item that stands, as it stands."""
        self._whole: dict[str, tuple[Anchor, ...]] = {}
        """Of what stands as less than it came: as it came."""
        self._lost: dict[str, LostLiteral] = {}
        """What nothing holds now."""
        self._is_idle = not (subject.noted.compactions or subject.noted.substitutions)
        """Nothing was ever taken out: no text needs to be searched."""
        self._calls = 0
        self._stood: dict[int, frozenset[str]] = {}
        """What stood as it came just after each compaction."""
        self._gone: list[tuple[Anchor, Item]] = []
        self._edited: list[Anchor] = []
        self._new: list[Item] = []

    @property
    def by(self) -> dict[int, list[LostLiteral]]:
        """What each decision lost, by its position; when the walk is over."""
        return self._settled[0]

    @property
    def reworded(self) -> dict[int, list[LostLiteral]]:
        """Rules that a summary says in other words, likewise."""
        return self._settled[1]

    @cached_property
    def _settled(self) -> tuple[dict[int, list[LostLiteral]], dict[int, list[LostLiteral]]]:
        """Both, each literal with the item that said it first."""
        both = self._by, self._reworded
        entries = [e for of in both for position in of.values() for e in position]
        rules = [entry.anchor for entry in entries if entry.anchor.kind == "rule"]
        subject = self._subject
        told = (item for item in subject.items.values() if rules and is_told(item))
        of_rules, places = sayers(rules, told), {_key(rule): n for n, rule in enumerate(rules)}
        steps = subject.recording.steps
        rewinds = [(step.position, step.to) for step in steps if step.kind == "rewind"]
        for position, stood in self._stood.items():
            if position in self._by:
                kept = [e for e in self._by[position] if not self._stands(e.anchor, stood)]
                self._by[position] = kept
        for of in both:
            for position, lost_then in of.items():
                branch = Branch(rewinds, position)
                for entry in lost_then:
                    if entry.anchor.kind == "rule":
                        first = of_rules.first(places[_key(entry.anchor)], branch.holds_item)
                    else:
                        literal = subject.ground.literal(_key(entry.anchor))
                        at = subject.ground.said.first(literal, branch.holds)
                        first = subject.items[at] if at is not None else None
                    entry.item = first or entry.item
        return both

    def _stands(self, anchor: Anchor, stood: frozenset[str]) -> bool:
        """Whether an item among those that stood holds it word for word, if not as an anchor: the
        folder of a path that another item names in full."""
        if anchor.kind == "rule":
            return False
        ground = self._subject.ground
        return any(str(at) in stood for at in ground.said.all(ground.literal(_key(anchor))))

    def came(self, item: Item, move: Move | None) -> None:
        """An item stands; what it brings up again is lost no more."""
        if self._is_idle:
            return
        found = self._of[item.id] = tuple(item_anchors(item))
        for anchor in found:
            key = _key(anchor)
            self._count[key] = self._count.get(key, 0) + 1
            missed = self._lost.pop(key, None)
            if missed is None:
                continue
            if item.is_recovered:
                pass  # it was put back: whether anybody would have missed it is not known
            elif move is None and missed.call < self._calls:
                self._used(missed, item)
            elif move is None:
                missed.is_back = True  # before any call was made without it
            else:
                missed.is_back = move.kind in ("undone", "rewound")
        if move is not None:
            self._new.append(item)
        if item.form in EDITED and item.form != "redacted":
            whole = self._subject.items.get(origin(item.id), item)
            self._whole[item.id] = tuple(item_anchors(whole))

    def _used(self, missed: LostLiteral, item: Item) -> None:
        missed.used, missed.by = item.id, _speaker(item)
        missed.used_call = item.call or 0
        missed.in_arguments = missed.anchor in item_anchors(item, calls=True)

    def left(self, item: Item, move: Move) -> None:
        """What it alone held is lost, unless a summary holds it."""
        if self._is_idle:
            return
        for anchor in self._of.pop(item.id):
            self._drop(anchor, item)
        whole = self._whole.pop(item.id, ())
        if move.kind in ("summarised", "dropped"):
            self._edited += whole

    def _drop(self, anchor: Anchor, item: Item) -> None:
        key = _key(anchor)
        self._gone.append((anchor, item))
        self._count[key] -= 1
        if not self._count[key]:
            del self._count[key]

    def changed(self, before: Item, after: Item, move: Move) -> None:
        """Likewise of what stands in another form."""
        if self._is_idle:
            return
        old, new = self._of[before.id], tuple(item_anchors(after))
        self._of[after.id] = new
        if after.form in EDITED:
            self._whole.setdefault(after.id, old)
        else:
            self._whole.pop(after.id, None)
        for anchor in new:
            key = _key(anchor)
            self._count[key] = self._count.get(key, 0) + 1
            missed = self._lost.pop(key, None)
            if missed is not None:
                missed.is_back = True
        for anchor in old:
            self._drop(anchor, before)

    def decided(self, move: Move) -> None:
        """What is gone now, held against the words that took its place."""
        if self._is_idle:
            return
        gone = self._missing()
        missing = [anchor for anchor, _ in gone.values()]
        said = [text for item in self._new for text in texts(item)]
        if missing and said and move.kind == "summarised":
            missing = list(lost(missing, said))
            again = {missing[at] for at in reworded(missing, self._new)}
            if again:
                self._reworded[move.position] = [
                    LostLiteral(anchor, gone[_key(anchor)][1], self._calls)
                    for anchor in missing
                    if anchor in again
                ]
                missing = [anchor for anchor in missing if anchor not in again]
            absent = {_key(anchor) for anchor in missing}
            self._hold(anchor for key, (anchor, _) in gone.items() if key not in absent)
        if move.kind not in ("rewound", "undone"):
            named = _named(missing, said)
            for anchor in missing:
                key = _key(anchor)
                entry = LostLiteral(anchor, gone[key][1], self._calls, anchor in named)
                if anchor.kind != "rule":
                    self._subject.literals.append(anchor)
                self._lost[key] = entry
                self._by.setdefault(move.position, []).append(entry)
        if move.kind in ("summarised", "dropped"):
            self._stood[move.position] = frozenset(self._of.keys() - self._whole.keys())
        if self._edited:
            self.before[move.position] = sum(_key(anchor) in self._lost for anchor in self._edited)
        self._gone, self._edited, self._new = [], [], []

    def _missing(self) -> dict[str, tuple[Anchor, Item]]:
        """What no item holds any more, and one that did."""
        found: dict[str, tuple[Anchor, Item]] = {}
        for anchor, item in self._gone:
            key = _key(anchor)
            if key not in self._count:
                found[key] = anchor, item
        return found

    def called(self, number: int, passage: Passage) -> None:
        """From here on what is lost has been missed."""
        self._calls = number

    def _hold(self, anchors: Iterable[Anchor]) -> None:
        """A summary holds these in its words, although they are no anchors there."""
        first = self._new[0].id
        kept = tuple(anchors)
        self._of[first] += kept
        for anchor in kept:
            key = _key(anchor)
            self._count[key] = self._count.get(key, 0) + 1


def _named(missing: Iterable[Anchor], said: Sequence[str]) -> set[Anchor]:
    """Paths of which a text holds the name of the file."""
    names = {
        anchor: Anchor("path", posixpath.basename(anchor.text.rstrip("/")))
        for anchor in missing
        if anchor.kind == "path"
    }
    gone = set(lost(names.values(), said)) if said else set(names.values())
    return {anchor for anchor, name in names.items() if name.text and name not in gone}


def _speaker(item: Item) -> Literal["model", "person", "tool"]:
    if item.is_human:
        return "person"
    return "model" if role_of(item) == "assistant" else "tool"


def _key(anchor: Anchor) -> str:
    """Equal where ``anchors.lost`` takes two literals for the same."""
    text = " ".join(anchor.text.split())
    return "\0" + text.casefold() if anchor.kind == "rule" else text
