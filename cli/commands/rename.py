"""``ctxlog rename``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import SessionArgument, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    session: SessionArgument,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="One line of at most 200 characters.")
    ],
) -> None:
    """Give a session a title. Its id stays.

    A title is a note: it may be given to any session, and does not move it in the list. The titles
    of before stay in the log. A name that is typed is an id first, and a title where no id begins
    like it.

    Example: ctxlog rename last "The kiln"
    """
    from cli.own_sessions import renamed

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        data = renamed(live, session, title)
    shown = f"{out.style.block(data.key)}  {out.style.line(data.title, out.style.width)}"
    out.show(data, shown)
    if data.before and data.before != data.title:
        out.note(f"before: {data.before}")
    if data.means is not None:
        out.note(f"typed as a name that means {data.means}: a name is an id first")
