"""``ctxlog sql``"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY", help="One query; - reads it from stdin, none lists the SQL views."
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="For :NAME in the query."),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="The answer as CSV.")] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=0, help="Rows at most (a table: 1000, 0 is all)."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop it after that."),
    ] = None,
) -> None:
    """Ask the log in SQL. It only reads, whatever the query says.

    Without a query it lists the SQL views that are made for this: sessions, messages, calls with
    their bill, compactions, decisions. Any other program that reads SQLite finds them too, such as
    Datasette.

    In CSV a text that a spreadsheet would run gets a ' in front; --json has it as it is.

    Example: ctxlog sql "select model, sum(output) from calls_readable group by model"
    """
    from cli.sql import (
        MOST,
        CsvLines,
        lacking,
        render_sql,
        render_views,
        sql_data,
        values_of,
        views_data,
    )
    from eventlog.asking import asked
    from eventlog.errors import InputRefused

    out = output(ctx)
    if as_csv and out.as_json:
        raise InputRefused("either --csv or --json")
    if query is None:
        views = views_data()
        out.show(views, render_views(views, out.style))
        return
    text = sys.stdin.read() if query == "-" else query
    values = values_of(param or ())
    most = limit or None
    if limit is None and not (as_csv or out.as_json):
        most = MOST
    with opened(settings_of(ctx)) as live:
        log = live.log
        missing = lacking(log)
        try:
            with asked(log.path, text, values, timeout, still=log.is_still) as answer:
                if as_csv:
                    lines = CsvLines(answer, most)
                    for line in lines:
                        out.write(line, flush=False)
                        if out.gone:
                            return
                    sys.stdout.flush()
                else:
                    data = sql_data(answer, most)
        except InputRefused as error:
            if missing and "no such" in str(error):
                raise InputRefused(f"{error}; {missing}") from None
            raise
    if missing:
        out.note(missing)
    if not as_csv:
        out.show(data, render_sql(data, out.style))
        if data.more:
            out.note(f"more than {len(data.rows):,} rows: --limit 0 shows all")
    elif lines.guarded:
        out.note(f"{lines.guarded:,} texts begin like a formula and got a ' in front")
