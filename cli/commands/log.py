"""``ctxlog log``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import SessionArgument, complete_place, complete_type, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    session: SessionArgument,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="REF",
            help="See the session as it stood at c5, k1, k1^, 12.",
            autocompletion=complete_place,
        ),
    ] = "",
    span: Annotated[
        str, typer.Option("--range", metavar="A-B", help="Only these positions: 10-60, 100-.")
    ] = "",
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=1, help="Only the last N rows.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only events of this type; may be repeated.",
            autocompletion=complete_type,
        ),
    ] = None,
    calls: Annotated[bool, typer.Option("--calls", help="A row for every model call.")] = False,
    events: Annotated[bool, typer.Option("--events", help="A row for every event.")] = False,
) -> None:
    """Show a session, and what of it the model still sees.

    The sign in front of a row says where its item stands at the point asked (now, or --at):

    ● stands in the context (*) · ✂ stands there as a placeholder (x) · Σ folded into a
    summary (S) · ○ left the context (o) · – never in a context (-). In brackets: with --ascii.

    c5 in a row: that answer came from call 5. The numbers on the right are estimated tokens;
    310→9 where a placeholder stands for more. What the head says of the context, and a row of a
    pass, is of all of it, also where only some rows are shown.

    Example: ctxlog log last --at c12
    """
    from cli.naming import place, span_of, types_of
    from cli.render_log import render_log
    from cli.timeline import timeline

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        where = place(live, session, at)
        first, end = span_of(span)
        data = timeline(
            live,
            where.stream,
            at=where.position,
            first=first,
            last=end,
            most=last,
            types=types_of(types or []),
            calls=calls,
            every=events,
        )
        out.show(data, render_log(data, out.style))
