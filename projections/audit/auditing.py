"""The audit of one session: read once, walked once, and looked at by every rule.

It costs what changed between the calls and never the whole context of each, so ten times the calls
cost ten times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from projections import prefixes
from projections.audit.bill import Bill
from projections.audit.broken_rules import BrokenRules
from projections.audit.coverage import Covered, coverage
from projections.audit.lost_anchors import Anchors
from projections.audit.memories import Memories
from projections.audit.model import SEVERITIES, Audit, CallRow, Finding, MoveRow
from projections.audit.opaque import Opaque
from projections.audit.pairs import Pairs
from projections.audit.passages import Move
from projections.audit.placeholders import Placeholders
from projections.audit.prefix import Prefix
from projections.audit.recalled import recalled
from projections.audit.rule import Rule
from projections.audit.subject import Noted, Subject
from projections.audit.summaries import Summaries
from projections.audit.unseen import Unseen
from projections.audit.verdicts import Verdicts
from projections.judging import judge_all
from projections.live import Live
from projections.memory.past import Pasts
from projections.recording import recording
from projections.tokens import Counter, counter

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (
        Verdicts,
        Covered,
        Summaries,
        BrokenRules,
        Unseen,
        Anchors,
        Placeholders,
        Pairs,
        Opaque,
        Bill,
        Prefix,
        Memories,
    )
}
"""All rules by name, in the order in which they are told of."""


def rules_of(names: Iterable[str]) -> list[str]:
    """The rules that are meant, each once; all where none is named. Raises InputRefused."""
    found = [name.strip().replace("-", "_") for name in names]
    for name in found:
        if name not in RULES:
            raise InputRefused(f"no rule {name!r}; there are {', '.join(RULES)}")
    return list(dict.fromkeys(found)) or list(RULES)


def audit(
    live: Live,
    stream: StreamKey,
    rules: Collection[str] = (),
    counting: Counter | None = None,
    progress: Callable[[int, int], None] | None = None,
    pasts: Pasts | None = None,
) -> Audit:
    """Audit a session by some rules, or by all.

    ``progress`` is told how much of the session was gone through, of how much. Whoever audits
    several gives the ``pasts`` of what they remember.
    Of a fork only what lies behind the fork is told: the rest is its parent's. Raises InputRefused
    for a rule that there is not, StreamNotFound, CriticalUnknown.
    """
    info = live.log.stream(stream)
    whole = live.log.version(info.key)

    def gone_through(position: int) -> None:
        if progress is not None and position % 100 == 0:
            progress(position, whole)

    subject = gathered(live, info.key, counting or counter(), pasts)
    subject.base = info.base or 0
    found = audited(subject, rules_of(rules), gone_through)
    parent = f"{info.parent}@{info.base}" if info.parent is not None else None
    return found.model_copy(update={"session": str(info.key), "parent": parent})


def gathered(
    live: Live,
    stream: StreamKey,
    counting: Counter,
    pasts: Pasts | None = None,
    heard: prefixes.Heard | None = None,
) -> Subject:
    """Everything that the rules look at, of one session; ``heard`` is told of each call's context
    (see ``prefixes``)."""
    noted, requests = Noted(), prefixes.Noted()
    made = recording(requests.of(noted.of(live.log.read(stream))), counting)
    calls = list(live.log.read(stream, types=["model_called"]))
    return Subject(
        recording=made,
        noted=noted,
        counting=counting,
        verdicts=judge_all(live, stream, calls),
        prefixes=prefixes.rows_of(made, requests, counting, heard=heard),
        stands=live.view(stream).standing(),
        recalled=recalled(live, stream, pasts or Pasts(live)),
    )


def audited(
    subject: Subject,
    rules: Collection[str],
    gone_through: Callable[[int], None] = lambda _: None,
) -> Audit:
    """Walk a session with some rules; ``gone_through`` is told the position of each step."""
    watching = [RULES[name](subject) for name in rules]
    subject.walk(watching, (kind for rule in watching for kind in rule.needs), gone_through)
    findings = [
        finding
        for rule in watching
        for finding in rule.find()
        if not finding.position or finding.position > subject.base
    ]
    findings.sort(key=_rank)
    subject.release()
    return Audit(
        session=subject.recording.key,
        parent=None,
        calls=tuple(row for row in _rows(subject) if row.position > subject.base),
        coverage=coverage(subject),
        findings=tuple(findings),
    )


_ORDER = {name: number for number, name in enumerate(RULES)}


def _rank(finding: Finding) -> tuple[int, int, int]:
    """The worst first, then by rule, then as things happened."""
    return -SEVERITIES.index(finding.severity), _ORDER[finding.rule], finding.position


def _rows(subject: Subject) -> Iterable[CallRow]:
    for call, verdict, row, passage in zip(
        subject.calls, subject.verdicts, subject.prefixes, subject.passages.calls, strict=True
    ):
        is_next = row.against is None or row.against == row.call - 1
        yield CallRow(
            call=call.name,
            position=call.position,
            model=call.model,
            verdict=verdict.name,
            detail=verdict.detail,
            outcome=call.outcome,
            status=call.status,
            error=call.error,
            items=row.items,
            tokens=row.tokens,
            billed=call.billed,
            cached=call.cached,
            came=subject.runs(passage.came),
            came_count=len(passage.came),
            came_tokens=passage.came_tokens,
            moves=tuple(move_row(subject, move) for move in passage.moves),
            prefix_break=row.cause,
            prefix_against=None if is_next else row.against,
            break_at=row.break_at,
            reusable=row.reusable,
            rewritten=row.rewritten,
            memories=tuple(subject.recalled.rows.get(call.position, ())),
        )


def move_row(subject: Subject, move: Move) -> MoveRow:
    """A decision as it is told."""
    return MoveRow(
        kind=move.kind,
        by=subject.name(move.position),
        reason=move.reason,
        items=subject.runs(move.items),
        count=len(move.items),
        brought=subject.runs(move.brought),
        before=move.before,
        after=move.after,
    )
