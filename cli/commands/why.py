"""``ctxlog why``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import complete_item, complete_place, complete_session, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            metavar="S",
            help="The session; S@c31 for how it was at that call.",
            autocompletion=complete_session,
        ),
    ],
    item: Annotated[
        str | None,
        typer.Argument(
            metavar="ITEM",
            help="12, 57.0, 12@340 (a rendition), 12@c31 (at a call).",
            autocompletion=complete_item,
        ),
    ] = None,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="REF",
            help="At which place: c31, k1, k1^ or an event.",
            autocompletion=complete_place,
        ),
    ] = "",
) -> None:
    """Why an item stands in the context, or does not: every decision that touched it.

    It says how the item came in, what was decided about it since and by whom, whether the model
    was given it at that call, what of it survived in what took its place, in which later
    messages the rest came up again, and what to type to get it back.

    Example: ctxlog why last 12@c31
    """
    from cli.item_places import item_place
    from cli.render_why import render_why
    from cli.whys import why

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        data = why(live, item_place(live, session, item, at))
    out.show(data, render_why(data, out.style, current_program()))
