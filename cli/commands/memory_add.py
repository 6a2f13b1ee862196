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
from cli.options import complete_session, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT", help="What is to be known; - is standard input.", show_default=False
        ),
    ] = None,
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
    session: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="S",
            help="Learn from this session in place of TEXT.",
            autocompletion=complete_session,
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what --from would learn.")
    ] = False,
    user: UserOption = None,
) -> None:
    """Remember something for later sessions.

    It counts as said by a person, and its importance is 1 unless told: what is inferred later never
    takes its place. Without --kind and --subject both are read out of the text, as by /remember in
    a chat; what it says of the person stands in the profile, too. Of a preference its subject, its
    area and its values are read out of the text as far as they are not given.

    Of one kind only one memory stands about a subject: the newer takes the place of the older,
    which stays readable; of preferences with values, each value is decided by itself.

    What looks like a key is refused, since memories are shown to models. A log that is not there
    yet is made.

    --from S learns what a chat learns by itself, from any session of the log, as if it had ended:
    what the person asked to be remembered and prefers, decisions, errors and their fixes that are
    important enough, a summary. What was learned of it before is not learned again.

    Example: ctxlog memory add "Indents with tabs" --subject indentation --value indentation=tabs
    """
    from cli.memories import remembered
    from cli.memories_changing import Typed, added, new
    from cli.memories_learned import from_session, learned_from, learned_note, places_of
    from cli.naming import place_names
    from cli.render_memory import render_added, render_learned

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
    if from_session(typed, at, session, dry_run):
        with remembered(settings_of(ctx), user, write=not dry_run, named=False) as memory:
            found = learned_from(memory, session, dry_run=dry_run, force=force)
            places = place_names(memory.live, places_of(found))
        out.show(found, render_learned(found, out.style, places))
        out.note(learned_note(found, places))
        return
    given = new(typed, at)
    with remembered(settings_of(ctx), user, create=True) as memory:
        data = added(memory, given)
    out.show(data, render_added(data, out.style, "remembered"))
    replaced = [each.name for each in data.took_the_place_of]
    undo = f"restore {' '.join(replaced)}" if replaced else f"forget {data.memory.name}"
    out.note(f"to take it back: {current_program()} memory {undo}")
