"""``ctxlog`` without a command."""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output
from cli.paths import current_database

LATEST = 10

NEXT = (
    "next: ctxlog log last · ctxlog show last@k1^ --context · ctxlog replay last@c5 · ctxlog --help"
)


def command(ctx: typer.Context) -> None:
    """Show the latest sessions and what to type next; the help where there is no log yet."""
    settings = settings_of(ctx)
    path = current_database(settings.db)
    if not path.exists() and not settings.as_json:
        typer.echo(ctx.get_help())
        output(ctx).note("no log yet: `ctxlog demo` shows what it is, `ctxlog import --all` begins")
        return
    from cli.models import SessionsData
    from cli.naming import short_names
    from cli.render_sessions import render_sessions
    from projections.sessions import list_sessions

    out = output(ctx)
    with opened(settings) as live:
        found = list_sessions(live)
    shown = found[:LATEST]
    names = short_names(row.key for row in found)
    text = render_sessions(shown, out.style, names) if shown else "no sessions yet"
    out.show(SessionsData(sessions=shown), text)
    if len(found) > LATEST:
        out.note(f"{len(found) - LATEST} more: ctxlog sessions")
    out.note(NEXT)
