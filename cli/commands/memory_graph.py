"""``ctxlog memory graph``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import UserOption, complete_entity
from cli.options import settings_of
from cli.output import output

LIMIT = 50
"""Entities that are shown where nobody says how many."""


def command(
    ctx: typer.Context,
    entity: Annotated[
        str,
        typer.Argument(
            metavar="ENTITY",
            help="A file, a tool, a person, a service; else all of them.",
            autocompletion=complete_entity,
            show_default=False,
        ),
    ] = "",
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=0, max=20, help="Relations to go along.")
    ] = 1,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Entities at most; 0: all.")
    ] = LIMIT,
    user: UserOption = None,
) -> None:
    """What memories speak of, and how it is related.

    Of an ENTITY: what N relations lead to from it, and the memories that say so. A part of a name
    is enough where none is that name, in any case. Only memories that stand count. Without ENTITY:
    all, those first of which most memories speak.

    Example: ctxlog memory graph deploy.sh --depth 2
    """
    from cli.memories import elsewhere, remembered
    from cli.memory_graphs import graph_data
    from cli.render_memory import render_graph

    out = output(ctx)
    with remembered(settings_of(ctx), user) as memory:
        data = graph_data(memory, entity, depth, limit or None)
        others = elsewhere(memory)
    out.show(data, render_graph(data, out.style))
    if not data.nodes:
        none = f"no memory of {data.user} speaks of anything by name (memory add --entity)"
        out.note(f"{none}{others}")
    if data.cut:
        out.note(f"{len(data.nodes):,} of them; there are more: -n N, -n 0 shows all")
