"""``ctxlog rewind``"""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import (
    DryRunOption,
    ExpectOption,
    ForkNameOption,
    ReasonOption,
    ReferenceArgument,
    settings_of,
)
from cli.output import output


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    dry_run: DryRunOption = False,
    name: ForkNameOption = "",
    reason: ReasonOption = "",
    expect: ExpectOption = None,
) -> None:
    """Make the context again what it was at a place.

    What came in between stays in the log, in usage, and in what old calls were given; a rewind can
    be undone. At @c5 it is what call 5 was given, at @k1^ what stood before compaction 1. At
    @2 it is what stood after event 2, which is not two turns back: /rewind 2 in a chat is. A
    session that another program writes is forked first.

    Example: ctxlog rewind last@c12
    """
    from cli.changing import Changing, change, show_change
    from cli.decisions import rewinding
    from cli.naming import place
    from eventlog.errors import InputRefused

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        where = place(live, reference)
        if where.kind == "now":
            raise InputRefused(
                "to which place? S@12, S@c5, S@k1 or S@k1^; N turns back: /rewind N in a chat"
            )
        make = rewinding(live, where.stream, where.position, reason)
        asked = Changing(where.stream, make, reason or "to rewind", name, dry_run, expect)
        data = change(live, asked)
    show_change(out, data)
    if not data.events:
        out.note("the session ends there already")
