"""Literals that a decision took out of sight, and which of them came up again.

A compaction takes what it covers, unless its summary holds it. A substitution takes what its
placeholder does not show, a revision what the new message does not say; those between two calls are
one decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from projections.anchors import KINDS, Kind
from projections.audit.lost_literals import LostLiteral, LostLiterals
from projections.audit.model import Finding, Literally, Severity
from projections.audit.passages import RENDERING
from projections.audit.rule import Rule, listed, plural, quoted, some
from projections.audit.subject import Compacted
from projections.runs import position_of
from projections.said import is_told

MOST = 500
"""Literals that a finding lists; how many there are stands beside them."""

_WORDS: dict[Kind, str] = {
    "path": "path",
    "id": "id",
    "number": "number",
    "error": "error",
    "url": "URL",
    "command": "command",
    "rule": "rule",
}


class Anchors(Rule):
    """One finding for each compaction and kind of literal. One for each other decision that took
    what was needed later, and one for all the rest of them."""

    name = "anchors"
    about = "ids, paths, rules … that a summary, a placeholder or a revision does not hold"
    needs = (LostLiterals,)

    def find(self) -> Iterator[Finding]:
        """Of compactions, then of what was put in the place of single items."""
        literals = self.subject.watched(LostLiterals)
        yield from self._of_compactions(literals)
        yield from self._of_items(literals)

    def _of_items(self, literals: LostLiterals) -> Iterator[Finding]:
        """Of substitutions and revisions."""
        rest: list[tuple[int, list[LostLiteral]]] = []
        for position, entries in sorted(literals.by.items()):
            kept = [entry for entry in entries if _is_lost(entry)]
            if (
                not kept
                or position <= self.subject.base
                or literals.moves[position][0].kind not in RENDERING
            ):
                continue
            if any(map(_is_missed, kept)):
                yield self._taken([(position, kept)], literals)
            else:
                rest.append((position, kept))
        if rest:
            yield self._taken(rest, literals)

    def _taken(
        self, decisions: list[tuple[int, list[LostLiteral]]], literals: LostLiterals
    ) -> Finding:
        """What one decision took, or what several took that nobody needed."""
        entries = sorted((e for _, of in decisions for e in of), key=_rank)
        moves = [move for position, _ in decisions for move in literals.moves[position]]
        did = " or ".join(dict.fromkeys(move.kind for move in moves))
        by = listed([str(position) for position, _ in decisions])
        names, told = self.told(sorted({o for move in moves for o in move.items}, key=position_of))
        kinds = Counter(entry.anchor.kind for entry in entries)
        what = ", ".join(plural(kinds[kind], _WORDS[kind]) for kind in KINDS if kinds[kind])
        stands = "stands" if len(entries) == 1 else "stand"
        return self._told(
            (f"{what} of what {by} {did} ({told}) {stands} nowhere since", entries, []),
            severity="warning" if any(map(_is_missed, entries)) else "info",
            refs=(*(str(position) for position, _ in decisions), *names),
            by=str(decisions[0][0]),
            position=decisions[0][0],
        )

    def _of_compactions(self, literals: LostLiterals) -> Iterator[Finding]:
        """By compaction, then by kind."""
        for position, compaction in self.subject.noted.compactions.items():
            if compaction.is_opaque:
                continue
            if compaction.is_erased:
                yield self._erased(compaction)
                continue
            entries = [entry for entry in literals.by.get(position, ()) if _is_lost(entry)]
            before = literals.before.get(position, 0)
            reworded = literals.reworded.get(position, [])
            for kind in KINDS:
                of_kind = [entry for entry in entries if entry.anchor.kind == kind]
                if of_kind:
                    also = []
                    if before:
                        also.append(f"{before:,} literals of it had been cleared or cut before")
                        before = 0
                    if kind == "rule" and reworded:
                        also.append(_reworded(reworded))
                    yield self._finding(compaction, kind, of_kind, also)

    def _erased(self, compaction: Compacted) -> Finding:
        """Without its text nothing of what it covered can be said to be lost."""
        return Finding(
            rule=self.name,
            severity="info",
            refs=(compaction.name,),
            message=f"the summary of {compaction.name} was erased: what it held is not known",
            next=("show", f"S@{compaction.name}"),
            position=compaction.position,
        )

    def _finding(
        self, compaction: Compacted, kind: Kind, entries: list[LostLiteral], also: list[str]
    ) -> Finding:
        entries = sorted(entries, key=_rank)
        where = "in its summary" if compaction.messages else "in what stayed"
        what = plural(len(entries), _WORDS[kind])
        is_are = "is" if len(entries) == 1 else "are"
        return self._told(
            (f"{what} of what {compaction.name} covered {is_are} not {where}", entries, also),
            severity="warning" if any(map(_is_missed, entries)) else "info",
            refs=(compaction.name, *(entry.item.id for entry in entries)),
            by=compaction.name,
            position=compaction.position,
        )

    def _told(
        self,
        said: tuple[str, list[LostLiteral], list[str]],
        *,
        severity: Severity,
        refs: Iterable[str],
        by: str,
        position: int,
    ) -> Finding:
        """A sentence with the literals that it is about, and what else there is to say."""
        front, entries, also = said
        parts = [front]
        again = [_again(entry) for entry in entries if entry.by]
        if again:
            parts.append(f"came up again: {listed(again)}")
        if len(again) < len(entries):
            rest = [
                f"{quoted(entry.anchor.text)} ({entry.item.id})"
                for entry in entries
                if not entry.by
            ]
            parts.append(("never again: " if again else "") + listed(rest))
        parts += also
        return Finding(
            rule=self.name,
            severity=severity,
            refs=some(dict.fromkeys(refs)),
            message="; ".join(parts)
            if again
            else ": ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:]),
            heuristic=bool(again),
            next=("recover", "S", "--lost", by, *_all(entries[0])),
            position=position,
            count=len(entries),
            anchors=tuple(
                Literally(
                    kind=entry.anchor.kind,
                    text=entry.anchor.text,
                    item=entry.item.id,
                    used=(entry.used,) if entry.used else (),
                    by=entry.by,
                    is_named=entry.is_named,
                )
                for entry in entries[:MOST]
            ),
        )


_BY = {"model": 0, "person": 1, "tool": 2, "": 3}


def _is_lost(entry: LostLiteral) -> bool:
    """Not what was said in a message of memories alone, nor what such a message said last: it is
    remembered, or was forgotten on purpose."""
    return not (entry.is_back or entry.was_remembered or entry.item.source == "memory")


def _rank(entry: LostLiteral) -> tuple[int, bool, bool]:
    """Those that the model used in front."""
    return _BY[entry.by], entry.is_named, not is_told(entry.item)


def _is_missed(entry: LostLiteral) -> bool:
    """Whether it was needed later; a rule always is."""
    used = entry.by in ("model", "person") and not entry.is_named
    return used or entry.anchor.kind == "rule"


def _all(entry: LostLiteral) -> tuple[str, ...]:
    """What ``recover --lost`` needs to show this one, beside what came up again or was told."""
    return () if entry.by or is_told(entry.item) else ("--all",)


def _reworded(rules: list[LostLiteral]) -> str:
    named = listed([f"{quoted(rule.anchor.text)} ({rule.item.id})" for rule in rules])
    return f"{len(rules):,} more {'is' if len(rules) == 1 else 'are'} there in other words: {named}"


def _again(entry: LostLiteral) -> str:
    said = {"model": "the model used it", "person": "a person said it", "tool": "found again"}
    return f"{quoted(entry.anchor.text)} ({entry.item.id}, {said[entry.by]} in {entry.used})"
