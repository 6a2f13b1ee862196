"""``ctxlog memory profile``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.memory_options import ForceSecretOption, UserOption
from cli.options import ReasonOption, settings_of
from cli.output import output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SECTION.NAME=VALUE", help="To be known from here on; JSON, or a text."
        ),
    ] = None,
    gone: Annotated[
        list[str] | None,
        typer.Option("--unset", metavar="SECTION.NAME", help="No longer known."),
    ] = None,
    reason: ReasonOption = "",
    force: ForceSecretOption = False,
    user: UserOption = None,
) -> None:
    """Show what is known of a person by name, or change it.

    Sections: basics, technical, interaction, behaviour. What is set here counts as said by the
    person: nothing that is inferred changes it. With changes, the log is made where there is none.

    Example: ctxlog memory profile --set basics.name=Ada --set technical.indentation=tabs
    """
    from cli.memories import elsewhere, remembered
    from cli.profiles import names_of, profile_changed, profile_changes, profile_data
    from cli.render_memory import render_profile

    out = output(ctx)
    changes = profile_changes(given or (), gone or (), force)
    with remembered(settings_of(ctx), user, create=bool(changes)) as memory:
        data = profile_changed(memory, changes, reason) if changes else profile_data(memory)
        called = names_of(memory, data)
        others = elsewhere(memory)
    out.show(data, render_profile(data, out.style, called))
    if not data.known:
        program = current_program()
        out.note(
            f"nothing is known of {data.user}: {program} memory profile --set basics.name=NAME"
            f"{others}"
        )
