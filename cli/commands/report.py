"""``ctxlog report``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str],
        typer.Argument(metavar="S...", help="The sessions.", autocompletion=complete_session),
    ],
    file: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600).")
    ] = "ctxlog-report.html",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All of every text, however large the file gets.")
    ] = False,
) -> None:
    """Write a page to look at: one HTML file that needs no network.

    Example: ctxlog report last -o report.html
    """
    from pathlib import Path

    from cli.files import new_file
    from cli.naming import session_key, short_names, whole_session
    from cli.progress import Meter
    from cli.report.model import ReportData
    from cli.report.opening_page import NO_BROWSER, open_page
    from cli.report.report import report

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        keys = list(
            dict.fromkeys(session_key(live, whole_session(s, "reported")) for s in sessions)
        )
        names = short_names(live, map(str, keys))
        with Meter(out, "read", "events") as meter:
            made = report(live, keys, names, full=full, progress=meter.show)
    with new_file(file, force=force) as stream:
        stream.write(made.html())
        size = stream.tell()
    data = ReportData(
        file=file,
        bytes=size,
        sessions=[str(key) for key in keys],
        cut=sum(len(each.texts.cut) for each in made.sessions),
        masked=None,
    )
    out.show(data, f"wrote {file}, {size:,} bytes")
    if open_ and not open_page(Path(file).resolve().as_uri()):
        out.note(NO_BROWSER)
