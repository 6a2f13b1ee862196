"""``ctxlog memory list``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import (
    AtOption,
    KindsOption,
    SinceOption,
    SourceSessionOption,
    StatusOption,
    UntilOption,
    UserOption,
)
from cli.options import settings_of
from cli.output import output
from cli.paths import current_program

LIMIT = 50
"""Memories that are listed where nobody says how many."""


def command(
    ctx: typer.Context,
    every: Annotated[
        bool,
        typer.Option("--all", help="Also superseded, forgotten and erased ones, and why."),
    ] = False,
    kinds: KindsOption = None,
    statuses: StatusOption = None,
    session: SourceSessionOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Memories at most; 0: all.")
    ] = LIMIT,
    at: AtOption = "",
    user: UserOption = None,
) -> None:
    """List the memories of a person, the newest first.

    status says where in its life one is, by how long ago it was remembered, revised, restored or
    recalled: that is its age. imp is its importance, with what its recalls add to it. With --at
    only what was remembered by then is listed, of the age that it had then.

    Example: ctxlog memory list --kind preference
    """
    from cli.memories import Asked, elsewhere, listed, nothing_note, remembered
    from cli.render_memory import no_room, render_memories

    out = output(ctx)
    asked = Asked(every, kinds or (), statuses or (), session, since, until, at)
    with remembered(settings_of(ctx), user) as memory:
        data = listed(memory, asked, limit or None)
        none = nothing_note(memory, current_program())
        if asked.has_filters and not elsewhere(memory):
            none = "no memory is like that"
    out.show(data, render_memories(data.memories, out.style))
    if not data.memories:
        out.note(none)
    if data.cut:
        out.note(f"the newest {len(data.memories):,}; there are more: -n N, -n 0 shows all")
    if not out.as_json and (told := no_room(data.memories, out.style)):
        out.note(told)
