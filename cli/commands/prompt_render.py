"""``ctxlog prompt render``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.output import output
from cli.prompt_options import (
    PromptArgument,
    PromptsOption,
    RoleOption,
    VarFileOption,
    VarOption,
)
from cli.safetext import safe_text


def command(
    ctx: typer.Context,
    name: PromptArgument,
    role: RoleOption = "",
    var: VarOption = None,
    var_file: VarFileOption = None,
    part: Annotated[
        Literal["system", "user"] | None,
        typer.Option("--part", metavar="PART", help="Only this text: system or user."),
    ] = None,
    folder: PromptsOption = None,
) -> None:
    """Fill in a prompt and print what a model would be given.

    A variable without a value and a value without a variable are errors. A value is put in as it
    is: braces in it are no variables. With one text alone nothing but it goes into a pipe. --json
    gives the messages.

    Example: git diff | ctxlog prompt render code_review --var-file change=-
    """
    from cli.prompts import chosen, prompts, rendered, values_of
    from cli.render_prompt import render_rendered

    out = output(ctx)
    template = chosen(prompts(folder), name, role)
    data = rendered(template, values_of(var or (), var_file or ()), part)
    if len(data.messages) == 1 and not out.as_json and not out.is_terminal:
        out.write_exactly(data.messages[0]["content"])
        return
    out.show(data, render_rendered(data, out.style))
    texts = [message["content"] for message in data.messages]
    if not out.as_json and any(safe_text(text) != text for text in texts):
        out.note("escaped as \\u{…}; --json and --part into a pipe give it as it is")
