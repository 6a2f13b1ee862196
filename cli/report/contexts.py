"""The contexts of all calls, each as the difference from the one before.

Rows are numbered in the order of the log, and that is known only when all were met: so contexts
are first noted by labels, and numbered at the end. A call costs what changes in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from cli.report.model import CATEGORIES, Category, ContextData
from projections.prefix_requests import Part

_TOOLS = CATEGORIES.index("tools")


@dataclass(slots=True)
class _Noted:
    keep: int
    labels: list[str]
    tokens: list[int]


@dataclass(slots=True)
class Contexts:
    """Hears of each call; see ``prefixes.Heard``."""

    category_of: Callable[[str], Category]
    """Of a rendition."""
    _noted: list[_Noted] = field(default_factory=list)
    _stands: list[tuple[int, int]] = field(default_factory=list)
    """The category and the tokens of each entry of the last context."""
    _sums: list[int] = field(default_factory=lambda: [0] * len(CATEGORIES))

    def hear(self, place: int, tail: Sequence[Part], tools: int) -> None:
        """One more call."""
        sums = self._sums
        for category, tokens in self._stands[place:]:
            sums[category] -= tokens
        del self._stands[place:]
        for label, tokens in tail:
            category = CATEGORIES.index(self.category_of(label))
            self._stands.append((category, tokens))
            sums[category] += tokens
        counts = sums[:]
        counts[_TOOLS] += tools
        self._noted.append(_Noted(place, [label for label, _ in tail], counts))

    def numbered(self, rows: Mapping[str, int]) -> list[ContextData]:
        """All of them, by the numbers of the rows."""
        return [
            ContextData(
                keep=noted.keep,
                add=runs_of([rows[label] for label in noted.labels]),
                tokens=noted.tokens,
            )
            for noted in self._noted
        ]


def runs_of(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers in their order as runs: the first one, and how many follow each other."""
    found = []
    for _, group in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        run = [number for _, number in group]
        found.append((run[0], len(run)))
    return found
