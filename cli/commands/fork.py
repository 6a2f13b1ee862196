"""``ctxlog fork``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    name: Annotated[
        str, typer.Option("--name", metavar="ID", help="The session id of the fork.")
    ] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the log.")] = "",
) -> None:
    """Begin a new session with the context that stood at a place.

    Up to there its events are those of the first session, by reference: nothing is copied, and
    the first session does not change. At @c5 it begins with what call 5 was given.

    Example: ctxlog fork last@c12 --name retry
    """
    from cli.forks import fork_key
    from cli.models import ForkData
    from cli.naming import place
    from cli.style import typed
    from projections.memory.stream import check_session

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        where = place(live, reference)
        parent = where.stream
        check_session(parent)
        child = fork_key(live, parent, name)
        done = live.log.fork(child, parent, where.position, reason=reason)
    data = ForkData(key=str(child), parent=str(parent), at=where.position, position=done.first)
    out.show(data, out.style.block(str(child)))
    see = f"{current_program()} log {typed(str(child))}"
    out.note(f"forked from {parent} after event {where.position}; see: {see}")
