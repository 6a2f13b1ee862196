"""``ctxlog prompt log``"""

from __future__ import annotations

import typer

from cli.door import INTEGRITY
from cli.opening import opened
from cli.options import SessionArgument, settings_of
from cli.output import output


def command(ctx: typer.Context, session: SessionArgument) -> None:
    """What a session was told: each prompt and each set of tools, with the calls that had it.

    A prompt that was rendered from a template stands under its name and version, with what it was
    filled in with, or what that changed; any other system prompt is a text without a template. What
    was recorded of a rendered one is proved again, from its digests: where it does not hold, the
    exit code is 4.

    Example: ctxlog prompt log last
    """
    from cli.naming import session_key
    from cli.render_told import render_prompt_log
    from cli.told import log_data

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        data = log_data(live, session_key(live, session))
    out.show(data, render_prompt_log(data, out.style))
    if any(row.prompt.state == "broken" for row in data.prompts):
        raise typer.Exit(INTEGRITY)
