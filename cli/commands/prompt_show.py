"""``ctxlog prompt show``"""

from __future__ import annotations

import typer

from cli.output import output
from cli.prompt_options import PromptArgument, PromptsOption, RoleOption


def command(
    ctx: typer.Context,
    name: PromptArgument,
    role: RoleOption = "",
    folder: PromptsOption = None,
) -> None:
    """Show one prompt as it was written, with its variables in braces.

    Example: ctxlog prompt show code_review
    """
    from cli.prompts import chosen, prompts, shown
    from cli.render_prompt import render_prompt

    out = output(ctx)
    of = prompts(folder)
    data = shown(of, chosen(of, name, role))
    out.show(data, render_prompt(data, out.style))
