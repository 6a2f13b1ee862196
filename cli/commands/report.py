"""``ctxlog report``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    SummarizerOption,
    complete_session,
    settings_of,
)
from cli.output import output
from cli.strategy_options import (
    ComparedOption,
    OpenOption,
    PresetOption,
    PricesOption,
    SecretsOption,
)


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str],
        typer.Argument(metavar="S...", help="The sessions.", autocompletion=complete_session),
    ],
    file: Annotated[
        str,
        typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600); - is stdout."),
    ] = "ctxlog-report.html",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    compare: ComparedOption = None,
    preset: PresetOption = None,
    prices: PricesOption = None,
    open_: OpenOption = False,
    full: Annotated[
        bool, typer.Option("--full", help="All of every text, however large the file gets.")
    ] = False,
    show_secrets: SecretsOption = False,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
) -> None:
    """Write a page to look at: one HTML file that needs no network.

    It shows the context of every call as a river with the cliffs of compaction, the transcript as
    seen at any call, each exact request, what every compaction lost, what broke the cache, where
    the tokens went, and how well all of that is known. With --compare also what other strategies
    would have made of it. Secrets of known shapes are masked; the file is for its owner alone
    (0600), and what people said stands in it as it was said.

    For two strategies: ctxlog report last --compare truncate:turns=20 --compare clear:keep=3

    Example: ctxlog report last -o report.html
    """
    import contextlib
    from pathlib import Path

    from cli.comparing import specs_of
    from cli.files import new_file
    from cli.naming import session_key, short_names, whole_session
    from cli.prices import asked_prices
    from cli.progress import Meter
    from cli.report.lanes import Wanted
    from cli.report.model import ReportData
    from cli.report.opening_page import NO_BROWSER, open_page
    from cli.report.report import MOST, report
    from cli.safetext import safe_text
    from cli.summaries import Summaries
    from eventlog.errors import InputRefused

    out = output(ctx)
    is_compared = bool(compare or preset)
    if not is_compared and (prices or summarizer != "extractive" or base_url is not None):
        raise InputRefused("--prices and --summarizer are of strategies: name one with --compare")
    is_piped = file == "-"
    if is_piped and (out.as_json or open_):
        raise InputRefused("the page itself is the answer: --json and --open go with a file")
    if is_piped and out.is_terminal:
        raise InputRefused("a page is nothing for a terminal: name a file, or send it into a pipe")
    specs = specs_of(compare or (), preset or ()) if is_compared else []
    tables = asked_prices(prices or ())
    # Named first: whether it can be written is known before what takes long.
    target = contextlib.nullcontext() if is_piped else new_file(file, force=force)
    with target as stream, opened(settings_of(ctx)) as live:
        keys = list(
            dict.fromkeys(session_key(live, whole_session(s, "reported")) for s in sessions)
        )
        names = short_names(live, map(str, keys))
        with Meter(out, "read", "events") as meter, Meter(out, "compared", "runs") as runs:

            def ran(done: int, whole: int) -> None:
                meter.close()
                runs.show(done, whole)

            wanted = None
            if is_compared:
                summaries = Summaries(live, summarizer, base_url, out.note)
                wanted = Wanted(specs, summaries, tables, ran)
            made = report(
                live,
                keys,
                names,
                full=full,
                with_secrets=show_secrets,
                progress=meter.show,
                comparing=wanted,
            )
        html = made.html()
        if stream is None:
            out.write_exactly(html)
        else:
            stream.write(html)
        size = len(html.encode())
        if wanted is not None and (asked := wanted.summaries.told()):
            out.note(asked)
    if size > MOST and not full:
        out.note(
            f"larger than {MOST:,} bytes: the middle of long texts was left out, but so many calls "
            "and items need more; fewer sessions give a smaller file"
        )
    if is_piped:
        return
    data = ReportData(
        file=file,
        bytes=size,
        sessions=[str(key) for key in keys],
        cut=sum(len(each.texts.cut) for each in made.sessions),
        masked=None if show_secrets else sum(each.secrets for each in made.sessions),
    )
    out.show(data, f"wrote {safe_text(file, newlines=False)}, {size:,} bytes")
    if open_ and not open_page(Path(file).resolve().as_uri()):
        out.note(NO_BROWSER)
