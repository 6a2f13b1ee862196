"""``ctxlog memory revise``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import (
    AreaOption,
    EntityOption,
    ForceSecretOption,
    ImportanceOption,
    KindOption,
    MemoryArgument,
    RelationOption,
    SourceOption,
    SubjectOption,
    UserOption,
    ValueOption,
)
from cli.options import ReasonOption, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    name: MemoryArgument,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What it says from here on; - is standard input."),
    ] = None,
    kind: KindOption = "",
    importance: ImportanceOption = None,
    subject: SubjectOption = None,
    values: ValueOption = None,
    area: AreaOption = "",
    sources: SourceOption = None,
    entities: EntityOption = None,
    relations: RelationOption = None,
    reason: ReasonOption = "",
    force: ForceSecretOption = False,
    user: UserOption = None,
) -> None:
    """Let a memory say something else; what is not given stays.

    Values, entities and relations take the place of all that it had; sources are added. A subject
    and values that were read from its old text are read anew from the new one; those that were
    given stay, which is told. What it said before stays readable: show M.

    Example: ctxlog memory revise m12 "We deploy on Thursdays" --reason "it changed"
    """
    from cli.memories import remembered
    from cli.memories_changing import Typed, revised
    from cli.render_memory import render_added

    out = output(ctx)
    typed = Typed(
        text=text,
        kind=kind,
        importance=importance,
        subject=subject,
        area=area,
        values=values or (),
        sources=sources or (),
        entities=entities or (),
        relations=relations or (),
        force=force,
    )
    with remembered(settings_of(ctx), user, write=True) as memory:
        data, note = revised(memory, name, typed, reason)
    out.show(data, render_added(data, out.style, "revised"))
    if note:
        out.note(note)
