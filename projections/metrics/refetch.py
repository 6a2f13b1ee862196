"""Tool calls that were made again although nothing had changed: why, and what they cost.

In the context as observed a repeat whose first result was gone is explained by the loss. In a
what-if the recorded repeat stays, so it says something else: where the first result still stands,
the repeat was avoidable; where it does not, the strategy would have needed it.
"""

from __future__ import annotations

from projections.metrics.facts import CallFacts
from projections.metrics.model import Result
from projections.strategies.window import Window


class Refetch(Result):
    """Repeated calls, by whether the earlier result could be seen."""

    repeats: int
    gone: int
    """The earlier result was not there, or not whole: explained by loss, or needed."""
    visible: int
    """It stood there whole: avoidable."""
    tokens_gone: int
    """Tokens spent again where it was gone."""
    tokens_visible: int
    calls: tuple[int, ...]
    """The calls whose answers repeated what was gone."""


class RefetchMeter:
    """Looks, at each repeat, whether the earlier result stands."""

    def __init__(self) -> None:
        self._count, self._tokens = [0, 0], [0, 0]
        self._calls: list[int] = []

    def call(self, number: int, facts: CallFacts, window: Window) -> None:
        """A call is made with what stands."""
        for repeat in facts.repeats:
            entry = window.entries.get(repeat.earlier)
            visible = entry is not None and entry.item.form in ("original", "revised")
            self._count[visible] += 1
            self._tokens[visible] += repeat.tokens
            if not visible and self._calls[-1:] != [number]:
                self._calls.append(number)

    def result(self) -> Refetch:
        """Over all calls."""
        return Refetch(
            repeats=sum(self._count),
            gone=self._count[False],
            visible=self._count[True],
            tokens_gone=self._tokens[False],
            tokens_visible=self._tokens[True],
            calls=tuple(self._calls),
        )
