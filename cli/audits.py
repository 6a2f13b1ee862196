"""The audit of one session, or of all, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from cli.models_audit import AuditCallData, AuditData, AuditedData, FindingData
from cli.prefixes import prefix_table
from cli.style import typed
from eventlog import StreamKey
from eventlog.errors import CtxlogError
from projections import Live, tokens
from projections.audit.auditing import audit, rules_of
from projections.audit.model import SEVERITIES, Audit, Finding, Severity
from projections.memory.past import Pasts


def audited(
    live: Live,
    keys: Sequence[StreamKey],
    rules: Collection[str],
    fail_on: Severity,
    names: Mapping[str, str],
    *,
    prefix: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> AuditData:
    """Audit sessions; ``names`` are what people type for them.

    One session that cannot be read is an error, of several it is told beside the others. Raises
    InputRefused for a rule that there is not, and what ``audit`` raises.
    """
    asked, pasts = rules_of(rules), Pasts(live)
    data = AuditData.model_validate(
        {
            "rules": asked,
            "fail_on": fail_on,
            "counter": tokens.DEFAULT,
            "sessions": [],
            "calls": [],
            "findings": [],
        }
    )
    for number, key in enumerate(keys):
        if progress is not None and len(keys) > 1:
            progress(number, len(keys))
        try:
            shown = progress if len(keys) == 1 else None
            found = audit(live, key, asked, progress=shown, pasts=pasts)
        except CtxlogError as error:
            if len(keys) == 1:
                raise
            data.sessions.append(_unread(key, error))
            continue
        name = names.get(str(key), str(key))
        data.sessions.append(_session(found))
        data.calls += [AuditCallData(session=str(key), **dict(call)) for call in found.calls]
        data.findings += [finding_data(each, str(key), name) for each in found.findings]
    if prefix:
        data.prefix = prefix_table(live, keys[0], None)
    return data


def _session(found: Audit) -> AuditedData:
    counts = Counter(finding.severity for finding in found.findings)
    return AuditedData(
        key=found.session,
        fork_of=found.parent,
        calls=len(found.calls),
        verdicts=dict(Counter(call.verdict for call in found.calls)),
        failed=sum(call.outcome == "failed" for call in found.calls),
        findings={severity: counts[severity] for severity in reversed(SEVERITIES)},
        coverage=found.coverage,
    )


def _unread(key: StreamKey, error: CtxlogError) -> AuditedData:
    return AuditedData(
        key=str(key),
        fork_of=None,
        calls=0,
        verdicts={},
        failed=0,
        findings=dict.fromkeys(reversed(SEVERITIES), 0),
        coverage=None,
        error=str(error),
    )


def finding_data(found: Finding, key: str, name: str) -> FindingData:
    """A finding as data; ``name`` is what people type for its session."""
    words = [name if word == "S" else word.replace("S@", f"{name}@", 1) for word in found.next]
    return FindingData(
        session=key,
        rule=found.rule,
        severity=found.severity,
        refs=list(found.refs),
        message=found.message,
        heuristic=found.heuristic,
        next=" ".join(map(typed, words)),
        position=found.position,
        count=found.count,
        anchors=list(found.anchors),
    )


def reaches(found: Severity, level: Severity) -> bool:
    """Whether a finding is at a level, or above it."""
    return SEVERITIES.index(found) >= SEVERITIES.index(level)
