"""``ctxlog memory add``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import (
    AreaOption,
    EntityOption,
    ForceSecretOption,
    ImportanceOption,
    KindOption,
    RelationOption,
    SourceOption,
    SubjectOption,
    UserOption,
    ValueOption,
)
from cli.options import settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="What is to be known; - is standard input."),
    ],
    kind: KindOption = "",
    importance: ImportanceOption = None,
    subject: SubjectOption = None,
    values: ValueOption = None,
    area: AreaOption = "",
    sources: SourceOption = None,
    entities: EntityOption = None,
    relations: RelationOption = None,
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="When it came up, where that is not now.")
    ] = "",
    force: ForceSecretOption = False,
    user: UserOption = None,
) -> None:
    """Remember something for later sessions.

    It counts as said by a person, and its importance is 1 unless told: what is inferred later never
    takes its place. Of one kind only one memory stands about a --subject: the newer takes the place
    of the older, which stays readable; of preferences with values, each value is decided by itself.

    What looks like a key is refused, since memories are shown to models. A log that is not there
    yet is made.

    Example: ctxlog memory add "Indents with tabs" --subject indentation --value indentation=tabs
    """
    from cli.memories import remembered
    from cli.memories_changing import Typed, added, new
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
    given = new(typed, at)
    with remembered(settings_of(ctx), user, create=True) as memory:
        data = added(memory, given)
    out.show(data, render_added(data, out.style, "remembered"))
    out.note(f"to take it back: {current_program()} memory forget {data.memory.name}")
