"""``ctxlog`` without a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from cli.options import settings_of
from cli.output import output
from cli.paths import current_database, current_program

if TYPE_CHECKING:
    from projections.session_rows import SessionRow

LATEST = 10
LOOKED_AT = 100
"""The newest sessions, in which it is looked for what can be shown next."""


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
    from cli.listing import Asked, listing, listing_data
    from cli.render_sessions import render_sessions

    out = output(ctx)
    found = listing(settings, Asked(LOOKED_AT))
    if out.as_json:
        out.show(listing_data(settings, Asked(LATEST)), "")
    else:
        shown = found.rows[:LATEST]
        out.write("\n".join(render_sessions(shown, out.style, found.names)) or "no sessions yet")
    name = current_program()
    if found.total > LATEST:
        out.note(f"{found.total - LATEST:,} more: {name} sessions")
    out.note(f"next: {name} {' · '.join(_next(found.rows, found.names))}")


def _next(found: Sequence[SessionRow], names: Mapping[str, str]) -> Iterator[str]:
    """What can be typed behind the program's name: each with a session that has what it names."""
    from cli.style import typed

    def first(has: Callable[[SessionRow], int]) -> tuple[str, int] | None:
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
