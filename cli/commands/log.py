"""``ctxlog log``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.opening import opened
from cli.options import complete_place, complete_session, complete_type, settings_of
from cli.output import Output, envelope, json_text, output

if TYPE_CHECKING:
    from cli.following import Batch, Following
    from eventlog import StreamKey


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S",
            help="A session: its key, its id, the first 4 characters of it, its title, or last. "
            "With --follow none: all of them.",
            autocompletion=complete_session,
        ),
    ] = None,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="REF",
            help="See the session as it stood at c5, k1, k1^, 12.",
            autocompletion=complete_place,
        ),
    ] = "",
    span: Annotated[
        str, typer.Option("--range", metavar="A-B", help="Only these positions: 10-60, 100-.")
    ] = "",
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=0, help="Only the last N rows.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only events of this type; may be repeated.",
            autocompletion=complete_type,
        ),
    ] = None,
    calls: Annotated[bool, typer.Option("--calls", help="A row for every model call.")] = False,
    events: Annotated[bool, typer.Option("--events", help="A row for every event.")] = False,
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="Go on with what is appended, until Ctrl-C."),
    ] = False,
) -> None:
    """Show a session, and what of it the model still sees.

    The sign in front of a row says where its item stands at the point asked (now, or --at):

    ● stands in the context (*) · ✂ stands there as a placeholder (x) · Σ folded into a
    summary (S) · ○ left the context (o) · – never in a context (-). In brackets: with --ascii.

    c5 in a row: that answer came from call 5. A call of which no answer was recorded has a row of
    its own, as every call has with --calls. The numbers on the right are estimated tokens;
    310→9 where a placeholder stands for more. What the head says of the context, and a row of a
    pass, is of all of it, also where only some rows are shown.

    --follow shows the last 10 rows (-n: other than 10) and then each row as another process appends
    it, of the session and of what forks off it or begins in it; without S of all sessions. A line
    ==> S <== says whose the next rows are. With --json each row is one line of JSON. A log or a
    session that is not there yet is waited for, and then shown from its beginning.

    Example: ctxlog log last --at c12

    Example: ctxlog log last --follow
    """
    from cli.following import Awaited, Chosen, Following
    from cli.naming import place, span_of, types_of, whole_session
    from cli.render_log import render_log
    from cli.timeline import timeline
    from eventlog.errors import InputRefused

    out = output(ctx)
    if follow:
        if at or span:
            raise InputRefused("--follow shows what comes: without --at and --range")
        wanted = Chosen(types_of(types or []), calls, events)
        name = whole_session(session, "followed") if session else None
        with Awaited(settings_of(ctx), name, out.note) as awaited:
            live, rows = awaited.found(), 10 if last is None else last
            if live is None:
                return
            if awaited.since is None:
                _follow(out, Following(live, awaited.home, wanted), rows, awaited.home)
            else:  # all of it is new: from its beginning, and under the name that was found
                following = Following(live, awaited.home, wanted, awaited.since)
                _follow(out, following, None if awaited.home is not None else 0, None)
        return
    if session is None:
        raise InputRefused("name a session, or follow all of them with --follow")
    if last == 0:
        raise InputRefused("-n 0 goes with --follow")
    with opened(settings_of(ctx)) as live:
        where = place(live, session, at)
        first, end = span_of(span)
        data = timeline(
            live,
            where.stream,
            at=where.position,
            first=first,
            last=end,
            most=last,
            types=types_of(types or []),
            calls=calls,
            every=events,
            unanswered=True,
        )
        out.show(data, render_log(data, out.style))


def _follow(out: Output, following: Following, rows: int | None, home: StreamKey | None) -> None:
    """Until nobody reads any more, or somebody interrupts."""
    from cli.following import wait

    shown = home
    for batch in following.last(rows):
        shown = _show(out, batch, shown)
    while not out.gone and wait():
        for batch in following.new():
            shown = _show(out, batch, shown)


def _show(out: Output, batch: Batch, shown: StreamKey | None) -> StreamKey | None:
    """The rows of a batch, under their session's name where those before are of another; whose rows
    were shown last."""
    from cli.render_log import render_rows

    if not batch.data.rows:
        return shown
    if out.as_json:
        for row in batch.rows():
            out.write(json_text(envelope(out.settings.command, row.model_dump()), indent=None))
        return batch.key
    if batch.key != shown:
        name = out.style.line(str(batch.key), out.style.width - 8)
        out.write(out.style.paint(f"==> {name} <==", "bold"))
    for line in render_rows(batch.data, out.style):
        out.write(line)
    return batch.key
