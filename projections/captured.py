"""The context of one call of a run, and what had been decided until then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from projections.items import Item
from projections.runs import Origin
from projections.strategies.window import Window
from projections.whatif import Change, Observer, WhatIf


@dataclass(frozen=True, slots=True)
class Captured:
    """What one call was, or would have been, given."""

    items: tuple[Item, ...]
    changes: tuple[Change, ...]
    position: int
    """Of the call."""


def captured(run: Callable[[Observer], object], number: int) -> Captured | None:
    """Run it, and keep the context of the n-th call; None when there are fewer calls.

    A what-if decides at the call itself too, so the steps before a call do not give its context.
    """
    found: list[Captured] = []

    def look(what: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        if len(what.calls) == number:
            items = tuple(entry.item for entry in window.entries.values())
            found.append(Captured(items, tuple(what.changes), what.calls[-1].position))

    run(look)
    return found[0] if found else None
