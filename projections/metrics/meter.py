"""Measures one run, call by call, from what changed since the call before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from projections.metrics.accounting import Accounting, accounting
from projections.metrics.artifacts import ArtifactMeter
from projections.metrics.compactions import COMPACTING
from projections.metrics.facts import Rendition
from projections.metrics.ground import Ground
from projections.metrics.recall import RecallMeter
from projections.metrics.refetch import RefetchMeter
from projections.metrics.survival import Survival, SurvivalMeter
from projections.metrics.taken import TakenBy
from projections.metrics.validity import ValidityMeter
from projections.observed import OBSERVED
from projections.runs import Origin
from projections.strategies.window import Window
from projections.whatif import WhatIf


class Meter:
    """The observer of a run."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.recall = RecallMeter(ground)
        self.artifacts = ArtifactMeter(ground, self.recall)
        self.refetch = RefetchMeter()
        self.survival = SurvivalMeter(ground)
        self.validity = ValidityMeter(ground)
        self.taken = TakenBy()
        self.accounting: Accounting | None = None
        self.survived: Survival | None = None
        self._shown: dict[Origin, Rendition] = {}
        self._hash = hashlib.sha256()

    def __call__(self, run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        """A call is made with what stands."""
        number = len(run.calls)
        facts = self.ground.calls[number - 1]
        compacted = any(c.kind in COMPACTING for c in self.taken.catch_up(run.changes))
        for origin in touched:
            self._touched(origin, window)
        self._hash.update(f"call {number}\n".encode())
        self.recall.call(number, facts, self.taken)
        is_last = number == len(self.ground.calls)
        self.artifacts.call(facts, is_last)
        self.refetch.call(number, facts, window)
        was_made = run.spec == OBSERVED
        self.validity.call(number, facts, window, self._shown, was_made=was_made)
        if compacted:
            self.survival.round(number, facts, window)
        if is_last:
            self.accounting = accounting(self.ground, window, self.taken)
            self.survived = self.survival.result(facts, window)

    def _touched(self, origin: Origin, window: Window) -> None:
        entry, before = window.entries.get(origin), self._shown.get(origin)
        after: Rendition | None = None
        if entry is not None:
            if before is not None and before.item is entry.item:
                return
            after = self.ground.rendition(origin, entry.item, entry.tokens)
            if before is not None and before.digest == after.digest:
                return
            self._shown[origin] = after
            place = f"{origin} {entry.order} ".encode()
            self._hash.update(place + after.digest)
        elif before is not None:
            del self._shown[origin]
            self._hash.update(f"{origin} left\n".encode())
        self.survival.change(origin, before, after)
        self.recall.change(origin, before, after)
        self.validity.change(origin, before, after, window, self._shown)

    @property
    def digest(self) -> str:
        """Over the contexts of all calls: equal when all of them are."""
        return self._hash.hexdigest()
