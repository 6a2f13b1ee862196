"""``ctxlog sessions``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import settings_of
from cli.output import output

LATEST = 50
"""Sessions that are listed where nobody says how many."""


def command(
    ctx: typer.Context,
    last: Annotated[
        int | None,
        typer.Option("--last", "-n", metavar="N", min=1, help="Only the newest N, 50 if not told."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="However many there are.")] = False,
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

    How many were left out is said. With --json all are listed, unless -n is given. What `prompt
    test` asked is listed by --agent prompt-test, by --all, and by --json without -n.

    A deleted one says so in front of its title, and answers to the whole id that is shown.

    Example: ctxlog sessions -n 10
    """
    from cli.listing import Asked, listing, listing_data
    from cli.render_sessions import no_room, render_sessions
    from eventlog.errors import InputRefused

    out = output(ctx)
    settings = settings_of(ctx)
    if every and last is not None:
        raise InputRefused("either --all or -n")
    if out.as_json:
        out.show(listing_data(settings, Asked(last, agent, deleted, last is None)), "")
        return
    limit = None if every else last or LATEST
    found = listing(settings, Asked(limit, agent, deleted, every))
    rows, names = found.rows, found.names
    none = "no sessions but those of prompt tests" if found.prompt_tests else "no sessions yet"
    out.write("\n".join(render_sessions(rows, out.style, names)) or none)
    if left := found.total - len(rows):
        out.note(f"{left:,} older: -n N, or --all")
    if found.prompt_tests:
        out.note(f"{found.prompt_tests:,} of prompt tests: --agent prompt-test")
    if told := no_room(rows, out.style, names):
        out.note(told)
