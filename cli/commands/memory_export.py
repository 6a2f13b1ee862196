"""``ctxlog memory export``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.memory_options import UserOption
from cli.options import settings_of
from cli.output import output

Form = Literal["json", "markdown"]


def command(
    ctx: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Write it there (0600); else to standard output.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        Form,
        typer.Option("--as", help="json holds the history too; markdown what is known now."),
    ] = "json",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    user: UserOption = None,
) -> None:
    """Write all that is remembered of a person as one document.

    json: every event, in the order of the log, with what was superseded and forgotten, the profile,
    and how often each memory was recalled; `ctxlog memory import` takes it up elsewhere. What was
    erased is not in it. markdown: the profile and the memories that stand, for people.

    Example: ctxlog memory export memories.json
    """
    from cli.files import new_file
    from cli.memories import elsewhere, remembered
    from cli.models_memory import MemoryExportData
    from cli.output import json_text
    from eventlog.errors import InputRefused
    from harness.memory.documents import export_memories
    from harness.memory.markdown import export_markdown

    out = output(ctx)
    file = None if file == "-" else file
    if out.as_json and file is None:
        raise InputRefused("the document itself is the answer: --json goes with FILE")
    events = erased = 0
    with remembered(settings_of(ctx), user) as memory:
        others = elsewhere(memory)
        if form == "markdown":
            text = out.style.block(export_markdown(memory).rstrip("\n"))
        else:
            document = export_memories(memory)
            events, erased = len(document["events"]), document["erased"]
            text = json_text(document)
    if file is None:
        out.write(text)
    else:
        with new_file(file, force=force) as stream:
            stream.write(text + "\n")
        data = MemoryExportData(
            user=memory.user,
            form=form,
            file=file,
            bytes=len(text.encode()) + 1,
            events=events,
            erased=erased,
        )
        out.show(data, "")
        out.note(f"wrote {file}, {data.bytes:,} bytes")
    if others:
        out.note(f"nothing is remembered of {memory.user}{others}")
    if erased:
        out.note(f"not in it: {erased:,} that had been erased")
