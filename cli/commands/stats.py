"""``ctxlog stats``"""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import SessionArgument, settings_of
from cli.output import output


def command(ctx: typer.Context, session: SessionArgument) -> None:
    """Count what is in a session.

    A fork counts its own events only: what it inherits is counted in its parent. Of an imported
    session "in the file" is the same file counted as its own format counts.

    Example: ctxlog stats last --json
    """
    from cli.naming import session_key
    from cli.render_sessions import render_stats
    from projections.sessions import session_stats

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        key = session_key(live, session)
        data, info = session_stats(live, key), live.log.stream(key)
    out.show(data, render_stats(data, out.style, info.base))
