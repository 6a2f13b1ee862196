"""Calls of which it is not known, or not true, what they were given or to whom they belong; and
those that had no answer."""

from __future__ import annotations

from collections.abc import Iterator

from projections.audit.model import Finding, Severity
from projections.audit.rule import Rule, listed, plural, some, spans
from projections.audit.subject import Called
from projections.failures import why_failed
from projections.session_state import Provenance

SEVERITY: dict[Provenance, Severity] = {
    "broken": "error",
    "drift": "error",
    "partial": "info",
    "erased": "info",
}
"""Of the verdicts that are findings; an opaque call is one of the rule ``opaque``."""


_MOST_SAID = 160
"""Characters of an error: a provider may send a page of HTML."""


class Verdicts(Rule):
    """One finding for all calls with the same verdict for the same reason."""

    name = "verdicts"
    about = (
        "calls that are broken, drifted, partly unknown, proved as far as their messages alone, "
        "failed, were never answered, or may be those of another session"
    )

    def find(self) -> Iterator[Finding]:
        """By verdict and reason."""
        groups: dict[tuple[Provenance, str], list[Called]] = {}
        unanswered: list[Called] = []
        failed: dict[str, list[Called]] = {}
        doubtful: dict[tuple[str, ...], list[Called]] = {}
        for call, verdict in zip(self.subject.calls, self.subject.verdicts, strict=True):
            if verdict.name in SEVERITY or (verdict.name == "exact" and verdict.detail):
                groups.setdefault((verdict.name, verdict.detail), []).append(call)
            if verdict.outcome_unknown:
                unanswered.append(call)
            if call.outcome == "failed":
                failed.setdefault(why_failed(call.status, call.error), []).append(call)
            if call.may_belong_to:
                doubtful.setdefault(call.may_belong_to, []).append(call)
        for (name, detail), calls in groups.items():
            yield self._finding(SEVERITY.get(name, "info"), f"{name}: {detail}", calls)
        if unanswered:
            text = "outcome unknown: no answer and no failure was recorded"
            yield self._finding("warning", text, unanswered)
        for others, calls in doubtful.items():
            names = listed([other.rpartition("/")[2] for other in others])
            text = f"it may be {names} that goes on here: nothing in the request tells them apart"
            yield self._finding("info", text, calls)

        for why, calls in failed.items():
            yield self._finding("info", f"failed: {_cut(why)}", calls)

    def _finding(self, severity: Severity, what: str, calls: list[Called]) -> Finding:
        where = spans(call.number for call in calls)
        if len(calls) > 1:
            where = f"{plural(len(calls), 'call')}, {where}"
        is_known = severity == "info"
        return Finding(
            rule=self.name,
            severity=severity,
            refs=some(call.name for call in calls),
            message=f"{what} ({where})",
            next=() if is_known else ("show", f"S@{calls[0].name}"),
            position=calls[0].position,
            count=len(calls),
        )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SAID else text[: _MOST_SAID - 1] + "…"
