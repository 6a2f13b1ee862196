"""``ctxlog memory restore``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import UserOption, complete_gone_memory
from cli.options import ReasonOption, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="M...", help="Memories: m12, or 12.", autocompletion=complete_gone_memory
        ),
    ],
    reason: ReasonOption = "",
    user: UserOption = None,
) -> None:
    """Let memories stand again that were forgotten, or that another one took the place of.

    What stands about the same subject gives way to them. Their lives begin anew. Where one of them
    is not there, or its text was erased, none is restored.

    Example: ctxlog memory restore m12
    """
    from cli.memories import remembered
    from cli.memories_changing import restored
    from cli.render_memory import render_changes

    out = output(ctx)
    with remembered(settings_of(ctx), user, write=True) as memory:
        data = restored(memory, names, reason)
    out.show(data, render_changes(data, out.style, "restored", "stands already:"))
