"""A session as plain text, for who runs no scripts: what it is, and what an audit finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cli.report.model import SessionData
from cli.safetext import safe_text

MOST = 200
"""Findings that are told; the rest are counted."""

_SIGNS = {"error": "x", "warning": "!", "info": "i"}


def plain(session: SessionData) -> str:
    """Facts and findings, a line each; safe to be shown as it is, once it is escaped."""
    return "\n".join(safe_text(line, newlines=False) for line in _lines(session))


def _lines(session: SessionData) -> Iterator[str]:
    verdicts = Counter(call.verdict for call in session.calls)
    failed = sum(call.outcome == "failed" for call in session.calls)
    compactions = sum(row.type == "context_compacted" for row in session.events)
    yield session.title or session.name
    yield f"{session.key}, {session.version:,} events, head {session.head[:16]}"
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in verdicts.most_common())
    yield f"{len(session.calls):,} calls{f' ({told})' if told else ''}, {failed:,} failed"
    yield f"{len(session.rows):,} items and renditions, {compactions:,} compactions"
    if (coverage := session.coverage) is not None:
        yield (
            f"~{coverage.tokens:,} tokens came in; ~{coverage.context_tokens:,} stand in the"
            " context now"
        )
    yield f"an audit finds {len(session.findings):,}:"
    for finding in session.findings[:MOST]:
        refs = f" [{' '.join(finding.refs)}]" if finding.refs else ""
        yield f"{_SIGNS[finding.severity]} {finding.rule}: {finding.message}{refs}"
    if len(session.findings) > MOST:
        yield f"and {len(session.findings) - MOST:,} more (ctxlog audit {session.name})"
    yield "The pictures, the transcript and the requests need scripts."
