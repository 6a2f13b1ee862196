"""``ctxlog doctor``"""

from __future__ import annotations

import typer

from cli.door import FINDINGS
from cli.options import settings_of
from cli.output import output


def command(ctx: typer.Context) -> None:
    """Tell where the log and the config are and why, and whether they can be used.

    Versions, permissions, the write-ahead log, who writes just now, room on the disk, the file
    system, the format, and a quick look at the content. Works for a log that is missing, locked,
    damaged, or no log at all, and never writes to it.

    Exit code 1 when something is a problem.

    Example: ctxlog doctor
    """
    from cli.doctor import doctor
    from cli.render_doctor import render_doctor

    out = output(ctx)
    data = doctor(settings_of(ctx).db)
    out.show(data, render_doctor(data, out.style))
    if data.problems:
        raise typer.Exit(FINDINGS)
