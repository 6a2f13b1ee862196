"""``ctxlog show``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    context: Annotated[
        bool, typer.Option("--context", help="The whole window of the model there.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="With --context: every item in full.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The stored payload as JSON.")] = False,
) -> None:
    """Show one event or item, or the whole window at a place.

    @12 is event 12 with its full text, @57.0 a message that compaction 57 brought in, @12@340 the
    rendition of item 12 that event 340 carries, @c5 and @k1 the call and the compaction. With
    --context: what the model was given at that call, or what stood in the context after that
    event. @k1^ and a session without a place (its end) are always shown as a window.

    Example: ctxlog show last@k1^ --context
    """
    from cli.naming import place, short_names
    from cli.render_show import render_context, render_event
    from cli.windows import context_at, event_at

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        where = place(live, reference)
        if context or full or where.kind in ("now", "before_compaction"):
            window = context_at(live, where)
            out.show(window, render_context(window, out.style, full=full))
            for note in window.notes:
                out.note(f"note: event {note}")
        else:
            event = event_at(live, where)
            keys = (str(info.key) for info in live.log.streams())
            name, program = short_names(keys)[event.key], current_program()
            out.show(event, render_event(event, out.style, name, raw=raw, program=program))
