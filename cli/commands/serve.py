"""``ctxlog serve``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="S...",
            help="Only these sessions, not all of the log.",
            autocompletion=complete_session,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes a free one.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All of every text, however much that is.")
    ] = False,
) -> None:
    """Look at the log in a browser, as it grows, until Ctrl-C.

    It is the page of `report`, for this machine alone: the address that is shown holds a random
    token, and whoever has it reads the log. Nothing can be changed there. A session that goes on is
    followed.

    Example: ctxlog serve last --open
    """
    import contextlib
    import signal

    from cli.child import unsignalled, waiting
    from eventlog.errors import InputRefused

    with unsignalled():
        from cli.naming import session_key, whole_session
        from cli.report.opening_page import NO_BROWSER, open_page, way_to
        from cli.report.served_log import ServedLog
        from cli.report.served_model import ServingData
        from cli.report.server import HOST, Server

    out = output(ctx)
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(opened(settings_of(ctx), read_only=True))
        names = [whole_session(name, "served") for name in sessions or ()]
        keys = list(dict.fromkeys(session_key(live, name) for name in names))
        try:
            server = Server(ServedLog(live, keys), port, full=full)
        except OSError as error:
            reason = error.strerror or error
            raise InputRefused(f"cannot listen on {HOST}, port {port}: {reason}") from None
        stack.callback(server.close)
        numbers = stack.enter_context(waiting("INT", "TERM", "HUP"))
        server.start()
        data = ServingData(
            url=server.url,
            log=str(live.log.path),
            sessions=[str(key) for key in keys] or None,
        )
        out.show(data, server.url)
        if open_ and not open_page(stack.enter_context(way_to(server.url))):
            out.note(NO_BROWSER)
        out.note("serving until Ctrl-C")
        signal.sigwait(numbers)
