"""``ctxlog replay``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.door import FINDINGS, INTEGRITY
from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    ReferenceArgument,
    SummarizerOption,
    complete_strategy,
    settings_of,
)
from cli.output import Output, output

Format = Literal["openai", "anthropic", "responses", "json", "text"]


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="As a request: openai, anthropic, responses, json (else the session's own); or "
            "as text.",
        ),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            metavar="SPEC",
            help="What another strategy would have made.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Compare every call of S with what was recorded of it."),
    ] = False,
) -> None:
    """Rebuild the request that a model was given, from the events.

    Where the call's request was recorded it is shown as it was sent. Else the context
    is folded from the events and made legal for the provider; what had to be repaired for that,
    and what was never recorded, is told on stderr. Nothing is sent anywhere.

    With --strategy it is the request that another strategy would have made there, with the
    recorded messages kept. A SPEC is a name and parameters, such as clear:keep=3; | between two
    makes a pipeline; a name from [strategies] in .ctxlog/config.toml and my.py:function will do.

    With --check every call of the session is rebuilt and compared: the request with its digest,
    its items with the context as folded, its bytes with what went over the wire. A line for each
    that differs, and one for all. What was never recorded, or was erased, cannot be checked and is
    counted apart. The exit code is 4 where a request is not the one that was recorded, and 1 where
    it is and nothing explains what stands in it.

    Example: ctxlog replay last@c5 --format openai

    Example: ctxlog replay last --check
    """
    from cli.files import write_new
    from cli.naming import place
    from cli.output import json_text
    from cli.render_replay import render_items
    from cli.replays import replay
    from eventlog.errors import InputRefused

    out = output(ctx)
    if check:
        if form or file or strategy:
            raise InputRefused("--check goes without --format, --out and --strategy")
        _check(ctx, out, reference)
        return
    told = ""
    with opened(settings_of(ctx)) as live:
        where = place(live, reference)
        if strategy is None:
            data, problems = replay(live, where, form or "")
        else:
            from cli.strategies import strategies_of
            from cli.summaries import Summaries
            from cli.whatifs import replay_under

            named = strategies_of(strategy)
            summaries = Summaries(live, summarizer, base_url, out.note)
            data, problems = replay_under(live, where, form or "", named, summaries)
            told = summaries.told()
    text = json_text(data.request) if form != "text" else "\n".join(render_items(data, out.style))
    if file is not None:
        write_new(file, text + "\n", force=force)
        out.note(f"wrote {file}")
        if out.as_json:
            out.show(data, "")
    else:
        out.show(data, text)
    for note in [*data.notes, *([told] if told else [])]:
        out.note(note)
    for repair in data.repairs:
        out.note(f"repaired: {repair}")
    for problem in problems:
        out.note(f"not sendable: {problem}")
    if problems:
        raise typer.Exit(FINDINGS)


def _check(ctx: typer.Context, out: Output, reference: str) -> None:
    from cli.checks import checked
    from cli.naming import place
    from cli.progress import Meter
    from cli.render_check import render_check

    with opened(settings_of(ctx)) as live, Meter(out, "rebuilt", "calls") as meter:
        data = checked(live, place(live, reference), meter.show)
    out.show(data, render_check(data, out.style))
    if any(each.verdict == "broken" for each in data.checked):
        raise typer.Exit(INTEGRITY)
    if data.differ:
        raise typer.Exit(FINDINGS)
