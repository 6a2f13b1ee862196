"""``ctxlog redact``"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import complete_item, complete_session, settings_of
from cli.output import Output, output


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S", help="The session, or one place in it.", autocompletion=complete_session
        ),
    ] = None,
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ITEM", help="Items of it: 12, 57.0, 12-20.", autocompletion=complete_item
        ),
    ] = None,
    pattern: Annotated[
        str,
        typer.Option("--pattern", metavar="RE", help="Events with a match, in S or everywhere."),
    ] = "",
    secrets: Annotated[
        bool, typer.Option("--secrets", help="Events with keys of known shapes, likewise.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be erased.")
    ] = False,
    with_copies: Annotated[
        bool, typer.Option("--with-copies", help="Summaries and quotes of it too.")
    ] = False,
    copies: Annotated[
        int | None,
        typer.Option("--copies", metavar="N", min=0, help="How many those are, if many."),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Look for copies in unrelated sessions too.")
    ] = False,
    forget_source: Annotated[
        bool,
        typer.Option("--forget-source", help="Drop the import key; that source is refused later."),
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the log.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase the text of items from the log for good.

    What was said is gone, that something was there stays: positions, sizes, digests and the chain
    still verify, and every call that saw it says that a part was erased since. Summaries and
    quotes of an item are listed, and memories that came from it; lines that many events hold are
    counted only. S@12 names one place: an item, or an event that is none. Of what is remembered of
    a person, in local/_/memory, 12 is a memory with all its revisions, and a copy of it is each
    message that showed it. Every event in which
    --pattern or --secrets finds something goes whole, with all of its text, not the match alone;
    where the match stays, in a call id or in the reason of a fork, is told, with exit code 1. A
    text that was imported could still be guessed and proved with the session's import key:
    --forget-source drops that. Backups and providers keep what they have.

    By what it says: ctxlog redact --pattern "ORD-[0-9]+" --dry-run

    Example: ctxlog redact last 12 --reason "customer data"

    Example: ctxlog redact local/_/memory 12 --with-copies
    """
    from cli.erasing import Asked, Doing, done, planned, redact_data, streams_of, too_many
    from cli.naming import place_names
    from cli.render_redact import render_redact

    out = output(ctx)
    asked = Asked(session, items or (), pattern, secrets, everywhere)
    doing = Doing(with_copies, copies, forget_source, reason)
    with opened(settings_of(ctx), write=True) as live:
        plan = planned(live, asked)
        data = redact_data(live, plan, doing)
        names = place_names(live, streams_of(data))
        if (data.erased or data.outputs) and not dry_run:
            many = too_many(live, plan.plans, doing)
            if many and yes:
                raise _unsaid(many)
            if not yes:
                _ask(out, "\n".join(render_redact(data, out.style, names)), many)
            done(live, plan, data, doing)
    out.show(data, render_redact(data, out.style, names))
    if data.sources and not data.forgotten:
        out.note("the import key could prove a guess of the text; --forget-source drops it")
    if not data.dry_run and not data.scrubbed:
        out.note("copies in the file are not gone yet; the next command tries again")
        raise typer.Exit(FINDINGS)
    if not dry_run and (data.kept or data.residue):
        raise typer.Exit(FINDINGS)


def _unsaid(many: int) -> Exception:
    from eventlog.errors import InputRefused

    return InputRefused(
        f"{many:,} copies are many: look at them with --dry-run, then say --copies {many}"
    )


def _ask(out: Output, shown: str, many: int) -> None:
    from eventlog.errors import InputRefused

    if sys.stdin is None or not sys.stdin.isatty():
        raise InputRefused("this erases text for good: say --yes, or --dry-run to look first")
    out.note(shown)
    if not typer.confirm("erase this for good?", err=True):
        raise typer.Abort
    if many and not typer.confirm(f"all {many:,} copies too?", err=True):
        raise typer.Abort
