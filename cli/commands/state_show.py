"""``ctxlog state show``"""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import output


def command(ctx: typer.Context, reference: ReferenceArgument) -> None:
    """Show the state of an agent now, or at a place.

    A reply that is under way, or what is left of the last one, is there too: what of it a resume
    clears stands in the event of the resume. --json has the messages themselves.

    Example: ctxlog state show last@c5
    """
    from cli.naming import place
    from cli.render_state import render_state
    from cli.states import shown

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        data = shown(live, place(live, reference))
    out.show(data, render_state(data, out.style))
