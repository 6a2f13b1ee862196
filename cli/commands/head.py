"""``ctxlog head``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S", help="Only this session's own head.", autocompletion=complete_session
        ),
    ] = None,
) -> None:
    """Print the head of the log: one digest over every event of every session.

    Keep it outside the file. The log is tamper-evident only against a head that was kept:
    without one, nobody can tell that the newest events were cut off or that all were made anew.
    It stays good while the log grows: `ctxlog verify --head` finds the state that had it.

    With S it is that session's own head, over its events and what it was forked from. Where two
    logs give the same one, they hold the same session to the byte: an export carries it along.

    Example: ctxlog head > log.head
    """
    from cli.heads import session_head
    from cli.models import HeadData
    from cli.naming import session_key
    from eventlog.integrity import head

    out = output(ctx)
    with opened(settings_of(ctx), read_only=True) as live:
        if session is None:
            events, streams = live.log.last_sequence(), len(live.log.streams())
            data = HeadData(head=head(live.log), events=events, streams=streams)
        else:
            key = session_key(live, session)
            own = session_head(live.log, key)
            data = HeadData(
                head=own.head, events=own.events, streams=1, session=str(key), version=own.version
            )
    out.show(data, data.head)
    if data.session is not None:
        out.note(f"of {data.session} at version {data.version}")
