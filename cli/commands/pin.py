"""``ctxlog pin``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import DryRunOption, ReasonOption, complete_item, complete_session, settings_of
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
            metavar="ITEM", help="Items of it: 12, 57.0, 12-20.", autocompletion=complete_item
        ),
    ] = None,
    reason: ReasonOption = "",
    dry_run: DryRunOption = False,
) -> None:
    """Pin items: no strategy may touch them, and no compaction of ours takes them.

    A pin is a note: it changes no context, so it may be written into any session. It binds what
    ctxlog decides (run at once, a what-if from there on), not the program that writes the session.
    For an item that is pinned already nothing is written. unpin takes it back.

    Example: ctxlog pin last 3 --reason "the house rules"
    """
    from cli.changing import change, show_change
    from cli.pins import items_to_pin, pinned_notes, pins_changed

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        stream, names = items_to_pin(live, session, items or [])
        asked = pins_changed(live, stream, names, pin=True, reason=reason, dry_run=dry_run)
        data = change(live, asked)
        data.notes += pinned_notes(live, stream, names, data.version, dry_run)
    show_change(out, data)
