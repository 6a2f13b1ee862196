"""``ctxlog`` without a command."""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output
from cli.paths import current_database, current_program

LATEST = 10

NEXT = ("log last", "show last@k1^ --context", "replay last@c5", "--help")
"""What is typed behind the program's name."""


def command(ctx: typer.Context) -> None:
    """Show the latest sessions and what to type next; the help where there is no log yet."""
    settings = settings_of(ctx)
    path = current_database(settings.db)
    if not path.exists() and not settings.as_json:
        typer.echo(ctx.get_help())
        name = current_program()
        hint = f"`{name} demo` shows what it is, `{name} import --all` begins"
        output(ctx).note(f"no log yet: {hint}")
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
    name = current_program()
    if len(found) > LATEST:
        out.note(f"{len(found) - LATEST} more: {name} sessions")
    out.note(f"next: {name} {' · '.join(NEXT)}")
