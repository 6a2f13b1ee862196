"""``ctxlog prompt list``"""

from __future__ import annotations

import typer

from cli.door import FINDINGS
from cli.output import output
from cli.prompt_options import PromptsOption


def command(ctx: typer.Context, folder: PromptsOption = None) -> None:
    """The prompts that there are, with their versions and variables.

    A file that is no prompt is told, and hides no other; the exit code then is 1.

    Example: ctxlog prompt list --prompts bundled
    """
    from cli.prompts import listing, prompts
    from cli.render_prompt import render_prompts
    from harness.prompts.folder import ENDINGS

    out = output(ctx)
    of = prompts(folder)
    data = listing(of, str(of.path))
    out.show(data, render_prompts(data, out.style))
    if not data.prompts and not data.problems:
        out.note(f"no prompts in {data.place}: their files end in {' or '.join(ENDINGS)}")
    for problem in data.problems:
        out.note(problem.message)
    if data.problems:
        raise typer.Exit(FINDINGS)
