"""``ctxlog state export``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import output

Form = Literal["state", "messages", "session"]


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    file: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600).")
    ] = None,
    form: Annotated[
        Form,
        typer.Option("--as", help="state holds everything; the others the messages, for others."),
    ] = "state",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Write the state of an agent as one JSON document.

    state: all of it, as it would be resumed. messages: the context as a list in OpenAI's chat form.
    session: the same list with "session_id" and "metadata". `ctxlog state import` takes each of
    them. No history goes along: `ctxlog export` has that.

    Example: ctxlog state export last --out state.json
    """
    from cli.files import new_file
    from cli.naming import place
    from cli.output import json_text
    from cli.states import exported
    from eventlog.errors import InputRefused

    out = output(ctx)
    file = None if file == "-" else file
    if out.as_json and file is None:
        raise InputRefused("the document itself is the answer: --json goes with --out")
    with opened(settings_of(ctx)) as live:
        data, document = exported(live, place(live, reference), form)
    text = json_text(document)
    if file is None:
        out.write(text)
    else:
        with new_file(file, force=force) as stream:
            stream.write(text + "\n")
        data.file, data.bytes = file, len(text) + 1
        out.show(data, "")
        out.note(f"wrote {file}, {data.bytes:,} bytes")
    for warning in data.warnings:
        out.note(warning)
