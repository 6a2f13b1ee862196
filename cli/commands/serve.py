"""``ctxlog serve``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import (
    complete_preset,
    complete_prices,
    complete_session,
    complete_strategy,
    settings_of,
)
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
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            metavar="SPEC",
            help="Also what this strategy would have made of it; repeatable.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="Also what a known agent does, or all of them.",
            autocompletion=complete_preset,
        ),
    ] = None,
    prices: Annotated[
        list[str] | None,
        typer.Option(
            "--prices",
            metavar="TABLE",
            help="What strategies are priced at, as in compare; repeatable.",
            autocompletion=complete_prices,
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All of every text, however much that is.")
    ] = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Mask no keys and tokens.")
    ] = False,
) -> None:
    """Look at the log in a browser, as it grows, until Ctrl-C.

    It is the page of `report`, for this machine alone: the address that is shown holds a random
    token, and whoever has it reads the log. Nothing can be changed there. A session that goes on is
    followed. With --compare each session is also shown as other strategies would have made it; no
    model is asked for summaries. Secrets of known shapes are masked.

    Example: ctxlog serve last --open
    """
    import contextlib
    import signal

    from cli.child import unsignalled, waiting
    from eventlog.errors import InputRefused

    with unsignalled():
        from cli.comparing import specs_of
        from cli.naming import session_key, whole_session
        from cli.prices import asked_prices
        from cli.report.opening_page import NO_BROWSER, open_page, way_to
        from cli.report.served_log import ServedLog
        from cli.report.served_model import ServingData
        from cli.report.server import HOST, Server, Shown
        from cli.strategies import strategies_of

    out = output(ctx)
    if prices and not (compare or preset):
        raise InputRefused("--prices is of strategies: name one with --compare")
    specs = specs_of(compare or (), preset or ()) if compare or preset else []
    for spec in specs:  # told now, not by the page
        strategies_of(spec)
    shown = Shown(
        full=full,
        with_secrets=show_secrets,
        specs=specs,
        prices=asked_prices(prices or ()),
    )
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(opened(settings_of(ctx), read_only=True))
        names = [whole_session(name, "served") for name in sessions or ()]
        keys = list(dict.fromkeys(session_key(live, name) for name in names))
        try:
            server = Server(ServedLog(live, keys), port, shown)
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
