"""Literals that an answer used although its context no longer held them. A heuristic.

What an answer used is known; that it needed it from the context, and did not come to it in another
way, is not. A path of which at least the name still stood is told as less, and so is a command,
which is written anew more often than it is remembered, and what an encrypted summary may hold.

What was needed is that of later-reference recall (``metrics.ground``), which leaves out the first
task; where a decision took even that, what it said counts as well.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from projections.anchors import Anchor, Kind, lost
from projections.audit.lost_literals import LostLiterals
from projections.audit.model import Finding, Literally, Severity
from projections.audit.rule import Rule, listed, plural, quoted, some, spans
from projections.metrics.mentions import texts
from projections.runs import origin

MOST = 10
"""Findings of one decision; the rest is one more."""


class _Use(NamedTuple):
    """A literal in an answer that could not see it."""

    call: int
    position: int
    kind: Kind
    text: str
    item: str
    in_arguments: bool
    taken_at: int


class Unseen(Rule):
    """One finding for each literal, the ones that tools were called with first."""

    name = "unseen"
    about = "ids, paths, commands … that the model used when it could no longer see them"
    needs = (LostLiterals,)

    def find(self) -> Iterator[Finding]:
        """By decision, those of tool calls first."""
        by_decision: dict[int, dict[tuple[str, str], list[_Use]]] = {}
        for use in sorted({*self._needed(), *self._of_the_task()}):
            if self.subject.is_erased(use.taken_at):
                continue  # the summary may have held it
            found = by_decision.setdefault(use.taken_at, {})
            found.setdefault((use.kind, use.text), []).append(use)
        for position, literals in sorted(by_decision.items()):
            told = [(self._severity(uses), uses) for uses in literals.values()]
            told.sort(key=lambda each: (each[0] == "info", not each[1][0].in_arguments))
            for severity, uses in told[:MOST]:
                yield self._finding(severity, uses)
            if len(told) > MOST:
                yield self._rest(position, told[MOST:])

    def _needed(self) -> Iterator[_Use]:
        if all(fate.move is None for fate in self.subject.passages.fates.values()):
            return  # nothing was ever taken: what each call needed, it had
        for one in self.subject.measured().recall.lost:
            taken = one.taken_at or self._left_at(one.last)
            yield _Use(
                *(one.call, one.position, one.kind, one.text, one.item, one.in_arguments, taken)
            )

    def _left_at(self, item: str) -> int:
        """Where the walk saw it leave: after a rewind no change tells it."""
        fate = self.subject.passages.fates.get(int(item) if item.isdecimal() else item)
        return fate.move.position if fate is not None and fate.move is not None else 0

    def _of_the_task(self) -> Iterator[_Use]:
        lost_by = self.subject.watched(LostLiterals).by
        head = {str(origin) for origin in self.subject.ground.head} if lost_by else set()
        for position, entries in lost_by.items():
            for entry in entries:
                call = self.subject.noted.calls.get(entry.used_call)
                if entry.item.id in head and call is not None and entry.anchor.kind != "rule":
                    kind, text = entry.anchor
                    yield _Use(
                        *(call.number, call.position, kind, " ".join(text.split())),
                        *(entry.item.id, entry.in_arguments, position),
                    )

    def _severity(self, uses: Sequence[_Use]) -> Severity:
        first = uses[0]
        if first.kind == "command" or not any(use.in_arguments for use in uses):
            return "info"
        is_there = self._is_named(first) or self.subject.is_sealed(first.taken_at)
        # What it was shown of memories it is no longer to see.
        item = self.subject.items.get(origin(first.item))
        is_there |= item is not None and item.source == "memory"
        return "info" if is_there else "warning"

    def _is_named(self, use: _Use) -> bool:
        """Whether the summary that took its place names the file, if not the whole path."""
        name = posixpath.basename(use.text.rstrip("/"))
        summaries = self.subject.summaries.get(use.taken_at, ())
        said = [text for item in summaries for text in texts(item)]
        return bool(use.kind == "path" and name and said) and not lost([Anchor("path", name)], said)

    def _finding(self, severity: Severity, uses: Sequence[_Use]) -> Finding:
        first = uses[0]
        calls = list(dict.fromkeys(use.call for use in uses))
        how = "called a tool with" if any(use.in_arguments for use in uses) else "spoke of"
        by = self.subject.name(first.taken_at) if first.taken_at else ""
        since = self.subject.next_call(first.taken_at) if first.taken_at else None
        gone = f"gone with {by}" if by else "gone"
        if since is not None:
            gone += f", not visible from {since.name}"
        but = ", of which the summary holds the name alone" if self._is_named(first) else ""
        if self.subject.is_sealed(first.taken_at):
            but = ", if its encrypted summary does not hold it"
        return Finding(
            rule=self.name,
            severity=severity,
            refs=some((*(f"c{call}" for call in calls), first.item, *([by] if by else []))),
            message=f"{spans(calls)} {how} {quoted(first.text)} ({first.item}, {gone}){but}",
            heuristic=True,
            next=("why", "S", f"{first.item}@c{calls[0]}"),
            position=first.position,
            count=len(calls),
            anchors=(_literally(uses),),
        )

    def _rest(self, position: int, told: Sequence[tuple[Severity, Sequence[_Use]]]) -> Finding:
        names = [quoted(uses[0].text, 40) for _, uses in told]
        by = self.subject.name(position) if position else "a decision"
        calls = sorted({use.call for _, uses in told for use in uses})
        return Finding(
            rule=self.name,
            severity="warning" if any(severity == "warning" for severity, _ in told) else "info",
            refs=some((by, *(f"c{call}" for call in calls))),
            message=f"{plural(len(told), 'more literal')} gone with {by} "
            f"{'was' if len(told) == 1 else 'were'} used in {spans(calls)}: {listed(names)}",
            heuristic=True,
            next=("recover", "S", "--lost", by) if self.subject.is_taking(position) else (),
            position=told[0][1][0].position,
            count=len(told),
            anchors=tuple(_literally(uses) for _, uses in told),
        )


def _literally(uses: Sequence[_Use]) -> Literally:
    first = uses[0]
    calls = tuple(dict.fromkeys(f"c{use.call}" for use in uses))
    return Literally(kind=first.kind, text=first.text, item=first.item, used=calls, by="model")
