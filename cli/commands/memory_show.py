"""``ctxlog memory show``"""

from __future__ import annotations

import typer

from cli.memory_options import AtOption, MemoryArgument, UserOption
from cli.options import settings_of
from cli.output import output


def command(
    ctx: typer.Context, name: MemoryArgument, at: AtOption = "", user: UserOption = None
) -> None:
    """Show all about a memory: what it says and said, from which events, at which calls.

    Its history has every text that it had, who wrote it, when and why. What it replaced, and what
    replaced it, stand with their texts. Below that the events that it came from, and each item in
    which it stood before a model, with the calls that were given it.

    Example: ctxlog memory show m12
    """
    from cli.memories import remembered
    from cli.memories_shown import shown, streams_of
    from cli.naming import place_names
    from cli.render_memory_show import render_memory

    out = output(ctx)
    with remembered(settings_of(ctx), user) as memory:
        data = shown(memory, name, at)
        places = place_names(memory.live, streams_of(data))
    out.show(data, render_memory(data, out.style, places))
