"""Literals of what a compaction covered that its summary does not hold, and which came up again."""

from __future__ import annotations

from collections.abc import Iterator

from projections.anchors import KINDS, Kind
from projections.audit.lost_literals import LostLiteral, LostLiterals
from projections.audit.model import Finding, Literally
from projections.audit.rule import Rule, listed, plural, quoted, some
from projections.audit.subject import Compacted
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
    """One finding for each compaction and kind of literal."""

    name = "anchors"
    about = "ids, paths, rules … of covered items that the summary does not hold"
    needs = (LostLiterals,)

    def find(self) -> Iterator[Finding]:
        """By compaction, then by kind."""
        literals = self.subject.watched(LostLiterals)
        for position, compaction in self.subject.noted.compactions.items():
            if compaction.is_opaque:
                continue
            if compaction.is_erased:
                yield self._erased(compaction)
                continue
            entries = [entry for entry in literals.by.get(position, ()) if not entry.is_back]
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
        order = {"model": 0, "person": 1, "tool": 2, "": 3}
        entries = sorted(
            entries, key=lambda entry: (order[entry.by], entry.is_named, not is_told(entry.item))
        )
        missed = sum(entry.by in ("model", "person") and not entry.is_named for entry in entries)
        where = "in its summary" if compaction.messages else "in what stayed"
        what = plural(len(entries), _WORDS[kind])
        is_are = "is" if len(entries) == 1 else "are"
        parts = [f"{what} of what {compaction.name} covered {is_are} not {where}"]
        again = [_told(entry) for entry in entries if entry.by]
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
            severity="warning" if missed or kind == "rule" else "info",
            refs=some((compaction.name, *dict.fromkeys(entry.item.id for entry in entries))),
            message="; ".join(parts)
            if again
            else ": ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:]),
            heuristic=bool(again),
            next=("recover", "S", "--lost", compaction.name, *_all(entries[0])),
            position=compaction.position,
            count=len(entries),
            anchors=tuple(
                Literally(
                    kind=kind,
                    text=entry.anchor.text,
                    item=entry.item.id,
                    used=(entry.used,) if entry.used else (),
                    by=entry.by,
                    is_named=entry.is_named,
                )
                for entry in entries[:MOST]
            ),
        )


def _all(entry: LostLiteral) -> tuple[str, ...]:
    """What ``recover --lost`` needs to show this one, beside what came up again or was told."""
    return () if entry.by or is_told(entry.item) else ("--all",)


def _reworded(rules: list[LostLiteral]) -> str:
    named = listed([f"{quoted(rule.anchor.text)} ({rule.item.id})" for rule in rules])
    return f"{len(rules):,} more {'is' if len(rules) == 1 else 'are'} there in other words: {named}"


def _told(entry: LostLiteral) -> str:
    said = {"model": "the model used it", "person": "a person said it", "tool": "found again"}
    return f"{quoted(entry.anchor.text)} ({entry.item.id}, {said[entry.by]} in {entry.used})"
