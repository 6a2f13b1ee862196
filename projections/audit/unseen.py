"""Literals that an answer used although its context no longer held them. A heuristic.

What an answer used is known; that it needed it from the context, and did not come to it in another
way, is not. A path of which at least the name still stood is told as less.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from projections.anchors import Anchor, lost
from projections.audit.model import Finding, Literally, Severity
from projections.audit.rule import Rule, listed, plural, quoted, some, spans
from projections.metrics.mentions import texts
from projections.metrics.recall import Lost

MOST = 10
"""Findings of one decision; the rest is one more."""


class Unseen(Rule):
    """One finding for each literal, the ones that tools were called with first."""

    name = "unseen"
    about = "ids, paths, commands … that the model used when it could no longer see them"

    def find(self) -> Iterator[Finding]:
        """By decision, those of tool calls first."""
        by_decision: dict[int, dict[tuple[str, str], list[Lost]]] = {}
        for one in self.subject.measured.recall.lost:
            found = by_decision.setdefault(one.taken_at or self._left_at(one), {})
            found.setdefault((one.kind, one.text), []).append(one)
        for position, literals in by_decision.items():
            told = [(self._severity(position, uses), uses) for uses in literals.values()]
            told.sort(key=lambda each: (each[0] == "info", not each[1][0].in_arguments))
            for severity, uses in told[:MOST]:
                yield self._finding(severity, position, uses)
            if len(told) > MOST:
                yield self._rest(position, told[MOST:])

    def _left_at(self, one: Lost) -> int:
        """Where the walk saw it leave: after a rewind no change tells it."""
        name = int(one.item) if one.item.isdecimal() else one.item
        fate = self.subject.passages.fates.get(name)
        return fate.move.position if fate is not None and fate.move is not None else 0

    def _severity(self, position: int, uses: Sequence[Lost]) -> Severity:
        first = uses[0]
        if first.kind == "command" or not any(use.in_arguments for use in uses):
            return "info"  # a command is written anew more often than it is remembered
        if first.kind == "path" and self._is_named(position, first.text):
            return "info"
        return "warning"

    def _is_named(self, position: int, path: str) -> bool:
        """Whether the summary that took its place names the file, if not the whole path."""
        name = posixpath.basename(path.rstrip("/"))
        said = [text for item in self.subject.summaries.get(position, ()) for text in texts(item)]
        return bool(name and said) and not lost([Anchor("path", name)], said)

    def _finding(self, severity: Severity, position: int, uses: Sequence[Lost]) -> Finding:
        first, by = uses[0], self.subject.name(position) if position else ""
        calls = list(dict.fromkeys(use.call for use in uses))
        how = "called a tool with" if any(use.in_arguments for use in uses) else "spoke of"
        named = first.kind == "path" and severity == "info" and self._is_named(position, first.text)
        since = self.subject.next_call(position) if position else None
        gone = f"gone with {by}" if by else "gone"
        if since is not None:
            gone += f", not visible from {since.name}"
        but = ", of which the summary holds the name alone" if named else ""
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

    def _rest(self, position: int, told: Sequence[tuple[Severity, Sequence[Lost]]]) -> Finding:
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
            next=("recover", "S", "--lost", by) if by.startswith("k") else (),
            position=told[0][1][0].position,
            count=len(told),
            anchors=tuple(_literally(uses) for _, uses in told),
        )


def _literally(uses: Sequence[Lost]) -> Literally:
    first = uses[0]
    calls = tuple(dict.fromkeys(f"c{use.call}" for use in uses))
    return Literally(kind=first.kind, text=first.text, item=first.item, used=calls, by="model")
