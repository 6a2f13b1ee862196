"""``ctxlog sessions``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=1, help="Only the newest N.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Only those of this agent.")
    ] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted ones too.")] = False,
) -> None:
    """List the sessions, the newest first.

    k is the number of compactions. "known as" says how well the contexts of the calls are known,
    by the weakest of them: exact, erased, rebuilt, partial, opaque, drift or broken.

    Example: ctxlog sessions -n 10
    """
    from cli.models import SessionsData
    from cli.render_sessions import render_sessions
    from projections.sessions import list_sessions

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        found = list_sessions(live, deleted=deleted)
    if agent:
        found = [row for row in found if row.key.split("/", 2)[1] == agent]
    found = found[:last]
    out.show(SessionsData(sessions=found), render_sessions(found, out.style))
