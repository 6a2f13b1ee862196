"""``ctxlog replay``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import output

Format = Literal["openai", "anthropic", "responses", "json", "text"]


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="As which request (else the session's own), or as text."),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Rebuild the request that a model was given, from the events.

    Where the call's request was recorded it is shown as it was sent, unchanged. Else the context
    is folded from the events and made legal for the provider; what had to be repaired for that,
    and what was never recorded, is told on stderr. Nothing is sent anywhere.

    Example: ctxlog replay last@c5 --format openai
    """
    from cli.files import write_new
    from cli.naming import place
    from cli.output import json_text
    from cli.render_replay import render_items
    from cli.replays import replay

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        data, problems = replay(live, place(live, reference), form or "")
    text = json_text(data.request) if form != "text" else "\n".join(render_items(data, out.style))
    if file is not None:
        write_new(file, text + "\n", force=force)
        out.note(f"wrote {file}")
        if out.as_json:
            out.show(data, "")
    else:
        out.show(data, text)
    for note in data.notes:
        out.note(note)
    for repair in data.repairs:
        out.note(f"repaired: {repair}")
    for problem in problems:
        out.note(f"not sendable: {problem}")
    if problems:
        raise typer.Exit(FINDINGS)
