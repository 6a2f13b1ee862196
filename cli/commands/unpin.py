"""``ctxlog unpin``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import DryRunOption, complete_pinned, complete_session, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(metavar="S", help="The session.", autocompletion=complete_session),
    ],
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ITEM", help="Items of it: 12, 57.0, 12-20.", autocompletion=complete_pinned
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> None:
    """Take pins back: strategies may touch the items again.

    Example: ctxlog unpin last 3
    """
    from cli.changing import change, show_change
    from cli.pins import items_to_pin, pins_changed, unpinned_notes

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        stream, names = items_to_pin(live, session, items or [])
        asked = pins_changed(live, stream, names, pin=False, reason="", dry_run=dry_run)
        data = change(live, asked)
        data.notes += unpinned_notes(live, stream, names, data.version)
    show_change(out, data)
