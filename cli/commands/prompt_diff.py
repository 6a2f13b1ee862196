"""``ctxlog prompt diff``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.door import FINDINGS, INTEGRITY
from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output
from cli.prompt_options import PromptsOption

if TYPE_CHECKING:
    from cli.models_told import PromptDiffData
    from projections import Live


def command(
    ctx: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="S@REF",
            help="A session, and a place in it; or the NAME of a prompt.",
            autocompletion=complete_session,
        ),
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="OTHER",
            help="Another place in it, also as @REF; with a NAME, the place.",
            autocompletion=complete_session,
        ),
    ] = None,
    word: Annotated[bool, typer.Option("--word", help="What changed by words.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 1 when the two differ.")
    ] = False,
    folder: PromptsOption = None,
) -> None:
    """What changed between two places in what a model was told: prompts, variables, tools.

    S@c9 alone is held against the last call before it that was told something else. Of a rendered
    prompt it is its template, its version, the variables and the text that came of them; what was
    recorded is proved again from its digests, and where it does not hold the exit code is 4.

    With the NAME of a prompt, or NAME/ROLE, and a place: what was in force there, held against the
    file as it is now.

    Example: ctxlog prompt diff last@c3 @c9

    Example: ctxlog prompt diff code_review last@c5
    """
    from cli.render_told import render_prompt_diff
    from cli.told import diff_data

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        if other is not None and _names_no_session(live, reference):
            data = _against_file(live, reference, other, folder)
        else:
            data = diff_data(live, reference, other)
    out.show(data, render_prompt_diff(data, out.style, words=word))
    if data.broken:
        raise typer.Exit(INTEGRITY)
    if exit_code and not data.same:
        raise typer.Exit(FINDINGS)


def _names_no_session(live: Live, text: str) -> bool:
    """Whether it can only be the name of a prompt."""
    from cli.naming import place
    from eventlog.errors import StreamNotFound

    try:
        place(live, text)
    except StreamNotFound:
        return "@" not in text
    return False


def _against_file(live: Live, name: str, where: str, folder: str | None) -> PromptDiffData:
    from cli.naming import place
    from cli.prompts import prompts
    from cli.told import file_data

    found, of = place(live, where), prompts(folder)
    front, slash, role = name.rpartition("/")
    if slash and name not in of.files() and front in of.files():
        return file_data(live, front, found, [of.get(front, role)], role)
    return file_data(live, name, found, of.roles(name).values())
