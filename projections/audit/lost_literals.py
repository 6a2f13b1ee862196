"""Which literals stand in the context, which decision took the last of each, and who missed it.

What stands is followed as a count by literal: one that no item holds any more, and no summary in
any words, is lost by the decision that took the last. Who brings it up later tells what that cost:
a tool (it was looked up again), a person (who had to say it again), or the model (which used what
it could not see). So a decision costs what it takes, and every item is searched for anchors once.
"""

from __future__ import annotations

import posixpath
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from projections.anchors import Anchor, item_anchors, lost
from projections.audit.passages import EDITED, RENDERING, Move, Passage, Watcher
from projections.audit.subject import Subject
from projections.held import reworded
from projections.items import Item
from projections.metrics.mentions import texts
from projections.runs import origin, position_of
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
    was_remembered: bool = False
    """What held it last was a message of memories: they were forgotten, or say something else."""
    until: int = sys.maxsize
    """How many calls had been made when it stood again."""


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
        noted = subject.noted
        self._is_idle = not (noted.compactions or noted.substitutions or noted.revisions)
        """Nothing was ever taken out: no text needs to be searched."""
        self._calls = 0
        self._since: dict[str, int] = {}
        """Of each item that stands as it came: how many calls had been made when it began to."""
        self._stood: dict[str, list[tuple[int, int]]] = {}
        """Of each that did: from when until when, counted likewise."""
        self._shown: dict[str, tuple[list[tuple[int, int]], list[int]]] = {}
        """By literal: when items that hold it stood as they came, by when they began to; and the
        latest end of each of these and those before it."""
        self.moves: dict[int, list[Move]] = {}
        """By its position, what a decision did: substitutions, or revisions, between two calls are
        one."""
        self._moment: dict[bool, int] = {}
        """Since the last call: where the revisions begin, and the substitutions."""
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
        for position, entries in self._by.items():
            self._by[position] = [e for e in entries if not self._stands(e.anchor, e.call)]
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
                    self._holder(entry)
        return both

    def _holder(self, entry: LostLiteral) -> None:
        """Who brought it up first, also where it is no anchor: whoever came next could see it."""
        subject, calls = self._subject, self._subject.calls
        if entry.anchor.kind == "rule" or entry.is_back or entry.call >= len(calls):
            return
        holders = subject.ground.said.all(subject.ground.literal(_key(entry.anchor)))
        at = bisect_right(holders, calls[entry.call].position, key=position_of)
        if at == len(holders):
            return
        first, last = subject.items[holders[at]], entry.until
        is_before = last >= len(calls) or position_of(holders[at]) < calls[last].position
        if is_before and not first.is_recovered and first.id != entry.used:
            self._used(entry, first)

    def _stands(self, anchor: Anchor, calls: int) -> bool:
        """Whether what the next call was given holds it word for word, if not as an anchor: the
        folder of a path that another item names in full."""
        if anchor.kind == "rule":
            return False
        key = _key(anchor)
        if key not in self._shown:
            ground = self._subject.ground
            holders = ground.said.all(ground.literal(key))
            spans = sorted(span for at in holders for span in self._spans(str(at)))
            self._shown[key] = spans, list(accumulate((last for _, last in spans), max))
        spans, latest = self._shown[key]
        begun = bisect_right(spans, calls, key=lambda span: span[0])
        return begun > 0 and latest[begun - 1] > calls

    def _spans(self, item: str) -> Iterable[tuple[int, int]]:
        yield from self._stood.get(item, ())
        if item in self._since:
            yield self._since[item], sys.maxsize

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
            missed.until = self._calls
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
        if item.form == "original":
            self._since[item.id] = self._calls
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
        self._ends(item)
        whole = self._whole.pop(item.id, ())
        if move.kind in ("summarised", "dropped"):
            self._edited += whole

    def _ends(self, item: Item) -> None:
        """It stands no more as it came."""
        first = self._since.pop(item.id, None)
        if first is not None and first < self._calls:
            self._stood.setdefault(item.id, []).append((first, self._calls))

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
        self._new.append(after)
        if after.form == "original":
            self._since[after.id] = self._calls
        else:
            self._ends(before)
        if after.form in EDITED:
            self._whole.setdefault(after.id, old)
        else:
            self._whole.pop(after.id, None)
        for anchor in new:
            key = _key(anchor)
            self._count[key] = self._count.get(key, 0) + 1
            missed = self._lost.pop(key, None)
            if missed is not None:
                missed.is_back, missed.until = True, self._calls
        for anchor in old:
            self._drop(anchor, before)

    def decided(self, move: Move) -> None:
        """What is gone now, held against the words that took its place."""
        if self._is_idle:
            return
        gone = self._missing()
        missing = [anchor for anchor, _ in gone.values()]
        said = [text for item in self._new for text in texts(item)]
        position = self._decision(move)
        if missing and said and move.kind in _WITH_WORDS:
            missing = list(lost(missing, said))
            again = {missing[at] for at in reworded(missing, self._new)}
            if again:
                self._reworded.setdefault(position, []).extend(
                    LostLiteral(anchor, gone[_key(anchor)][1], self._calls)
                    for anchor in missing
                    if anchor in again
                )
                missing = [anchor for anchor in missing if anchor not in again]
            absent = {_key(anchor) for anchor in missing}
            self._hold(anchor for key, (anchor, _) in gone.items() if key not in absent)
        if move.kind not in ("rewound", "undone", "redacted"):
            named = _named(missing, said)
            for anchor in missing:
                key = _key(anchor)
                last = gone[key][1]
                entry = LostLiteral(anchor, last, self._calls, anchor in named)
                entry.was_remembered = last.source == "memory"
                if anchor.kind != "rule":
                    self._subject.literals.append(anchor)
                self._lost[key] = entry
                self._by.setdefault(position, []).append(entry)
        if self._edited:
            self.before[position] = sum(_key(anchor) in self._lost for anchor in self._edited)
        self._gone, self._edited, self._new = [], [], []

    def _decision(self, move: Move) -> int:
        """The position that a decision goes by."""
        position = move.position
        if move.kind in RENDERING:
            position = self._moment.setdefault(move.kind == "revised", position)
        moves = self.moves.setdefault(position, [])
        if not moves or moves[-1] is not move:
            moves.append(move)
        return position

    def _missing(self) -> dict[str, tuple[Anchor, Item]]:
        """What no item holds any more, and one that did."""
        found: dict[str, tuple[Anchor, Item]] = {}
        for anchor, item in self._gone:
            key = _key(anchor)
            # What a person said is a loss, whatever was remembered of it.
            if key not in self._count and (key not in found or item.source != "memory"):
                found[key] = anchor, item
        return found

    def called(self, number: int, passage: Passage) -> None:
        """From here on what is lost has been missed."""
        self._calls = number
        self._moment = {}

    def _hold(self, anchors: Iterable[Anchor]) -> None:
        """A summary holds these in its words, although they are no anchors there."""
        first = self._new[0].id
        kept = tuple(anchors)
        self._of[first] += kept
        for anchor in kept:
            key = _key(anchor)
            self._count[key] = self._count.get(key, 0) + 1


_WITH_WORDS = RENDERING | {"summarised"}
"""Kinds that leave words in place of what they took."""


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
    if not item.is_spoken:
        return "tool"
    return "person" if item.is_human else "model"


def _key(anchor: Anchor) -> str:
    """Equal where ``anchors.lost`` takes two literals for the same."""
    text = " ".join(anchor.text.split())
    return "\0" + text.casefold() if anchor.kind == "rule" else text
