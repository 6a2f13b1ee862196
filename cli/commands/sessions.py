"""``ctxlog sessions``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=1, help="Only the newest N.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Only those of this agent.")
    ] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted ones too.")] = False,
) -> None:
    """List the sessions, the newest first.

    "when" is when a session last went on, UTC: by its own clock where its source kept one, else,
    in brackets, when it was imported. A note (a pin, a title, a redaction) does not move it. k
    counts the compactions, cl the items whose content was cleared, cut or replaced as a duplicate;
    either counts what was undone since.

    "known as" says how well it is known what the calls saw: exact, erased, rebuilt, partial,
    opaque, drift or broken, by the weakest of the answered ones, since what is said of all of them
    holds only as far as that. One folded call among a hundred proved ones makes a session rebuilt;
    audit S tells it call by call.

    Example: ctxlog sessions -n 10
    """
    from cli.models import SessionsData
    from cli.naming import check_filters, short_names
    from cli.render_sessions import no_room, render_sessions
    from eventlog import StreamKey
    from projections.sessions import list_sessions, session_states

    out = output(ctx)
    with opened(settings_of(ctx)) as live:
        every = list_sessions(live, deleted=deleted)
        # A deleted one answers to its whole name only.
        named = session_states(live) if deleted else every
        names = short_names(row.key for row in named)
        check_filters((StreamKey.parse(row.key) for row in every), agent=agent)
    found = [row for row in every if agent in ("", StreamKey.parse(row.key).agent)][:last]
    text = render_sessions(found, out.style, names) if found else "no sessions yet"
    out.show(SessionsData(sessions=found), text)
    if not out.as_json and (told := no_room(found, out.style, names)):
        out.note(told)
