"""Rules that were broken when the model could no longer see them. A heuristic.

A rule is a sentence of a person or a system prompt (``anchor_rules``). It can be seen while its
item stands, while somebody's later message says it again, and while a summary has most of its
words. What it forbids is read by ``forbidden``; whether a call does that, by what its arguments
say. Both are looked up, so a message or a call costs the same however many rules there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from eventlog.messages import SYSTEM_ROLES
from projections.anchors import item_anchors
from projections.audit.forbidden import Target, done_by, targets
from projections.audit.model import Finding, Literally
from projections.audit.passages import Move
from projections.audit.rule import Rule, quoted, some, spans
from projections.audit.subject import Subject
from projections.items import Item
from projections.metrics.keepers import content_words, is_reworded
from projections.metrics.mentions import texts
from projections.reading import calls_of
from projections.runs import origin

_PIECE = 8
"""Characters of a rule by which it is found in a text."""


@dataclass(slots=True)
class _Said:
    """A rule that forbids something."""

    text: str
    item: str
    forbids: tuple[Target, ...]
    folded: str
    words: frozenset[str]
    holders: set[str] = field(default_factory=set)
    """Items that stand and say it."""
    gone: Move | None = None
    """What took the last of them."""
    breaches: list[tuple[int, str, str]] = field(default_factory=list)
    """(call number, item, what was done)"""


class BrokenRules(Rule):
    """One finding for each rule."""

    name = "broken_rules"
    about = "what a rule forbids, done when the rule could no longer be seen"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._rules: dict[str, _Said] = {}
        self._texts = _Texts()
        self._held: dict[str, list[_Said]] = {}
        """By item, the rules that it says."""
        self._unseen: dict[Target, dict[str, _Said]] = {}
        """By what they forbid, the rules that nothing says any more."""
        self._deepest = 0
        """Names in the longest path that is forbidden."""

    def came(self, item: Item, move: Move | None) -> None:
        """An item that may give a rule, say it again, or break it."""
        if item.is_human or item.role in SYSTEM_ROLES:
            for anchor in item_anchors(item):
                if anchor.kind == "rule":
                    self._found(anchor.text, item)
        if not self._rules:
            return
        if item.kind != "tool_result":
            said = "\n".join(texts(item))
            for folded in self._texts.inside(" ".join(said.casefold().split())):
                self._holds(item, self._rules[folded])
            if item.kind == "summary":
                words = content_words(said)
                for rule in self._rules.values():
                    if item.id not in rule.holders and is_reworded(rule.words, words):
                        self._holds(item, rule)
        if move is None and item.call is not None:
            self._answered(item, item.call)

    def _found(self, text: str, item: Item) -> None:
        folded = " ".join(text.casefold().split())
        if folded not in self._rules:
            forbids = targets(text)
            if forbids:
                rule = _Said(text, item.id, forbids, folded, content_words(text))
                self._rules[folded] = rule
                self._texts.add(folded)
                depths = (each.text.count("/") + 1 for each in forbids if each.kind == "path")
                self._deepest = max((self._deepest, *depths))

    def _holds(self, item: Item, rule: _Said) -> None:
        if not rule.holders:
            for target in rule.forbids:
                self._unseen.get(target, {}).pop(rule.folded, None)
        rule.holders.add(item.id)
        self._held.setdefault(item.id, []).append(rule)

    def left(self, item: Item, move: Move) -> None:
        """A rule may not be seen any more."""
        for rule in self._held.pop(item.id, ()):
            rule.holders.remove(item.id)
            if rule.holders:
                continue
            rule.gone = move
            if move.kind != "rewound":
                for target in rule.forbids:
                    self._unseen.setdefault(target, {})[rule.folded] = rule

    def changed(self, before: Item, after: Item, move: Move) -> None:
        """Likewise; a revision can say another one."""
        self.left(before, move)
        self.came(after, move)

    def _answered(self, item: Item, position: int) -> None:
        called = self.subject.noted.calls.get(position)
        if called is None or not self._unseen:
            return
        for part in calls_of(item):
            done = done_by(part, self._deepest)
            broken = {
                folded: rule
                for target in done.keys() & self._unseen.keys()
                for folded, rule in self._unseen[target].items()
            }
            for rule in broken.values():
                what = next(done[target] for target in rule.forbids if target in done)
                rule.breaches.append((called.number, item.id, what))

    def find(self) -> Iterator[Finding]:
        """Each rule that was broken unseen."""
        for rule in self._rules.values():
            if not rule.breaches or rule.gone is None:
                continue
            if self.subject.is_erased(rule.gone.position):
                continue  # the summary may have said it
            if self._is_remembered(rule):
                continue  # it was forgotten on purpose, or holds no more
            calls = list(dict.fromkeys(number for number, _, _ in rule.breaches))
            by = self.subject.name(rule.gone.position)
            since = self.subject.next_call(rule.gone.position)
            done = rule.breaches[0][2]
            seen = f" from {since.name}" if since is not None else ""
            yield Finding(
                rule=self.name,
                severity="info" if self.subject.is_sealed(rule.gone.position) else "warning",
                refs=some(
                    dict.fromkeys(
                        (
                            *(by, rule.item),
                            *(ref for n, item, _ in rule.breaches for ref in (f"c{n}", item)),
                        )
                    )
                ),
                message=f"{quoted(rule.text)} ({rule.item}) is gone with {by}, not visible{seen}; "
                f"{spans(calls)} did {quoted(done)}",
                heuristic=True,
                next=("why", "S", f"{rule.item}@c{calls[0]}"),
                position=self.subject.calls[calls[0] - 1].position,
                count=len(rule.breaches),
                anchors=(
                    Literally(
                        kind="rule",
                        text=rule.text,
                        item=rule.item,
                        used=tuple(f"c{number}" for number in calls),
                        by="model",
                    ),
                ),
            )

    def _is_remembered(self, rule: _Said) -> bool:
        """Whether a message of memories alone said it."""
        item = self.subject.items.get(origin(rule.item))
        return item is not None and item.source == "memory"


class _Texts:
    """Rules that are looked for in texts, each by a piece of it that few others were given."""

    def __init__(self) -> None:
        self._by_piece: dict[int, dict[str, list[str]]] = {}
        """By the length of the piece."""

    def add(self, rule: str) -> None:
        size = min(_PIECE, len(rule))
        pieces = self._by_piece.setdefault(size, {})
        each = (rule[at : at + size] for at in range(len(rule) - size + 1))
        pieces.setdefault(min(each, key=lambda piece: len(pieces.get(piece, ()))), []).append(rule)

    def inside(self, text: str) -> list[str]:
        """The rules that stand in a text."""
        found: dict[str, bool] = {}
        for size, pieces in self._by_piece.items():
            for piece in pieces.keys() & {text[at : at + size] for at in range(len(text))}:
                for rule in pieces[piece]:
                    found.setdefault(rule, rule in text)
        return [rule for rule, stands in found.items() if stands]
