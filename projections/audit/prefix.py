"""What broke the prefix that providers cache, and what cannot be explained by that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from projections.audit.model import Finding, Severity
from projections.audit.rule import Rule, about, plural, some, spans
from projections.prefixes import PrefixRow

OFTEN = 0.3
"""The share of all calls from which on breaks are a habit: a strategy that slides."""

ENOUGH = 5
"""Breaks under which nothing is a habit."""

LIFE = 300
"""Seconds that a cache lives at least, at the large providers."""


class Prefix(Rule):
    """One finding a cause, and those where the bill says that something broke unknown to us."""

    name = "prefix"
    about = "calls whose prefix a decision broke, and cache reads that nothing explains"

    def find(self) -> Iterator[Finding]:
        """By cause, then what no cause explains."""
        rows = self.subject.prefixes
        causes: dict[str, list[PrefixRow]] = {}
        for row in rows:
            if row.cause is not None and (row.cause != "rewind" or row.rewritten):
                causes.setdefault(row.cause, []).append(row)
        for cause, found in causes.items():
            yield self._broken(cause, found)
        missed = [row for row in rows if row.contradicts]
        for is_late in (False, True):
            found = [row for row in missed if ((row.seconds or 0) > LIFE) is is_late]
            if found:
                yield self._missed(found, is_late)

    def _broken(self, cause: str, rows: Sequence[PrefixRow]) -> Finding:
        again = sum(row.rewritten for row in rows)
        often = len(rows) >= ENOUGH and len(rows) >= OFTEN * len(self.subject.prefixes)
        severity: Severity = "warning" if often or cause == "unexplained" else "info"
        by = dict.fromkeys(decided.name for row in rows for decided in row.by)
        why = {
            "unexplained": "something that no decision explains",
            "model": "another model",
            "tools": "other tools",
            "field_order": "the fields of a tool's input, in another order,",
        }.get(cause, _counted(cause, len(rows)))
        sent = f": {about(again)} that had been sent before were sent as new" if again else ""
        habit = ", at so many that no cache can serve it" if often else ""
        return Finding(
            rule=self.name,
            severity=severity,
            refs=some((*(f"c{row.call}" for row in rows), *by)),
            message=f"{why} broke the prefix at {spans(row.call for row in rows)}{sent}{habit}",
            next=("diff", f"S@c{rows[0].call}", "--prefix"),
            position=rows[0].position,
            count=len(rows),
        )

    def _missed(self, rows: Sequence[PrefixRow], is_late: bool) -> Finding:
        missed = sum(row.missed or 0 for row in rows)
        where = f"{plural(len(rows), 'call')}, {spans(row.call for row in rows)}"
        why = (
            "they came more than five minutes after the call before"
            if is_late
            else "nothing in this log says why"
        )
        return Finding(
            rule=self.name,
            severity="info",
            refs=some(f"c{row.call}" for row in rows),
            message=f"{missed:,} billed tokens could have been read from the cache and were not "
            f"({where}): {why}",
            heuristic=True,
            next=("diff", f"S@c{rows[0].call}", "--prefix"),
            position=rows[0].position,
            count=len(rows),
        )


def _counted(cause: str, count: int) -> str:
    if count > 1:
        return f"{cause}s"
    return f"an {cause}" if cause[0] in "aeiou" else f"a {cause}"
