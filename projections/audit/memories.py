"""What of a person's memories stood before the model, and where from; and what should not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from projections.audit.model import Finding, MemoryRow, MemoryStanding, Severity
from projections.audit.passages import Move, Passage
from projections.audit.rule import Rule, listed, runs_listed, some, spans
from projections.audit.subject import Called, Subject
from projections.items import Item

_STALE: dict[MemoryStanding, tuple[Severity, str]] = {
    "forgotten": ("warning", "it had been forgotten"),
    "superseded": ("warning", "another had taken its place"),
    "erased": ("warning", "it had been erased"),
    "revised": ("info", "it had been revised"),
}
"""What a memory is told for that stood before the model all the same."""

_PROFILE = "profile"


class _Which(NamedTuple):
    """A memory as it was shown, in the stream in which it stands."""

    of: str
    memory: str
    rendition: str


class Memories(Rule):
    """One finding for each memory that was shown: where from; one more where that was wrong."""

    name = "memories"
    about = "memories that stood before the model: where from, and what should not have"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._unexplained: dict[str, None] = {}
        """The renditions that stand, are said to come from memory, and of which no event says what
        they show."""
        self._shown: dict[str, list[int]] = {}
        """Of these, the calls that were given them."""

    def came(self, item: Item, move: Move | None) -> None:
        """Note what came from memory."""
        is_whole = item.source == "memory" and item.form in ("original", "revised")
        if is_whole and item.rendition not in self.subject.recalled.explained:
            self._unexplained[item.rendition] = None

    def left(self, item: Item, move: Move) -> None:
        """It stands no longer."""
        self._unexplained.pop(item.rendition, None)

    def changed(self, before: Item, after: Item, move: Move) -> None:
        """It says something else."""
        self.left(before, move)
        self.came(after, None)

    def called(self, number: int, passage: Passage) -> None:
        """A call is given it."""
        for rendition in self._unexplained:
            self._shown.setdefault(rendition, []).append(number)

    def find(self) -> Iterator[Finding]:
        """What should not have stood there, then where each came from."""
        yield from self._unknown()
        yield from self._twice()
        shown: dict[_Which, list[tuple[Called, MemoryRow]]] = {}
        for call in filter(self._is_own, self.subject.calls):
            rows = self.subject.recalled.rows.get(call.position, ())
            for row in rows:
                found = shown.setdefault(_Which(row.of, row.memory, row.rendition), [])
                if not found or found[-1][0] is not call:
                    found.append((call, row))
        for which, calls in shown.items():
            yield from self._stale(which, calls)
            yield self._from(which, calls)

    def _is_own(self, call: Called) -> bool:
        """Whether it is no call of the session that this one was forked from."""
        return call.position > self.subject.base

    def _unknown(self) -> Iterator[Finding]:
        for rendition, every in self._shown.items():
            numbers = [n for n in every if self._is_own(self.subject.calls[n - 1])]
            if not numbers:
                continue
            yield Finding(
                rule=self.name,
                severity="info" if self.subject.recalled.is_observed else "warning",
                refs=some((rendition, *(f"c{number}" for number in numbers))),
                message=f"{spans(numbers)} {_were(numbers)} given {rendition}, which is said to "
                "come from memory, and no event says which memories it shows",
                next=("show", f"S@{rendition}"),
                position=self.subject.calls[numbers[0] - 1].position,
                count=len(numbers),
            )

    def _twice(self) -> Iterator[Finding]:
        found: dict[tuple[str, str], list[tuple[Called, list[str]]]] = {}
        for call in filter(self._is_own, self.subject.calls):
            items: dict[tuple[str, str], list[str]] = {}
            for row in self.subject.recalled.rows.get(call.position, ()):
                if row.standing == "unknown":  # of another log, whose names say nothing here
                    continue
                items.setdefault((row.of, row.memory), []).append(row.item)
            for which, some_items in items.items():
                if len(some_items) > 1:
                    found.setdefault(which, []).append((call, some_items))
        for (_, memory), calls in found.items():
            numbers, where = [call.number for call, _ in calls], list(dict.fromkeys(calls[0][1]))
            yield Finding(
                rule=self.name,
                severity="warning",
                refs=some((*(call.name for call, _ in calls), *where)),
                message=f"{spans(numbers)} {_were(numbers)} given "
                f"{'the profile' if memory == _PROFILE else memory} twice, in {listed(where)}",
                next=("show", f"S@{calls[0][0].name}", "--context"),
                position=calls[0][0].position,
                count=len(calls),
            )

    def _stale(self, which: _Which, calls: list[tuple[Called, MemoryRow]]) -> Iterator[Finding]:
        if which.memory == _PROFILE:  # it goes on with each session, and says so in its row
            return
        for standing, (severity, why) in _STALE.items():
            found = [(call, row) for call, row in calls if row.standing == standing]
            if not found:
                continue
            numbers = [call.number for call, _ in found]
            since, item = found[0][1].since, found[0][1].item
            by = f" with event {since} of {which.of}" if since else f" in {which.of}"
            yield Finding(
                rule=self.name,
                severity=severity,
                refs=some((*(call.name for call, _ in found), item)),
                message=f"{spans(numbers)} {_were(numbers)} given {which.memory} ({item}) "
                f"though {why}{by}",
                next=_next(which),
                position=found[0][0].position,
                count=len(found),
            )

    def _from(self, which: _Which, calls: list[tuple[Called, MemoryRow]]) -> Finding:
        first, row = calls[0]
        numbers = [call.number for call, _ in calls]
        more = row.source_count - len(row.sources)
        runs = [(source, 1) for source in row.sources] + ([("", more)] if more else [])
        source = f"which came from {runs_listed(runs)}" if runs else "which names no source"
        if row.standing == "unknown":
            source = "which is not in this log"
        name = f"m{which.rendition}" if which.memory != _PROFILE else "the profile"
        return Finding(
            rule=self.name,
            severity="info",
            refs=some((*(call.name for call, _ in calls), row.item)),
            message=f"{spans(numbers)} {_were(numbers)} given {name} of {which.of} in {row.item}, "
            f"{source}",
            next=_next(which) if row.standing != "unknown" else (),
            position=first.position,
            count=len(calls),
        )


def _next(which: _Which) -> tuple[str, ...]:
    """What shows a memory, or the profile, with where it came from."""
    user = which.of.partition("/")[0]
    what = ("profile",) if which.memory == _PROFILE else ("show", which.memory)
    return ("memory", *what, *(("--user", user) if user != "local" else ()))


def _were(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"
