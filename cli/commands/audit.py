"""``ctxlog audit``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.door import DATABASE, FINDINGS, INTEGRITY
from cli.opening import opened
from cli.options import complete_rule, complete_session, settings_of
from cli.output import output

Level = Literal["error", "warning", "info"]


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="S", help="A session.", autocompletion=complete_session),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All sessions of the log.")] = False,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="RULE",
            help="Only findings of this rule. Repeatable.",
            autocompletion=complete_rule,
        ),
    ] = None,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", help="The least severity that makes the exit code 1.")
    ] = "warning",
    prefix: Annotated[
        bool, typer.Option("--prefix", help="What a cache could have had of each call.")
    ] = False,
    all_calls: Annotated[
        bool, typer.Option("--all-calls", help="A row for every call, also with --rule.")
    ] = False,
) -> None:
    """What each call was given, what left and by which decision, and what is wrong with it.

    A row a call: how well it is known what the model saw, its items and tokens, estimated and
    billed, what came since the call before, what left and by which decision, what broke the
    prefix that a provider caches, and the rules that found something. Calls in a row of which
    there is nothing to tell share one. Then what became of everything that ever came in. Then
    findings; with --rule only these:

    \b
    verdicts: calls that are broken, drifted, partly unknown, not answered, of a doubtful session
    coverage: items that no decision took, pins that were not kept, calls missed
    summaries: what a summarizer was not shown; summaries that are empty or grew
    broken_rules: what a rule forbids, done when it could no longer be seen
    unseen: ids, paths and such that the model used when it could not see them
    anchors: ids, paths, rules that a summary, placeholder or revision does not hold
    placeholders: placeholders whose original is not in the log
    pairs: tool results without their call, calls without a result
    opaque: summaries that only the provider can read
    bill: bills that are far from what the log says that the requests held
    prefix: what broke the prefix, and cache reads that nothing explains
    memories: what of a person's memories a call was given, from where; those that did not stand

    The exit code is 1 where there is a finding of --fail-on or worse, and 4 where a call is broken.
    What rests on a guess says that it is a heuristic.

    Example: ctxlog audit last --fail-on error
    """
    from cli.audits import audited, reaches
    from cli.naming import session_key, short_names, whole_session
    from cli.paths import current_program
    from cli.progress import Meter
    from cli.render_audit import Calls, render_audit
    from eventlog import StreamKey
    from eventlog.errors import InputRefused
    from projections.audit.auditing import rules_of
    from projections.session_rows import newest
    from projections.sessions import session_query

    out = output(ctx)
    if (session is not None) == every:
        raise InputRefused("name the session to audit, or say --all")
    if every and (prefix or all_calls):
        what = "--prefix" if prefix else "--all-calls"
        raise InputRefused(f"{what} goes with one session, not with --all")
    asked = rules_of(rules or ())
    with opened(settings_of(ctx)) as live:
        if session is not None:
            keys = [session_key(live, whole_session(session, "audited"))]
        else:
            keys = [StreamKey.parse(row.key) for row in newest(session_query(live))]
        names = short_names(live, map(str, keys))
        with Meter(out, "audited", "sessions" if every else "events") as meter:
            data = audited(live, keys, asked, fail_on, names, prefix=prefix, progress=meter.show)
    calls: Calls = "all" if all_calls else "none" if rules else "folded"
    shown = render_audit(data, out.style, names, current_program(), every=every, calls=calls)
    out.show(data, shown)
    if any(call.verdict == "broken" for call in data.calls):
        raise typer.Exit(INTEGRITY)
    if any(each.error for each in data.sessions):
        raise typer.Exit(DATABASE)
    if any(reaches(finding.severity, fail_on) for finding in data.findings):
        raise typer.Exit(FINDINGS)
