"""``ctxlog memory forget``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import UserOption, complete_memory
from cli.options import ReasonOption, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="M...", help="Memories: m12, or 12.", autocompletion=complete_memory
        ),
    ],
    reason: ReasonOption = "",
    user: UserOption = None,
) -> None:
    """Forget memories: they are gone from the next call on, and can be restored.

    Where one of them is not there, none is forgotten. Forgetting brings no older memory back that
    it took the place of. To erase a text for good: ctxlog redact

    Example: ctxlog memory forget m12 m14 --reason "it is no longer so"
    """
    from cli.memories import remembered
    from cli.memories_changing import forgotten
    from cli.render_memory import render_changes

    out = output(ctx)
    with remembered(settings_of(ctx), user, write=True) as memory:
        data = forgotten(memory, names, reason)
    out.show(data, render_changes(data, out.style, "forgot", "was forgotten already:"))
    gone = [each.memory.name for each in data.memories if each.changed]
    if gone:
        out.note(f"to take it back: {current_program()} memory restore {' '.join(gone)}")
