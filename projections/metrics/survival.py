"""What must not get lost: system messages, the first task, pins, rules, the last word, to-do lists.

Of to-do lists it is what the latest leaves open: what is finished need not be known any more.
Each is *verbatim* while its item stands as it came (a rule also where a summary holds it whole),
*degraded* where at least 60 % of its content words stand in what took its place, else *lost*. It is
judged at every round (a call before which something was compacted), and at the last call.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from projections.metrics.facts import CallFacts, Rendition
from projections.metrics.ground import Ground
from projections.metrics.keepers import (
    KINDS,
    Keeper,
    KeeperKind,
    content_words,
    is_reworded,
    keeper,
)
from projections.metrics.mentions import texts
from projections.metrics.model import Result
from projections.runs import Origin
from projections.strategies.window import Window

State = Literal["verbatim", "degraded", "lost"]


class Fate(Result):
    """How many of one kind stand how."""

    kind: KeeperKind
    verbatim: int = 0
    degraded: int = 0
    lost: int = 0


class Round(Result):
    """After a compaction: all kinds together."""

    call: int
    verbatim: int
    degraded: int
    lost: int


class LostKeeper(Result):
    """Something that should have stayed."""

    kind: KeeperKind
    item: str
    text: str
    state: State


class Survival(Result):
    """At the last call, and on the way there."""

    at_end: tuple[Fate, ...]
    rounds: tuple[Round, ...]
    not_verbatim: tuple[LostKeeper, ...]
    """At the last call."""


class SurvivalMeter:
    """Follows what must stay by what changes."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.kept = ground, ground.keepers
        self._there: set[Origin] = set()
        """Items with keepers that have come in at all."""
        self._loose: set[Origin] = set()
        """Of those, the ones that do not stand as they came."""
        self._count = 0
        self._loose_count = 0
        self._summaries: dict[Origin, tuple[str, frozenset[str]]] = {}
        self._said: frozenset[str] | None = None
        """The words of all summaries; None where they are to be gathered anew."""
        self._judged: dict[int, State] = {}
        self._newest: dict[tuple[KeeperKind, Origin], Keeper] = {}
        self._rounds: list[Round] = []

    def change(self, origin: Origin, before: Rendition | None, after: Rendition | None) -> None:
        """An item came, left, or stands otherwise."""
        if after is not None and after.item.kind == "summary":
            text = " ".join("\n".join(texts(after.item)).split())
            self._summaries[origin] = (text.casefold(), content_words(text))
            self._judged.clear()
            self._said = None
        elif before is not None and before.item.kind == "summary":
            self._summaries.pop(origin, None)
            self._judged.clear()
            self._said = None
        keepers = self.kept.get(origin)
        if keepers is None:
            return
        if origin not in self._there:
            self._there.add(origin)
            self._count += len(keepers)
        loose = after is None or after.item.form not in ("original", "revised")
        if loose != (origin in self._loose):
            self._loose ^= {origin}
            self._loose_count += len(keepers) if loose else -len(keepers)
        for each in keepers:
            self._judged.pop(id(each), None)

    def round(self, number: int, facts: CallFacts, window: Window) -> None:
        """A call is made after something was compacted."""
        states = self._loose_states(window)
        states += [state for _, state, _ in self._latest(facts, window)]
        verbatim = self._count - self._loose_count + states.count("verbatim")
        self._rounds.append(
            Round(
                call=number,
                verbatim=verbatim,
                degraded=states.count("degraded"),
                lost=states.count("lost"),
            )
        )

    def _loose_states(self, window: Window) -> list[State]:
        return [self._state(k, window) for o in self._loose for k in self.kept[o]]

    def _state(self, kept: Keeper, window: Window) -> State:
        found = self._judged.get(id(kept))
        if found is None:
            found = self._judged[id(kept)] = self._judge(kept, window)
        return found

    def _judge(self, kept: Keeper, window: Window) -> State:
        entry = window.entries.get(kept.origin)
        if entry is not None and entry.item.form in ("original", "revised"):
            return "verbatim"
        if kept.kind == "rule":
            rule = " ".join(kept.text.casefold().split())
            if any(rule in text for text, _ in self._summaries.values()):
                return "verbatim"
        if self._said is None:
            held = (words for _, words in self._summaries.values())
            self._said = frozenset().union(*held)
        words: Set[str] = self._said
        if entry is not None:
            words = words | content_words("\n".join(texts(entry.item)))
        if is_reworded(kept.words, words):
            return "degraded"
        return "lost"

    def _latest(self, facts: CallFacts, window: Window) -> list[tuple[KeeperKind, State, Keeper]]:
        """Those of which only the newest counts; a to-do list that is all done is over."""
        found: list[tuple[KeeperKind, State, Keeper]] = []
        named: tuple[tuple[KeeperKind, Origin | None], ...] = (
            ("last_user", facts.last_human),
            ("todo", facts.todo),
        )
        for kind, origin in named:
            wanted = "\n".join(self.ground.todos[origin]) if origin and kind == "todo" else None
            if origin is not None and wanted != "":
                newest = self._newest.get((kind, origin))
                if newest is None:
                    newest = keeper(kind, origin, self.ground.original(origin).item, wanted)
                    self._newest[(kind, origin)] = newest
                found.append((kind, self._judge(newest, window), newest))
        return found

    def result(self, facts: CallFacts, window: Window) -> Survival:
        """At a call, the last one."""
        counts: dict[KeeperKind, dict[State, int]] = {}
        bad: list[LostKeeper] = []
        judged = [
            (each.kind, self._state(each, window), each)
            for origin, keepers in self.kept.items()
            if origin in self._there
            for each in keepers
        ]
        for kind, state, each in (*judged, *self._latest(facts, window)):
            of_kind = counts.setdefault(kind, {"verbatim": 0, "degraded": 0, "lost": 0})
            of_kind[state] += 1
            if state != "verbatim":
                item = str(each.origin)
                bad.append(LostKeeper(kind=kind, item=item, text=each.text, state=state))
        at_end = tuple(
            Fate(
                kind=kind,
                verbatim=counts[kind]["verbatim"],
                degraded=counts[kind]["degraded"],
                lost=counts[kind]["lost"],
            )
            for kind in KINDS
            if kind in counts
        )
        return Survival(at_end=at_end, rounds=tuple(self._rounds), not_verbatim=tuple(bad))
