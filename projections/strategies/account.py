"""What became of every item: kept, edited, summarised, dropped or rewound, with one reason.

Everything that came in is in one state, and the tokens over all states add up: what stands is what
the context holds, and what left left through one change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from projections.applying import Applier
from projections.recording import Step
from projections.runs import Origin

State = Literal["kept", "edited", "summarised", "dropped", "rewound", "unaccounted"]


@dataclass(frozen=True, slots=True)
class Line:
    """One item in the account."""

    origin: Origin
    state: State
    came: int
    """Tokens when it came in."""
    stands: int
    """Tokens that the context holds of it."""
    reason: str = ""
    position: int = 0
    """Where it left, 0 while it stands."""


@dataclass(frozen=True, slots=True)
class Account:
    """The lines of all items that ever came in, summaries included."""

    lines: tuple[Line, ...]

    def tokens(self, state: State) -> int:
        """What came in and is in that state now, in tokens as it came."""
        return sum(line.came for line in self.lines if line.state == state)

    @property
    def came(self) -> int:
        """Tokens of everything that came in."""
        return sum(line.came for line in self.lines)

    @property
    def stands(self) -> int:
        """Tokens that the context holds."""
        return sum(line.stands for line in self.lines)


def account(applier: Applier, steps: Iterable[Step]) -> Account:
    """The account of a run, from its applier and the steps that it took."""
    came: dict[Origin, int] = {s.origin: s.tokens for s in steps if s.kind == "item"}
    came.update(applier.brought)
    return Account(tuple(_line(applier, origin, tokens) for origin, tokens in came.items()))


def _line(applier: Applier, origin: Origin, tokens: int) -> Line:
    entry = applier.window.entries.get(origin)
    if entry is not None:
        state: State = "kept" if entry.item is entry.original else "edited"
        return Line(origin, state, tokens, entry.tokens)
    if origin not in applier.fates:
        return Line(origin, "unaccounted", tokens, 0)
    change = applier.fates[origin]
    if change is None:
        return Line(origin, "rewound", tokens, 0, "the session was rewound")
    if change.kind == "summarised" and origin not in change.unseen:
        return Line(origin, "summarised", tokens, 0, change.reason, change.position)
    unseen = "not shown to the summarizer" if origin in change.unseen else change.reason
    return Line(origin, "dropped", tokens, 0, unseen, change.position)
