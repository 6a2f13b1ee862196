"""Literals of what a compaction covered that its summary does not hold, and which came up again.

What stands is followed as a count by literal: one that no item holds any more, and no summary in
any words, is lost by the decision that took the last. Who brings it up later tells what that cost:
a tool (it was looked up again), a person (who had to say it again), or the model (which used what
it could not see). So a compaction costs what it covers, and every item is searched for anchors
once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from projections.anchors import KINDS, Anchor, Kind, item_anchors, lost
from projections.audit.model import Finding, Literally
from projections.audit.passages import EDITED, Move, Passage
from projections.audit.rule import Rule, listed, plural, quoted, some
from projections.audit.subject import Compacted, Subject
from projections.items import Item
from projections.metrics.keepers import content_words
from projections.metrics.mentions import texts
from projections.metrics.survival import DEGRADED
from projections.reading import role_of
from projections.runs import origin

MOST = 500
"""Literals that a finding lists; how many there are stands beside them."""

_WORDS: dict[Kind, str] = {
    "path": "path",
    "id": "id",
    "number": "number",
    "error": "error",
    "url": "URL",
    "command": "command",
    "rule": "rule",
}


@dataclass(slots=True)
class _Lost:
    anchor: Anchor
    item: str
    call: int
    """How many calls had been made when it left."""
    is_said: bool
    """A person had said it."""
    is_named: bool
    """Of a path: the summary holds at least the name of the file."""
    used: str = ""
    by: Literal["", "model", "person", "tool"] = ""
    is_back: bool = False
    """The decision was taken back before anybody missed it."""


class Anchors(Rule):
    """One finding for each compaction and kind of literal."""

    name = "anchors"
    about = "ids, paths, rules … of covered items that the summary does not hold"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._count: dict[str, int] = {}
        """How many items that stand hold a literal."""
        self._of: dict[str, tuple[Anchor, ...]] = {}
        """Of each item that stands, as it stands."""
        self._lost: dict[str, _Lost] = {}
        """What nothing holds now."""
        self._by: dict[int, list[_Lost]] = {}
        """What each decision lost."""
        self._before: dict[int, int] = {}
        """Of what a compaction covered, the literals that earlier decisions had lost."""
        self._is_idle = not subject.noted.compactions
        """Nothing was ever compacted: no text needs to be searched."""
        self._calls = 0
        self._gone: list[tuple[Anchor, Item]] = []
        self._edited: list[Item] = []
        self._new: list[Item] = []

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
            if move is None and missed.call < self._calls:
                missed.used, missed.by = item.id, _speaker(item)
            elif move is None:
                missed.is_back = True  # before any call was made without it
            else:
                missed.is_back = move.kind in ("undone", "rewound")
        if move is not None:
            self._new.append(item)

    def left(self, item: Item, move: Move) -> None:
        """What it alone held is lost, unless a summary holds it."""
        if self._is_idle:
            return
        for anchor in self._of.pop(item.id):
            self._drop(anchor, item)
        if item.form in EDITED and move.kind in ("summarised", "dropped"):
            self._edited.append(item)

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
            missing = list(_absent(missing, said))
            self._hold(gone[key][0] for key in gone.keys() - {_key(a) for a in missing})
        if move.kind not in ("rewound", "undone"):
            named = _named(missing, said)
            for anchor in missing:
                key = _key(anchor)
                item = gone[key][1]
                entry = _Lost(anchor, item.id, self._calls, item.is_human, anchor in named)
                self._lost[key] = entry
                self._by.setdefault(move.position, []).append(entry)
        if self._edited:
            self._before[move.position] = sum(
                _key(anchor) in self._lost
                for item in self._edited
                for anchor in item_anchors(self.subject.items.get(origin(item.id), item))
            )
        self._gone, self._edited, self._new = [], [], []

    def _missing(self) -> dict[str, tuple[Anchor, Item]]:
        """What no item holds any more, and the item of it that tells most: a person's, else the
        newest."""
        found: dict[str, tuple[Anchor, Item]] = {}
        for anchor, item in self._gone:
            key = _key(anchor)
            if key not in self._count and not (key in found and found[key][1].is_human):
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

    def find(self) -> Iterator[Finding]:
        """By compaction, then by kind."""
        for position, compaction in self.subject.noted.compactions.items():
            if compaction.is_opaque:
                continue
            entries = [entry for entry in self._by.get(position, ()) if not entry.is_back]
            before = self._before.get(position, 0)
            for kind in KINDS:
                of_kind = [entry for entry in entries if entry.anchor.kind == kind]
                if of_kind:
                    yield self._finding(compaction, kind, of_kind, before)
                    before = 0

    def _finding(
        self, compaction: Compacted, kind: Kind, entries: list[_Lost], before: int
    ) -> Finding:
        order = {"model": 0, "person": 1, "tool": 2, "": 3}
        entries = sorted(
            entries, key=lambda entry: (order[entry.by], entry.is_named, not entry.is_said)
        )
        missed = sum(entry.by in ("model", "person") and not entry.is_named for entry in entries)
        where = "in its summary" if compaction.messages else "in what stayed"
        what = plural(len(entries), _WORDS[kind])
        is_are = "is" if len(entries) == 1 else "are"
        parts = [f"{what} of what {compaction.name} covered {is_are} not {where}"]
        again = [_told(entry) for entry in entries if entry.by]
        if again:
            parts.append(f"came up again: {listed(again)}")
        if len(again) < len(entries):
            rest = [
                f"{quoted(entry.anchor.text)} ({entry.item})" for entry in entries if not entry.by
            ]
            parts.append(("never again: " if again else "") + listed(rest))
        if before:
            parts.append(f"{before:,} literals of it had been cleared or cut before")
        return Finding(
            rule=self.name,
            severity="warning" if missed or kind == "rule" else "info",
            refs=some((compaction.name, *dict.fromkeys(entry.item for entry in entries))),
            message="; ".join(parts)
            if again
            else ": ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:]),
            heuristic=bool(again),
            next=("recover", "S", "--lost", compaction.name),
            position=compaction.position,
            count=len(entries),
            anchors=tuple(
                Literally(
                    kind=kind,
                    text=entry.anchor.text,
                    item=entry.item,
                    used=(entry.used,) if entry.used else (),
                    by=entry.by,
                    is_named=entry.is_named,
                )
                for entry in entries[:MOST]
            ),
        )


def _told(entry: _Lost) -> str:
    said = {"model": "the model used it", "person": "a person said it", "tool": "found again"}
    return f"{quoted(entry.anchor.text)} ({entry.item}, {said[entry.by]} in {entry.used})"


def _absent(missing: Iterable[Anchor], said: Sequence[str]) -> Iterator[Anchor]:
    """What a summary does not hold; a rule may be said in other words."""
    words = content_words("\n".join(said))
    for anchor in lost(missing, said):
        wanted = content_words(anchor.text) if anchor.kind == "rule" else frozenset()
        if not wanted or len(wanted & words) < DEGRADED * len(wanted):
            yield anchor


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
