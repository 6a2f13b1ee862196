"""``ctxlog new``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The session id (else a short one is made)."),
    ] = None,
    id: Annotated[
        str, typer.Option("--name", "--id", metavar="ID", help="NAME, as an option.")
    ] = "",
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Its title.")] = "",
    system: Annotated[
        str, typer.Option("--system", metavar="TEXT", help="The system prompt, or @FILE with it.")
    ] = "",
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Whose session it is.")
    ] = "chat",
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="For whom.")] = "local",
) -> None:
    """Begin a session of one's own: empty, or with a system prompt as its first message.

    An id that is made here has eight characters, none of which looks like another.

    Example: ctxlog new kiln --title "The kiln" --system @prompt.txt
    """
    from cli.own_sessions import begun
    from cli.style import typed
    from eventlog.errors import InputRefused

    out = output(ctx)
    if name is not None and id:
        raise InputRefused("either NAME or --name")
    if name == "":
        raise InputRefused("NAME is empty")
    with opened(settings_of(ctx), create=True) as live:
        data = begun(live, (user, agent), name or id, title, system)
    out.show(data, out.style.block(data.key))
    out.note(f"see: {current_program()} log {typed(data.key)}")
