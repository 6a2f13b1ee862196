"""An audit as text: a row a call, what became of everything, the findings. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from cli.models_audit import AuditCallData, AuditData, AuditedData, FindingData
from cli.render_prefixes import SIGNS, render_prefixes
from cli.safetext import display_width
from cli.saying import trigger_words
from cli.style import Style, heading, listed, pad, pad_left, plural, short, tokens
from projections.audit.model import Coverage, MoveRow, Severity, State
from projections.audit.passages import MoveKind
from projections.failures import why_failed
from projections.prefix_causes import Cause

MOST = 8
"""Findings of one rule and severity that are shown where that rule was not named alone; the JSON
has all."""

MOST_NAMED = 200
"""Where it was; and of all sessions together."""

_LABELS: dict[Severity, tuple[str, str]] = {
    "error": ("ERROR", "magenta"),
    "warning": ("WARN", "yellow"),
    "info": ("info", "dim"),
}
_LABEL = 5
_VERBS = {
    "summarised": "Σ",
    "dropped": "○",
    "cleared": "✂",
    "cut": "✂",
    "deduplicated": "✂",
    "revised": "✂",
    "redacted": "✂",
}
"""What each kind of change is shown as, as in the log."""

_COLUMNS = ("call", "verdict", "items", "tokens", "billed", "came")
_GIVING_WAY = ("came", "billed", "items", "tokens")
"""What goes first where it is narrow."""

_LEAST = 16
"""Columns of what left."""

Calls = Literal["none", "folded", "all"]
"""Which of the calls are shown."""

_FEW = 5
"""Calls up to which a finding is one about these calls."""


def render_audit(
    data: AuditData,
    style: Style,
    names: Mapping[str, str],
    program: str,
    *,
    every: bool,
    calls: Calls = "folded",
) -> Iterator[str]:
    """One session in full; with ``every`` a row a session, and its findings.

    ``program`` is what people type for this one.
    """
    if every:
        yield from _sessions(data, style, names, program)
        return
    (session,) = data.sessions
    yield style.paint(_head(session, style), "bold")
    if data.prefix is not None:
        yield from list(render_prefixes(data.prefix, style, stat=False))[1:]
    elif data.calls and calls != "none":
        yield from _calls(data, style, whole=calls == "all")
    if session.coverage is not None and (calls != "none" or "coverage" in data.rules):
        yield ""
        yield from _coverage(session.coverage, style)
    yield ""
    yield from _findings(data.findings, style, program, named=len(data.rules) == 1)
    yield from _totals(data, style)


def _head(session: AuditedData, style: Style) -> str:
    verdicts = ", ".join(
        f"{verdict} {count:,}" if len(session.verdicts) > 1 else verdict
        for verdict, count in session.verdicts.items()
    )
    front = plural(session.calls, "call") + (f", {verdicts}" if verdicts else "")
    if session.failed:
        front += f", {session.failed:,} failed"
    if session.fork_of is not None:
        front += " since the fork"
    return heading(front, session.key, style)


# -- calls ----------------------------------------------------------------------------------------


def _calls(data: AuditData, style: Style, *, whole: bool) -> Iterator[str]:
    told = _told(data.findings)
    runs = [[call] for call in data.calls] if whole else _folded(data.calls, told)
    rows = [_cells(run[0]) if len(run) == 1 else _run_cells(run) for run in runs]
    billed = any(call.billed is not None for call in data.calls)
    shown = [n for n in range(len(_COLUMNS)) if billed or _COLUMNS[n] != "billed"]
    widths = [max(display_width(row[n]) for row in (_COLUMNS, *rows)) for n in range(len(_COLUMNS))]
    for title in _GIVING_WAY:
        if style.width - _front(widths, shown) >= _LEAST:
            break
        shown = [n for n in shown if _COLUMNS[n] != title]
    start = _front(widths, shown)
    title = style.line("left, what broke the prefix, findings", style.width - start)
    yield style.paint(f"  {_line(_COLUMNS, widths, shown)}{title}", "dim")
    for (call, *more), cells in zip(runs, rows, strict=True):
        front = style.block(f"{_sign(call)} {_line(cells, widths, shown)}")
        events = _moved(call) or ", ".join(told.get(call.call, ()))
        if more:
            events = f"{plural(1 + len(more), 'call')}, nothing left"
        said = style.line(events, style.width - start)
        is_plain = (more or not said) and call.verdict not in ("broken", "drift")
        yield (style.paint(f"{front}{said}".rstrip(), "dim") if is_plain else front + said).rstrip()


def _folded(
    calls: Sequence[AuditCallData], told: Mapping[str, Collection[str]]
) -> list[list[AuditCallData]]:
    """Calls in a row of which nothing is to be told but how many they were, together."""
    runs: list[list[AuditCallData]] = []
    was_quiet = False
    for call in calls:
        quiet = not _moved(call) and call.outcome == "answered" and call.call not in told
        if quiet and was_quiet and runs[-1][0].verdict == call.verdict:
            runs[-1].append(call)
        else:
            runs.append([call])
        was_quiet = quiet
    return runs


def _told(findings: Iterable[FindingData]) -> dict[str, dict[str, None]]:
    """The rules that tell of a call, where they tell of few: what holds of most is no event, and
    how well a call is known has a column of its own."""
    found: dict[str, dict[str, None]] = {}
    for finding in findings:
        if finding.rule == "verdicts":
            continue
        calls = [ref for ref in finding.refs if ref.startswith("c")]
        for call in calls if len(calls) <= _FEW else ():
            found.setdefault(call, {})[finding.rule] = None
    return found


def _front(widths: Sequence[int], shown: Sequence[int]) -> int:
    return 2 + sum(widths[n] + 2 for n in shown)


def _line(cells: Sequence[str], widths: Sequence[int], shown: Sequence[int]) -> str:
    return "".join(
        (pad(cells[n], widths[n]) if n < 2 else pad_left(cells[n], widths[n])) + "  " for n in shown
    )


def _cells(call: AuditCallData) -> tuple[str, ...]:
    outcome = {"failed": " failed", "unknown": " ?"}.get(call.outcome, "")
    came = f"+{call.came_count}" if call.came_count else ""
    return (
        call.call,
        call.verdict + outcome,
        f"{call.items:,}",
        tokens(call.tokens),
        short(call.billed) if call.billed is not None else "-",
        came,
    )


def _run_cells(run: Sequence[AuditCallData]) -> tuple[str, ...]:
    """From the first of them to the last."""
    first, last = _cells(run[0]), _cells(run[-1])
    name, verdict = f"{run[0].call}-{run[-1].call}", first[1]
    came = sum(call.came_count for call in run)
    sizes = (
        one if one == other else f"{one}→{other}"
        for one, other in zip(first[2:5], last[2:5], strict=True)
    )
    return (name, verdict, *sizes, f"+{came}" if came else "")


def _sign(call: AuditCallData) -> str:
    if call.verdict in ("broken", "drift") or call.prefix_break == "unexplained":
        return "!"
    if call.prefix_break is not None:
        return SIGNS.get(call.prefix_break, "!")
    return "●"


def _moved(call: AuditCallData) -> str:
    said = [_move(move) for move in call.moves]
    if call.verdict in ("broken", "drift"):
        said.insert(0, call.detail)
    if call.prefix_break is not None:
        again = f"{tokens(call.rewritten)} sent again" if call.rewritten else ""
        known = any(_CAUSES.get(move.kind) == call.prefix_break for move in call.moves)
        cause = "" if known else f"prefix broken: {call.prefix_break.replace('_', ' ')}"
        if call.prefix_against is not None:  # what is told of the one before explains nothing here
            cause = f"prefix of c{call.prefix_against}{cause.removeprefix('prefix') or ' broken'}"
        said += filter(None, [", ".join(filter(None, [cause, again]))])
    if call.outcome == "failed":
        said.append(why_failed(call.status, call.error))
    return " · ".join(said)


def _move(move: MoveRow) -> str:
    sign = _VERBS.get(move.kind, "○")
    why = f" ({trigger_words(move.reason)})" if move.reason else ""
    if not move.count:
        return f"{sign} {move.kind} by {move.by}{why}: {len(move.brought)} back"
    sizes = f"{tokens(move.before)}→{tokens(move.after)}"
    return f"{sign} {move.count:,} {move.kind} by {move.by} {sizes}{why}"


_CAUSES: dict[MoveKind, Cause] = {
    "summarised": "compaction",
    "dropped": "compaction",
    "cleared": "substitution",
    "cut": "substitution",
    "deduplicated": "substitution",
    "revised": "revision",
    "rewound": "rewind",
    "undone": "undo",
    "repaired": "repair",
    "inserted": "insertion",
}
"""What each kind of change is called as the cause of a broken prefix."""


# -- coverage -------------------------------------------------------------------------------------


def _coverage(coverage: Coverage, style: Style) -> Iterator[str]:
    parts = list(_alike(coverage.states, style))
    if len(parts) > _STATES:
        parts[_STATES:] = [plural(len(parts) - _STATES, "more state")]
    came, stand = tokens(coverage.tokens), tokens(coverage.context_tokens)
    whole = f"{plural(coverage.items, 'item')} ever came in, {came} tokens as they came: "
    left = f"; {plural(coverage.context_items, 'item')} in the context, {stand} as they stand"
    yield from textwrap.wrap(
        style.block(whole + " · ".join(parts) + left), style.width, subsequent_indent="  "
    )


def _alike(states: Sequence[State], style: Style) -> Iterator[str]:
    """States in words, the same words once.

    What many substitutions left is one: which it was, a row of the calls tells. What came and left
    between two calls is told with the rest of what its compaction took, as in that row.
    """
    edits = sum(state.state == "edited" for state in states)
    found: dict[tuple[str, str, str], list[State]] = {}
    for state in states:
        by, reason, kind = state.by, state.reason, str(state.state)
        if kind == "edited" and edits > 1:
            by, reason = "", reason.partition(":")[0]
        if kind == "never_visible":
            kind, _, reason = reason.partition(": ")
        found.setdefault((kind, reason, by), []).append(state)
    for (kind, reason, by), alike in found.items():
        unseen = [state for state in alike if state.state == "never_visible"]
        why = f" ({style.line(trigger_words(reason), _REASON)})" if reason else ""
        front = "given to no call, " if len(unseen) == len(alike) else ""
        some = f", {_total(unseen)} of them given to no call" if unseen and not front else ""
        said = f"{front}{kind}{f' by {by}' if by else ''}{why}"
        size = tokens(sum(state.tokens for state in alike))
        yield f"{_total(alike)} {said} {size}{some}"


def _total(states: Sequence[State]) -> str:
    return f"{sum(state.items for state in states):,}"


_REASON = 30
"""Columns of the reason for a state."""

_STATES = 8
"""States that are shown; the JSON has all."""


# -- findings -------------------------------------------------------------------------------------


def _findings(
    findings: Sequence[FindingData], style: Style, program: str, *, named: bool
) -> Iterator[str]:
    """The first of each rule and severity, and how many there are beside them; with ``named`` of
    one rule alone."""
    most = MOST_NAMED if named else MOST
    groups: dict[tuple[Severity, str], list[FindingData]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    for (severity, rule), of in groups.items():
        for finding in of[:most]:
            yield from _finding(finding, style, program)
        if len(of) > most:
            label, color = _LABELS[severity]
            where = "--json has all" if named else f"--rule {rule} shows them"
            more = f" {rule}: {len(of) - most:,} more; {where}"
            yield style.paint(pad(label, _LABEL), color) + style.paint(more, "dim")


def _finding(finding: FindingData, style: Style, program: str) -> Iterator[str]:
    label, color = _LABELS[finding.severity]
    guess = " (heuristic)" if finding.heuristic else ""
    text = style.block(" ".join(f"{finding.rule}: {finding.message}{guess}".split()))
    indent = " " * (_LABEL + 1)
    lines = textwrap.wrap(text, style.width, initial_indent=indent, subsequent_indent=indent)
    yield style.paint(pad(label, _LABEL), color) + lines[0][_LABEL:]
    yield from lines[1:]
    if finding.next:
        arrow = style.translated("→")
        command = f"{program} {style.line(finding.next, 8 * len(finding.next))}"
        yield f"{indent}{arrow} {style.paint(command, 'cyan')}"


def _totals(data: AuditData, style: Style) -> Iterator[str]:
    quiet = [rule for rule in data.rules if all(f.rule != rule for f in data.findings)]
    if quiet:
        words = ", ".join(quiet)
        yield from textwrap.wrap(f"nothing found by: {words}", style.width, subsequent_indent="  ")
    yield style.paint(_counted(data), "bold")


def _counted(data: AuditData) -> str:
    counts = {severity: 0 for severity in _LABELS}
    for finding in data.findings:
        counts[finding.severity] += 1
    said = [
        plural(count, severity) if severity != "info" else f"{count:,} info"
        for severity, count in counts.items()
        if count
    ]
    return ", ".join(said) or "no findings"


def _sessions(
    data: AuditData, style: Style, names: Mapping[str, str], program: str
) -> Iterator[str]:
    """A row a session, the ones with findings first of all with them."""
    of: dict[str, list[FindingData]] = {}
    for finding in data.findings:
        of.setdefault(finding.session, []).append(finding)
    shown, left = 0, list[int]()
    cells = [listed(names.get(s.key, s.key), style) for s in data.sessions]
    width = max(map(display_width, cells), default=0)
    for session, cell in zip(data.sessions, cells, strict=True):
        name = pad(cell, width)
        if session.error:
            text = style.line(f"! {session.error}", style.width - width - 2)
            yield f"{style.paint(name, 'bold')}  {text}"
            continue
        verdicts = ", ".join(f"{v} {n:,}" for v, n in session.verdicts.items()) or "no calls"
        counts = [
            plural(count, severity) if severity != "info" else f"{count:,} info"
            for severity, count in session.findings.items()
            if count
        ]
        failed = f", {session.failed:,} failed" if session.failed else ""
        text = f"{verdicts}{failed} · {', '.join(counts) or 'no findings'}"
        yield f"{style.paint(name, 'bold')}  {style.line(text, style.width - width - 2)}"
        worse = [f for f in of.get(session.key, ()) if f.severity != "info"]
        if shown < MOST_NAMED:
            shown += len(worse)
            yield from _findings(worse, style, program, named=len(data.rules) == 1)
        elif worse:
            left.append(len(worse))
    if left:
        more = f"{plural(sum(left), 'more finding')} in {plural(len(left), 'session')}"
        yield style.paint(f"{more}: audit S shows those of one, --json has all", "dim")
    yield style.paint(f"{plural(len(data.sessions), 'session')}: {_counted(data)}", "bold")
