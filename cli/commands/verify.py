"""``ctxlog verify``"""

from __future__ import annotations

import contextlib
import re
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
    unseen: keep what `ctxlog head` prints. With S, what `ctxlog head S` printed can be given too.

    Example: ctxlog verify --head "$(cat log.head)"
    """
    from cli.heads import session_head
    from cli.models import ProblemData, VerifyData
    from cli.naming import session_key
    from cli.render_keep import render_verify
    from cli.safetext import one_line
    from eventlog.errors import DamagedLog, InputRefused
    from eventlog.integrity import verify

    if kept is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", kept):
        given = one_line(kept, 40) or "nothing"
        raise InputRefused(f"--head takes the 64 digits that `ctxlog head` printed, not {given}")
    out = output(ctx)
    with opened(settings_of(ctx), read_only=True) as live:
        key = session_key(live, session) if session is not None else None
        found = verify(live.log, stream=key, head=kept if key is None else None)
        own = None
        if key is not None:
            with contextlib.suppress(DamagedLog):  # then that is among the problems
                own = session_head(live.log, key)
    problems = [ProblemData.model_validate(p._asdict()) for p in found.problems]
    heads = (own.head if own is not None else "", found.head)
    if key is not None and kept is not None and kept.strip().lower() not in heads:
        said = f"the head is {heads[0]}, and of the log {found.head}, not {kept.strip()}"
        problems.append(ProblemData(stream=str(key), position=None, kind="head", message=said))
    data = VerifyData(
        head=found.head,
        events=found.events,
        streams=found.streams,
        redactions=found.redactions,
        problems=problems,
        session=str(key) if key is not None else None,
        version=own.version if own is not None else None,
        session_head=own.head if own is not None else None,
    )
    out.show(data, render_verify(data, out.style))
    if not problems and kept is None and session is None:
        out.note("keep the head outside the file: only against it is a cut-off end seen")
    if problems:
        raise typer.Exit(INTEGRITY)
