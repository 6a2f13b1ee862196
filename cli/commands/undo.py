"""``ctxlog undo``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import (
    DryRunOption,
    ExpectOption,
    ForkNameOption,
    ReasonOption,
    complete_decision,
    complete_session,
    settings_of,
)
from cli.output import output


def command(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(metavar="S", help="The session.", autocompletion=complete_session),
    ],
    decision: Annotated[
        str | None,
        typer.Argument(
            metavar="DECISION",
            help="k1, the position of its event, 8@12, or last.",
            autocompletion=complete_decision,
        ),
    ] = None,
    with_pass: Annotated[
        bool, typer.Option("--pass", help="All that was cut or cleared together with it.")
    ] = False,
    dry_run: DryRunOption = False,
    name: ForkNameOption = "",
    reason: ReasonOption = "",
    expect: ExpectOption = None,
) -> None:
    """Undo a decision: the context is as if it had not been taken.

    A compaction, something cut or cleared, a revision, a rewind, or an earlier undo. Without a
    DECISION it is the last one in force, with all that was decided in the same pass. That may be an
    undo, so what is undone twice is as it was: to go back further, name the decision before it,
    which is told. Later decisions stay in force; where one of them is about the same items, it is
    named, and has to be undone as well. Nothing is deleted. A session that another program writes
    is forked first, unless nothing would stand otherwise.

    Example: ctxlog undo last k1 --dry-run
    """
    from cli.changing import Changing, change, show_change
    from cli.decisions import decision_of, last_taken, passmates, undoing
    from cli.style import plural

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        chosen = decision_of(live, session, decision, with_pass)
        make = undoing(live, chosen, reason)
        asked = Changing(chosen.stream, make, reason or "to undo a decision", name, dry_run, expect)
        data = change(live, asked)
        data.notes += last_taken(live, chosen, data)
        others = passmates(live, chosen)
    show_change(out, data)
    if others:
        out.note(f"{plural(others, 'other')} of the same pass stay; --pass undoes all of it")
