"""``ctxlog memory import``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import UserOption
from cli.options import DryRunOption, settings_of
from cli.output import output
from cli.style import plural


def command(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON document, or - for standard input.")
    ],
    dry_run: DryRunOption = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also a document that holds what looks like a key.")
    ] = False,
    user: UserOption = None,
) -> None:
    """Take up what `ctxlog memory export` wrote, for this person, whoever's it was.

    All of it comes in or nothing. What is known is passed over, so a second time adds nothing. It
    comes in behind what stands there: of two memories about one subject that of the document is the
    newer, and where it had been remembered before the other that is told.

    Example: ctxlog memory import memories.json --dry-run
    """
    from cli.memories import remembered
    from cli.memories_moved import document_in, taken_in

    out = output(ctx)
    document = document_in(file, force)
    settings = settings_of(ctx)
    with remembered(settings, user, create=not dry_run, named=False) as memory:
        data = taken_in(memory, document, file, dry_run)
    verb = "would be added" if dry_run else "added"
    said = f"{plural(data.added, 'event')} {verb} to the memories of {data.user}"
    said += f", {data.known:,} known" if data.known else ""
    out.show(data, out.style.line(said, out.style.width))
    whose = data.stream.removesuffix("/_/memory")
    if whose != data.user:
        out.note(f"the document is of {whose or 'nobody'}")
    for warning in data.warnings:
        out.note(warning)
