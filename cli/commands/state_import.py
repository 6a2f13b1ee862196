"""``ctxlog state import``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON document, or - for standard input.")
    ],
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="ID", help="The session id (else the document's, else FILE's name)."
        ),
    ] = "",
    trust: Annotated[
        bool,
        typer.Option("--trust-permissions", help="Take over what the document allows unasked."),
    ] = False,
) -> None:
    """Begin a new session with the state of an agent, to go on with it here.

    A state, a list of messages, or an object with "session_id", "messages" and "metadata": which it
    is, is seen. Messages begin with the system message. All of it comes in or nothing; a session
    that exists is not touched.

    What a document allows is not taken over unless it is trusted: its mode becomes ask, and its
    allow rules are left out. What it denies or asks about holds.

    To look at what another agent did: ctxlog import

    Example: ctxlog state import state.json --name another
    """
    from cli.states import brought_in, read
    from cli.style import typed

    out = output(ctx)
    found = read(file, trust)
    with opened(settings_of(ctx), create=True) as live:
        data = brought_in(live, found, file, name)
    out.show(data, out.style.block(data.key))
    for warning in data.warnings:
        out.note(warning)
    out.note(f"see: {current_program()} state show {typed(data.key)}")
