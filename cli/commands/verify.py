"""``ctxlog verify``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.door import INTEGRITY
from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S",
            help="Only this session and what it was forked from.",
            autocompletion=complete_session,
        ),
    ] = None,
    kept: Annotated[
        str | None,
        typer.Option("--head", metavar="DIGEST", help="A head that was kept outside the file."),
    ] = None,
) -> None:
    """Recompute every digest and chain from the stored bytes, and tell what does not hold.

    Exit code 4 when something does not. Without --head the end of the log may have been cut off
    unseen: keep what `ctxlog head` prints.

    Example: ctxlog verify --head "$(cat log.head)"
    """
    from cli.models import ProblemData, VerifyData
    from cli.naming import session_key
    from cli.render_keep import render_verify
    from eventlog.integrity import verify

    out = output(ctx)
    with opened(settings_of(ctx), read_only=True) as live:
        key = session_key(live, session) if session is not None else None
        found = verify(live.log, stream=key, head=kept)
    data = VerifyData(
        head=found.head,
        events=found.events,
        streams=found.streams,
        redactions=found.redactions,
        problems=[ProblemData.model_validate(p._asdict()) for p in found.problems],
    )
    out.show(data, render_verify(data, out.style))
    if not found.problems and kept is None and session is None:
        out.note("keep the head outside the file: only against it is a cut-off end seen")
    if found.problems:
        raise typer.Exit(INTEGRITY)
