"""What the conformance kit reads: the context at each call of a run; and what a rule of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from projections.items import Item
from projections.recording import Recording, Step
from projections.runs import Origin
from projections.strategies.account import Account, account
from projections.strategies.entries import Entry
from projections.whatif import Call, Change, Runner

Broken = Iterator[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Seen:
    """What stood at one call."""

    call: Call
    changes: tuple[Change, ...]
    """Since the call before."""
    items: tuple[tuple[Origin, Item], ...]
    originals: dict[Origin, Item]
    summaries: frozenset[Origin]
    tokens: int
    account: Account
    limits: tuple[tuple[str, int], ...]
    """The strategies that promise a number at a call, and the numbers."""

    @classmethod
    def of(
        cls, runner: Runner, call: Call, changes: tuple[Change, ...], steps: Sequence[Step]
    ) -> Seen:
        """The state of a runner, at a call."""
        entries: list[Entry] = list(runner.window.entries.values())
        return cls(
            call=call,
            changes=changes,
            items=tuple((entry.origin, entry.item) for entry in entries),
            originals={entry.origin: entry.original for entry in entries},
            summaries=frozenset(entry.origin for entry in entries if entry.is_summary),
            tokens=sum(entry.tokens for entry in entries),
            account=account(runner.applier, steps),
            limits=tuple(
                (s.spec, s.limit)
                for s in runner.strategies
                if s.limit is not None and s.at == "model_call"
            ),
        )

    @property
    def number(self) -> int:
        """Of the call, from 1."""
        return self.call.number

    @property
    def standing(self) -> dict[Origin, Item]:
        """The items by origin, in order."""
        return dict(self.items)


class Rule(NamedTuple):
    """One rule."""

    name: str
    broken: Callable[[Recording, Sequence[Seen], Sequence[Seen]], Broken]
