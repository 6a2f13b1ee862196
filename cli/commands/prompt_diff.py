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
    file as it is now. With --exit-code that says whether the file has changed since.

    Example: ctxlog prompt diff last@c3 @c9

    Example: ctxlog prompt diff code_review last@c5
    """
    from cli.render_told import render_prompt_diff
    from cli.told import diff_data

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        if other is not None and _is_prompt(live, reference, folder):
            data = _against_file(live, reference, other, folder)
        else:
            data = diff_data(live, reference, other)
    out.show(data, render_prompt_diff(data, out.style, words=word))
    if data.broken:
        raise typer.Exit(INTEGRITY)
    if exit_code and not data.same:
        raise typer.Exit(FINDINGS)


def _is_prompt(live: Live, name: str, folder: str | None) -> bool:
    """Whether it is the name of a prompt: that of a session comes first where it is typed whole."""
    from cli.naming import place
    from cli.prompts import prompts
    from eventlog.errors import InputRefused, NotFound, StreamNotFound
    from projections.session_names import is_last

    if "@" in name:
        return False
    try:
        key = place(live, name).stream
    except StreamNotFound:
        return True
    if is_last(name) or name in (str(key), key.session):
        return False
    try:
        of = prompts(folder).files()
    except (InputRefused, NotFound):
        return False
    return name in of or name.rpartition("/")[0] in of


def _against_file(live: Live, name: str, where: str, folder: str | None) -> PromptDiffData:
    from cli.naming import place
    from cli.prompts import prompts
    from cli.told import file_data

    found, of = place(live, where), prompts(folder)
    front, slash, role = name.rpartition("/")
    if slash and name not in of.files() and front in of.files():
        return file_data(live, of, front, found, role)
    return file_data(live, of, name, found)
