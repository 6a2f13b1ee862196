"""What every rule of an audit is: something that watches the walk, and then says what it found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from projections.audit.model import Finding, RuleName
from projections.audit.passages import Watcher
from projections.audit.subject import Subject
from projections.runs import Origin

MOST_REFS = 20
"""References that a finding names; how many there are stands beside them."""


MOST_TOLD = 3
"""Names in a sentence, with as many more as there are."""


class Rule(Watcher):
    """One rule over one session."""

    name: ClassVar[RuleName]
    about: ClassVar[str]
    """What a finding of it means, in a few words."""

    needs: ClassVar[tuple[type[Watcher], ...]] = ()
    """What watches for it; several rules can have one in common."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def find(self) -> Iterator[Finding]:
        """The findings, when the walk is over."""
        raise NotImplementedError

    def told(self, items: Iterable[Origin]) -> tuple[tuple[str, ...], str]:
        """Items as runs, and the first of those in a sentence."""
        runs = self.subject.counted_runs(items)
        return tuple(name for name, _ in runs), runs_listed(runs)


def first(names: Iterable[str]) -> tuple[str, ...]:
    """The runs of items that a sentence names, for a command that goes on with those."""
    return tuple(names)[:MOST_TOLD]


def some(names: Iterable[str]) -> tuple[str, ...]:
    """The first of them, as many as a finding names."""
    return tuple(names)[:MOST_REFS]


def listed(names: Sequence[str], most: int = MOST_TOLD) -> str:
    """``a, b, c and 4 more``."""
    return runs_listed([(name, 1) for name in names], most)


def runs_listed(runs: Sequence[tuple[str, int]], most: int = MOST_TOLD) -> str:
    """``7-9, 12, 15 and 4 more``: runs, each with how many it holds; the rest is told in those."""
    if len(runs) == most + 1 and runs[most][1] == 1:
        most += 1
    text, rest = ", ".join(name for name, _ in runs[:most]), sum(held for _, held in runs[most:])
    return f"{text} and {rest:,} more" if rest else text


def spans(numbers: Iterable[int]) -> str:
    """``c4, c7-c9``: the names of calls, in order."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    names = [
        (f"c{low}" if low == high else f"c{low}-c{high}", high - low + 1) for low, high in found
    ]
    return runs_listed(names, 5)


def quoted(text: str, most: int = 60) -> str:
    """A literal in a sentence, on one line."""
    flat = " ".join(text.split())
    if len(flat) > most:
        is_path = "/" in flat and " " not in flat  # of a path the end tells most
        flat = f"…{flat[1 - most :]}" if is_path else f"{flat[: most - 1]}…"
    return f"“{flat}”"


def plural(count: int, one: str, many: str = "") -> str:
    """``1 item``, ``1,204 items``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def about(tokens: int) -> str:
    """An estimate of tokens, as people read it."""
    return f"≈{tokens:,} tokens" if tokens < 1000 else f"≈{tokens / 1000:,.1f}k tokens"
