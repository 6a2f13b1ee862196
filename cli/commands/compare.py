"""``ctxlog compare``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    SummarizerOption,
    complete_session,
    complete_strategy,
    settings_of,
)
from cli.output import output
from cli.strategy_options import PresetOption, PricesOption


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="S...",
            help="Sessions: key, id, its first 4 characters, title, or last.",
            autocompletion=complete_session,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every session that has a call.")] = False,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="SPEC",
            help="One more strategy; repeatable.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    preset: PresetOption = None,
    prices: PricesOption = None,
    window: Annotated[
        int | None, typer.Option("--window", metavar="N", min=1, help="Tokens the model can take.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="The table as CSV.")] = False,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
) -> None:
    """What other strategies would have cost, kept and lost on recorded sessions.

    Against observed, the contexts as they really were: tokens sent and the largest context; what a
    cache of the provider could have read, and how often its prefix broke; the cost where a cache
    read costs a tenth and a write a quarter more, and without any discount; calls that the
    session's own provider takes as they were (what it answered it took, unless a call or a result
    stood there alone); and how much of what later answers used, five calls back or more, was still
    there. What-ifs keep the recorded messages. Without --strategy a few
    usual ones are taken.

    Example: ctxlog compare last --strategy truncate:turns=20 --strategy clear:keep=3
    """
    from cli.comparing import compared, specs_of
    from cli.naming import session_key, short_names, whole_session
    from cli.prices import asked_prices
    from cli.progress import Meter
    from cli.render_compare import csv_text, price_lines, render_compare
    from cli.summaries import Summaries
    from eventlog import StreamKey
    from eventlog.errors import InputRefused
    from projections.session_rows import newest
    from projections.sessions import session_query

    out = output(ctx)
    if bool(sessions) == every:
        raise InputRefused("name the sessions to compare strategies on, or say --all")
    if as_csv and out.as_json:
        raise InputRefused("either --csv or --json")
    specs = specs_of(strategy or (), preset or ())
    tables = asked_prices(prices or ())
    with opened(settings_of(ctx)) as live:
        keys = [session_key(live, whole_session(name)) for name in sessions or ()]
        if every:
            states = newest(session_query(live))
            keys = [StreamKey.parse(state.key) for state in states if state.calls]
        names = short_names(live, map(str, keys))
        summaries = Summaries(live, summarizer, base_url, out.note)
        with Meter(out, "compared", "runs") as meter:
            data = compared(
                live, keys, specs, summaries, prices=tables, window=window, progress=meter.show
            )
        asked = summaries.told()
    if as_csv:
        out.write(csv_text(data))
        for line in price_lines(data, out.style):
            out.note(line)
        for warning in data.warnings:
            out.note(f"! {warning}")
    else:
        out.show(data, render_compare(data, out.style, names))
    if asked:
        out.note(asked)
