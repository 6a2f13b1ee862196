"""``ctxlog head``"""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(ctx: typer.Context) -> None:
    """Print the head of the log: one digest over every event of every session.

    Keep it outside the file. The log is tamper-evident only against a head that was kept:
    without one, nobody can tell that the newest events were cut off or that all were made anew.

    Example: ctxlog head > log.head
    """
    from cli.models import HeadData
    from eventlog.integrity import head

    out = output(ctx)
    with opened(settings_of(ctx), read_only=True) as live:
        data = HeadData(
            head=head(live.log), events=live.log.last_sequence(), streams=len(live.log.streams())
        )
    out.show(data, data.head)
