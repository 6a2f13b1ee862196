"""``ctxlog backup``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The copy (0600).")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Copy the whole log to a file, also while others write to it, and verify the copy.

    FILE appears whole or not at all. Every digest of it is recomputed, and it is held against the
    log, session by session, before it gets its name; what was erased is not in it. It is a log like
    any other: `ctxlog sessions --db FILE`. Keep its head elsewhere.

    Exit code 4 when the copy does not verify.

    Example: ctxlog backup ~/backups/ctxlog-2026-09-20.db
    """
    from cli.models_upkeep import BackupData
    from cli.progress import Meter
    from eventlog.backup import backup

    out = output(ctx)

    with (
        opened(settings_of(ctx)) as live,
        Meter(out, "copied", "bytes") as copied,
        Meter(out, "verified") as verified,
    ):
        made = backup(
            live.log,
            file,
            replace=force,
            progress=lambda what, done, of: (copied if what == "copy" else verified).show(done, of),
        )
    data = BackupData(
        file=file,
        head=made.head,
        events=made.events,
        sessions=made.streams,
        bytes=made.size,
        without_derived=made.without_derived,
    )
    out.show(data, f"head {made.head}")
    out.note(f"wrote {file}, {made.size:,} bytes, verified")
    if made.without_derived:
        out.note(
            "erased text may still stand in the log's derived tables, so the copy has none: the "
            "next command that opens it makes them anew"
        )
