"""Whether a context can be sent as a strategy left it, call by call and dialect by dialect.

Legality repairs whatever it is given, so every request is accepted in the end; this says how often
it had to. The rules are those of ``legality`` that a provider has, judged here by what changes: a
unit (an answer with its results) is looked at when one of its items comes, leaves or changes, and
no context is ever looked through. What a person would miss in it is told by ``survival``.

A request that really was made and answered was taken, whatever is thought of it here, unless the
record itself shows that it cannot have been sent so: a call that never got a result stands in it,
or a result without its call (the rule ``pairs`` of an audit tells of the same ones). Then the agent
had repaired it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from eventlog.messages import SYSTEM_ROLES
from projections.metrics.facts import CallFacts, Rendition
from projections.metrics.ground import Ground
from projections.metrics.model import Result, ratio
from projections.runs import Origin, position_of
from projections.strategies.window import Entry, Window

Dialect = Literal["openai_chat", "openai_responses", "anthropic"]
Shown = Mapping[Origin, Rendition]
"""What stands, as it was last seen."""
DIALECTS: tuple[Dialect, ...] = ("openai_chat", "openai_responses", "anthropic")
Rule = Literal[
    "unanswered_call",
    "orphan_result",
    "misplaced_result",
    "repeated_call_id",
    "thinking_changed",
    "thinking_alone",
    "empty_message",
    "no_user_first",
]
_ONLY: dict[Rule, Dialect] = {
    "repeated_call_id": "anthropic",
    "thinking_alone": "openai_responses",
    "empty_message": "anthropic",
    "no_user_first": "anthropic",
}
"""Rules that one provider alone has."""
_SHOWN: frozenset[Rule] = frozenset({"unanswered_call", "orphan_result"})
"""What the record can show of a request that was answered."""


class Failure(Result):
    """A call whose context could not be sent as it was."""

    call: int
    rule: Rule
    items: tuple[str, ...]


class Validity(Result):
    """Of one dialect."""

    dialect: Dialect
    calls: int
    valid: int
    share: float | None
    first: Failure | None
    by_rule: dict[Rule, int]
    """Calls that broke each rule."""


class ValidityMeter:
    """Follows which rules a context breaks."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._broken: dict[Rule, dict[Origin, None]] = {}
        """Items at fault, by rule; those that ``_now`` finds are not in it."""
        self._open: dict[Origin, None] = {}
        """Items of units with an open call."""
        self._holder: dict[str, Origin] = {}
        """The item with the call of that id; of an id that several had, ``_holders``."""
        self._holders: dict[str, dict[Origin, int]] = {}
        self._repeated: set[str] = set()
        self._gaps: dict[Origin, tuple[Origin, frozenset[Origin]]] = {}
        """Results with something between them and their call: the call, and what it is."""
        self._latest: Origin | None = None
        """The newest item of the model."""
        self._alone: dict[Origin, Origin] = {}
        """Reasoning, and the item behind it that it is bound to."""
        self._calls = 0
        self._failed: dict[Dialect, int] = dict.fromkeys(DIALECTS, 0)
        self._first: dict[Dialect, Failure] = {}
        self._by_rule: dict[Dialect, dict[Rule, int]] = {dialect: {} for dialect in DIALECTS}

    def change(
        self,
        origin: Origin,
        before: Rendition | None,
        after: Rendition | None,
        window: Window,
        shown: Shown,
    ) -> None:
        """An item came, left, or stands otherwise."""
        if after is None:
            if before is not None:
                self._left(origin, before)
            return
        entry = window.entries[origin]
        self._mark("empty_message", origin, not after.shape.says)
        if before is None:
            self._came(origin, after, entry, window, shown)
        elif after.item.form not in ("original", "revised"):
            self._mark("thinking_changed", origin, self._signed(origin))

    def _mark(self, rule: Rule, origin: Origin, broken: bool) -> None:
        if broken:
            self._broken.setdefault(rule, {})[origin] = None
        elif rule in self._broken:
            self._broken[rule].pop(origin, None)

    def _signed(self, origin: Origin) -> bool:
        return origin in self.ground.items and self.ground.original(origin).shape.signed

    def _came(
        self, origin: Origin, after: Rendition, entry: Entry, window: Window, shown: Shown
    ) -> None:
        unit = entry.unit
        if unit.waiting:
            self._open[origin] = None
        for call_id in after.calls:
            self._held(call_id, origin)
        if after.shape.role == "assistant":
            self._bind(origin, window, shown)
            self._latest = origin
        for call_id in after.results:
            caller = _caller(entry, call_id, shown)
            if caller is None:
                self._mark("orphan_result", origin, True)
            else:
                self._place(origin, caller, entry, window)

    def _held(self, call_id: str, origin: Origin) -> None:
        if call_id and call_id not in self._holders and call_id not in self._holder:
            self._holder[call_id] = origin
            return
        first = self._holder.pop(call_id, None)
        holders = self._holders.setdefault(call_id, {} if first is None else {first: 1})
        holders[origin] = holders.get(origin, 0) + 1
        if _is_repeated(call_id, holders):
            self._repeated.add(call_id)

    def _bind(self, origin: Origin, window: Window, shown: Shown) -> None:
        """Reasoning that stood at the end is bound to what now stands behind it."""
        back = reversed(window.entries)
        last = next((o for o in back if o == origin), None)
        before = next(back, None) if last is not None else None
        if before is not None and before in shown and shown[before].shape.only_thinks:
            self._alone[before] = origin

    def _place(self, origin: Origin, caller: Origin, entry: Entry, window: Window) -> None:
        """What stands between a result and its call that does not belong there."""
        call = window.entries[caller]
        if entry.order - call.order < len(entry.unit.items):
            return  # nothing but other items of the answer
        between = []
        for other in reversed(window.entries.values()):
            if other.origin == caller:
                break
            if other.order < entry.order and other.unit is not entry.unit:
                between.append(other.origin)
        if between:
            self._gaps[origin] = (caller, frozenset(between))

    def _left(self, origin: Origin, before: Rendition) -> None:
        for broken in self._broken.values():
            broken.pop(origin, None)
        self._gaps.pop(origin, None)
        self._alone.pop(origin, None)
        self._open.pop(origin, None)
        for call_id in before.calls:
            if self._holder.get(call_id) == origin:
                del self._holder[call_id]
            holders = self._holders.get(call_id, {})
            holders.pop(origin, None)
            if not _is_repeated(call_id, holders):
                self._repeated.discard(call_id)

    def call(
        self, number: int, facts: CallFacts, window: Window, shown: Shown, *, was_made: bool = False
    ) -> None:
        """A call is made with what stands; it really ``was_made`` with that, in no what-if."""
        self._calls += 1
        failures = list(self._now(window, shown))
        if was_made and facts.answered:
            failures = list(self._recorded(failures, facts, window, shown))
        for dialect in DIALECTS:
            found = [f for f in failures if _ONLY.get(f[0], dialect) == dialect]
            if not found:
                continue
            self._failed[dialect] += 1
            rule, items = found[0]
            named = tuple(str(item) for item in items)
            if dialect not in self._first:
                self._first[dialect] = Failure(call=number, rule=rule, items=named)
            counts = self._by_rule[dialect]
            for rule in dict.fromkeys(f[0] for f in found):
                counts[rule] = counts.get(rule, 0) + 1

    def _recorded(
        self,
        failures: Iterable[tuple[Rule, list[Origin]]],
        facts: CallFacts,
        window: Window,
        shown: Shown,
    ) -> Iterator[tuple[Rule, list[Origin]]]:
        """Of these, what the record shows."""
        for rule, items in failures:
            if rule == "unanswered_call":
                items = [o for o in items if self._is_unanswered(o, facts, window, shown)]
            if rule in _SHOWN and items:
                yield rule, items

    def _is_unanswered(
        self, origin: Origin, facts: CallFacts, window: Window, shown: Shown
    ) -> bool:
        """Whether a call of it got no result at all, or a decision took it: one that came in behind
        was on its way."""
        results = (self.ground.results.get((origin, each)) for each in shown[origin].calls)
        return any(
            result is None
            or (position_of(result) < facts.position and result not in window.entries)
            for result in results
        )

    def _now(self, window: Window, shown: Shown) -> Iterator[tuple[Rule, list[Origin]]]:
        entries = window.entries
        self._open = {o: None for o in self._open if o in entries and entries[o].unit.waiting}
        latest = entries[self._latest].unit if self._latest in entries else None
        waiting = [o for o in self._open if entries[o].unit is not latest]
        if waiting:
            yield "unanswered_call", waiting
        for rule, items in self._broken.items():
            if items:
                yield rule, list(items)
        misplaced = [
            o for o, (caller, between) in self._gaps.items() if any(b in entries for b in between)
        ]
        if misplaced:
            yield "misplaced_result", misplaced
        if self._repeated:
            found = [o for each in sorted(self._repeated) for o in self._holders[each]]
            yield "repeated_call_id", found
        alone = [o for o, behind in self._alone.items() if behind not in entries]
        if alone:
            yield "thinking_alone", alone
        speaking = ((e.origin, shown[e.origin].shape.role) for e in window.oldest())
        behind = (each for each in speaking if each[1] not in SYSTEM_ROLES)
        first, role = next(behind, (None, ""))
        if role != "user":
            yield "no_user_first", [first] if first is not None else []

    def result(self) -> tuple[Validity, ...]:
        """By dialect."""
        return tuple(
            Validity(
                dialect=dialect,
                calls=self._calls,
                valid=self._calls - self._failed[dialect],
                share=ratio(self._calls - self._failed[dialect], self._calls),
                first=self._first.get(dialect),
                by_rule=self._by_rule[dialect],
            )
            for dialect in DIALECTS
        )


def _is_repeated(call_id: str, holders: Mapping[Origin, int]) -> bool:
    """An empty id is none, and is given another too."""
    return sum(holders.values()) > 1 or (not call_id and bool(holders))


def _caller(entry: Entry, call_id: str, shown: Shown) -> Origin | None:
    """The item of the unit that made the call."""
    for origin in reversed(entry.unit.items):
        if origin in shown and call_id in shown[origin].calls:
            return origin
    return None
