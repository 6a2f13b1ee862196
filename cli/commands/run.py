"""``ctxlog run``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    DryRunOption,
    ExpectOption,
    ForkNameOption,
    SessionArgument,
    SummarizerOption,
    complete_strategy,
    settings_of,
)
from cli.output import output


def command(
    ctx: typer.Context,
    session: SessionArgument,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            metavar="SPEC",
            help="Which strategy decides.",
            autocompletion=complete_strategy,
        ),
    ],
    dry_run: DryRunOption = False,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
    name: ForkNameOption = "",
    expect: ExpectOption = None,
) -> None:
    """Run a strategy over a session now: what it decides is appended.

    It goes through every moment since the last decision in the session as if it had been in
    charge, and then a call is about to be made. At which of them it decided is told, and where it
    did nothing, what it waits for. Of a session in which nothing was ever decided the context
    becomes the one that replay --strategy shows, but for what is pinned now: that is not touched.
    A second run finds nothing to do.

    What is cut, cleared or summarised stays in the log and can be undone; what was tried and not
    done is recorded too. A session that another program writes is forked first. Leaves with 1
    where the context is over what the strategy promises and cannot be reduced.

    Example: ctxlog run last --strategy clear:keep=3 --dry-run
    """
    from cli.naming import session_key
    from cli.paths import current_program
    from cli.render_run import render_run
    from cli.run_strategy import run_strategy
    from cli.strategies import strategies_of
    from cli.summaries import Summaries

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        stream = session_key(live, session)
        named = strategies_of(strategy)
        summaries = Summaries(live, summarizer, base_url, out.note)
        data = run_strategy(
            live, stream, named, summaries, name=name, dry_run=dry_run, expected=expect
        )
        told = summaries.told()
    out.show(data, render_run(data, out.style, current_program()))
    for note in data.notes:
        out.note(note)
    if told:
        out.note(told)
    if not data.events:
        out.note(f"{data.strategy}: nothing to decide")
    if data.stuck:
        out.note(f"over budget: {data.stuck}")
        raise typer.Exit(FINDINGS)
