"""What must not get lost: system messages, the first task, pins, rules, the last word, to-do lists.

Each is *verbatim* while its item stands as it came (a rule also where a summary holds it whole),
*degraded* where at least 60 % of its content words stand in what took its place, else *lost*. It is
judged at every round (a call before which something was compacted), and at the last call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from eventlog.messages import SYSTEM_ROLES
from projections.anchors import item_anchors
from projections.metrics.ground import CallFacts, Ground, Rendition
from projections.metrics.mentions import texts
from projections.metrics.model import Result
from projections.runs import Origin
from projections.strategies.window import Window

Kind = Literal["system", "first_task", "pinned", "rule", "last_user", "todo"]
KINDS: tuple[Kind, ...] = ("system", "first_task", "pinned", "rule", "last_user", "todo")
State = Literal["verbatim", "degraded", "lost"]

DEGRADED = 0.6
"""Share of the content words that must stand for something to be only degraded."""

_WORDS = re.compile(r"[\u3400-\u9fff]|\w{3,}")


class Fate(Result):
    """How many of one kind stand how."""

    kind: Kind
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

    kind: Kind
    item: str
    text: str
    state: State


class Survival(Result):
    """At the last call, and on the way there."""

    at_end: tuple[Fate, ...]
    rounds: tuple[Round, ...]
    not_verbatim: tuple[LostKeeper, ...]
    """At the last call."""


@dataclass(slots=True)
class _Keeper:
    kind: Kind
    origin: Origin
    text: str
    words: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.casefold()))


def keepers(ground: Ground) -> dict[Origin, list[_Keeper]]:
    """What must stay, by the item that says it; not what the session itself took back."""
    found: dict[Origin, list[_Keeper]] = {}

    def keep(kind: Kind, origin: Origin, text: str) -> None:
        if origin in ground.standing:
            found.setdefault(origin, []).append(_Keeper(kind, origin, text, _words(text)))

    for origin in ground.head:
        item = ground.original(origin).item
        keep("first_task" if item.is_human else "system", origin, "\n".join(texts(item)))
    for origin in ground.pinned:
        if origin in ground.items:
            keep("pinned", origin, "\n".join(texts(ground.original(origin).item)))
    for origin in ground.items:
        item = ground.original(origin).item
        if item.is_human or item.role in SYSTEM_ROLES:
            for anchor in item_anchors(item):
                if anchor.kind == "rule":
                    keep("rule", origin, anchor.text)
    return found


class SurvivalMeter:
    """Follows what must stay by what changes."""

    def __init__(self, ground: Ground, kept: dict[Origin, list[_Keeper]]) -> None:
        self.ground, self.kept = ground, kept
        self._there: set[Origin] = set()
        """Items with keepers that have come in at all."""
        self._loose: set[Origin] = set()
        """Of those, the ones that do not stand as they came."""
        self._count = 0
        self._loose_count = 0
        self._summaries: dict[Origin, tuple[str, frozenset[str]]] = {}
        self._judged: dict[int, State] = {}
        self._newest: dict[tuple[Kind, Origin], _Keeper] = {}
        self._rounds: list[Round] = []

    def change(self, origin: Origin, before: Rendition | None, after: Rendition | None) -> None:
        """An item came, left, or stands otherwise."""
        if after is not None and after.item.kind == "summary":
            text = " ".join("\n".join(texts(after.item)).split())
            self._summaries[origin] = (text.casefold(), _words(text))
            self._judged.clear()
        elif before is not None and before.item.kind == "summary":
            self._summaries.pop(origin, None)
            self._judged.clear()
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
        for keeper in keepers:
            self._judged.pop(id(keeper), None)

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

    def _state(self, keeper: _Keeper, window: Window) -> State:
        found = self._judged.get(id(keeper))
        if found is None:
            found = self._judged[id(keeper)] = self._judge(keeper, window)
        return found

    def _judge(self, keeper: _Keeper, window: Window) -> State:
        entry = window.entries.get(keeper.origin)
        if entry is not None and entry.item.form in ("original", "revised"):
            return "verbatim"
        words: set[str] = set()
        if entry is not None:
            words |= _words("\n".join(texts(entry.item)))
        for text, held in self._summaries.values():
            words |= held
            if keeper.kind == "rule" and " ".join(keeper.text.casefold().split()) in text:
                return "verbatim"
        if keeper.words and len(keeper.words & words) >= DEGRADED * len(keeper.words):
            return "degraded"
        return "lost"

    def _latest(self, facts: CallFacts, window: Window) -> list[tuple[Kind, State, _Keeper]]:
        """Those of which only the newest counts."""
        found: list[tuple[Kind, State, _Keeper]] = []
        named: tuple[tuple[Kind, Origin | None], ...] = (
            ("last_user", facts.last_human),
            ("todo", facts.todo),
        )
        for kind, origin in named:
            if origin is not None:
                keeper = self._newest.get((kind, origin))
                if keeper is None:
                    text = "\n".join(texts(self.ground.original(origin).item))
                    keeper = _Keeper(kind, origin, text, _words(text))
                    self._newest[(kind, origin)] = keeper
                found.append((kind, self._judge(keeper, window), keeper))
        return found

    def result(self, facts: CallFacts, window: Window) -> Survival:
        """At a call, the last one."""
        counts: dict[Kind, dict[State, int]] = {}
        bad: list[LostKeeper] = []
        judged = [
            (keeper.kind, self._state(keeper, window), keeper)
            for origin, keepers in self.kept.items()
            if origin in self._there
            for keeper in keepers
        ]
        for kind, state, keeper in (*judged, *self._latest(facts, window)):
            of_kind = counts.setdefault(kind, {"verbatim": 0, "degraded": 0, "lost": 0})
            of_kind[state] += 1
            if state != "verbatim":
                item = str(keeper.origin)
                bad.append(LostKeeper(kind=kind, item=item, text=keeper.text, state=state))
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
