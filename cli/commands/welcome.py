"""``ctxlog`` without a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output
from cli.paths import current_database, current_program

if TYPE_CHECKING:
    from projections.sessions import SessionStats

LATEST = 10


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
    out.note(f"next: {name} {' · '.join(_next(found, names))}")


def _next(found: Sequence[SessionStats], names: Mapping[str, str]) -> Iterator[str]:
    """What can be typed behind the program's name: each with a session that has what it names."""
    from cli.style import typed

    def first(has: Callable[[SessionStats], int]) -> tuple[str, int] | None:
        for row in found:
            if has(row):
                name = "last" if row is found[0] else typed(names.get(row.key, row.key))
                return name, has(row)
        return None

    yield "log last" if found else "import --all"
    compacted, called = first(lambda row: row.compactions), first(lambda row: row.calls)
    if compacted is not None:
        yield f"show {compacted[0]}@k1^ --context"
    if called is not None:
        yield f"replay {called[0]}@c{min(called[1], 5)}"
    yield "--help"
