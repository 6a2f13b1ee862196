"""``ctxlog diff``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    ReferenceArgument,
    SummarizerOption,
    complete_session,
    settings_of,
)
from cli.output import output


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="OTHER",
            help="Another place in the same session, also as @REF.",
            autocompletion=complete_session,
        ),
    ] = None,
    left: Annotated[
        str | None, typer.Option("--left", metavar="SPEC", help="The left: what SPEC would make.")
    ] = None,
    right: Annotated[
        str | None, typer.Option("--right", metavar="SPEC", help="The right, likewise.")
    ] = None,
    at: Annotated[
        str, typer.Option("--at", metavar="REF", help="With --left, --right: where, such as c30.")
    ] = "",
    anchors: Annotated[
        bool, typer.Option("--anchors", help="Which literals are lost, and what needed them later.")
    ] = False,
    prefix: Annotated[
        bool, typer.Option("--prefix", help="Where the common beginning ends, and its cost.")
    ] = False,
    stat: Annotated[bool, typer.Option("--stat", help="Only the totals.")] = False,
    beside: Annotated[
        bool, typer.Option("--side-by-side", help="Both contexts, in two columns.")
    ] = False,
    word: Annotated[
        bool, typer.Option("--word", help="What changed inside items, by words.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Leave with 1 when the two differ.")
    ] = False,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
) -> None:
    """What differs between two contexts of a session: kept, cut, cleared, summarised, dropped.

    S@k1 alone is just before that compaction against just after it, S@c12 alone is that call
    against the one before. With --left and --right it is what two strategies would have made of
    everything recorded up to a place; a side that is not given, or observed, is what really was.

    Example: ctxlog diff last@k1 --anchors
    """
    from cli.diffs import as_it_was, compared, two_places, under
    from cli.naming import place
    from cli.render_diff import render_diff
    from cli.summaries import Summaries
    from eventlog.errors import InputRefused

    out = output(ctx)
    strategies = left is not None or right is not None
    if strategies and other is not None:
        raise InputRefused("with --left or --right there is one place; give it with --at")
    if at and not strategies:
        raise InputRefused("--at goes with --left or --right; else write S@REF")
    told = ""
    with opened(settings_of(ctx)) as live:
        if strategies:
            where = place(live, reference, at)
            summaries = Summaries(live, summarizer, base_url, out.note)
            data = under(live, where, left, right, summaries, words=word)
            told = summaries.told()
        else:
            one, two = two_places(live, reference, other)
            data = compared(live, as_it_was(live, one), as_it_was(live, two), words=word)
    out.show(
        data,
        render_diff(data, out.style, anchors=anchors, prefix=prefix, stat=stat, beside=beside),
    )
    if told:
        out.note(told)
    if exit_code and not data.same:
        raise typer.Exit(FINDINGS)
