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
    complete_place,
    complete_session,
    complete_strategy,
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
            help="Another place in it, also as @REF; or in what it was forked from.",
            autocompletion=complete_session,
        ),
    ] = None,
    left: Annotated[
        str | None,
        typer.Option(
            "--left",
            metavar="SPEC",
            help="The left: what SPEC would make.",
            autocompletion=complete_strategy,
        ),
    ] = None,
    right: Annotated[
        str | None,
        typer.Option(
            "--right", metavar="SPEC", help="The right, likewise.", autocompletion=complete_strategy
        ),
    ] = None,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="REF",
            help="With --left, --right: where, such as c30.",
            autocompletion=complete_place,
        ),
    ] = "",
    anchors: Annotated[
        bool,
        typer.Option("--anchors", help="Which literals are lost, and where they came up again."),
    ] = False,
    prefix: Annotated[
        bool,
        typer.Option("--prefix", help="Where the common beginning ends, and its cost."),
    ] = False,
    ttl: Annotated[
        float | None,
        typer.Option(
            "--ttl",
            metavar="SECONDS",
            min=1,
            help="With --prefix: how long a cache lives (else for ever).",
        ),
    ] = None,
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
    ask: Annotated[
        str | None,
        typer.Option(
            "--ask",
            metavar="QUESTION",
            help="Ask a model about both contexts, and twice about everything.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="With --ask: which model.")
    ] = None,
    summarizer: SummarizerOption = "extractive",
    base_url: BaseUrlOption = None,
) -> None:
    """What differs between two contexts of a session: kept, cut, cleared, summarised, dropped.

    The two places may be in a session and its fork, where one of them is in what both share.

    S@k1 alone is just before that compaction against just after it, S@26 the same of event 26 where
    it cleared, cut or revised something, with what else was between the same two calls, and S@c12
    that call against the one before. With --left and --right it is what two strategies would have
    made of everything recorded up to a place; a side that is not given, or observed, is what really
    was.

    --prefix tells what a provider's cache could have had: of S@c12 where the request parts from the
    one before and which decision did that, of S alone one row a call. ≈ figures are estimated from
    what is recorded; read, written and new are what the provider billed.

    --ask sends both contexts with a question to a model of an OpenAI-compatible endpoint, and
    everything recorded up to there twice, since two answers to one context differ as well. Answers
    are kept, so that a second run is free.

    Example: ctxlog diff last@k1 --anchors
    """
    from cli import asking
    from cli.diffs import as_it_was, compared, sides_under, two_places, versus
    from cli.endpoints import model_named
    from cli.naming import place
    from cli.prefixes import call_row, prefix_table
    from cli.render_diff import render_diff
    from cli.render_prefixes import render_prefixes
    from cli.summaries import Summaries
    from eventlog.errors import InputRefused
    from harness.questions import Questions

    out = output(ctx)
    strategies = left is not None or right is not None
    if strategies and other is not None:
        raise InputRefused("with --left or --right there is one place; give it with --at")
    if at and not strategies:
        raise InputRefused("--at goes with --left or --right; else write S@REF")
    if model is not None and ask is None:
        raise InputRefused("--model goes with --ask; for summaries name it with --summarizer")
    if ask is not None and not ask.strip():
        raise InputRefused("--ask: there is no question")
    if ttl is not None and not prefix:
        raise InputRefused("--ttl goes with --prefix")
    told: list[str] = []
    with opened(settings_of(ctx)) as live:
        if prefix and not strategies and other is None:
            where = place(live, reference)
            if where.kind == "now":
                if anchors or beside or word or ask is not None:
                    raise InputRefused(
                        "of a whole session --prefix shows its calls and nothing else"
                    )
                table = prefix_table(live, where.stream, ttl)
                out.show(table, render_prefixes(table, out.style, stat=stat))
                if exit_code and table.broken:
                    raise typer.Exit(FINDINGS)
                return
        summaries = Summaries(live, summarizer, base_url, out.note, shared_url=ask is not None)
        asked = model or (summarizer if summaries.by_model else "")
        if ask is not None and not asked.strip():
            raise InputRefused("--ask needs a model: name it with --model")
        named = model_named(asked, base_url) if ask is not None else None
        if strategies:
            where = place(live, reference, at)
            one, two = sides_under(live, where, left, right, summaries)
            data = versus(live, one, two, summaries, words=word)
            told.append(summaries.told())
        else:
            one, two = (as_it_was(live, each) for each in two_places(live, reference, other))
            data = compared(live, one, two, words=word)
            if (
                prefix
                and one.place.kind == two.place.kind == "call"
                and (one.place.number + 1 == two.place.number)
            ):
                data.prefix.call = call_row(live, two.place, ttl)
        if ask is not None and named is not None:
            stream = one.place.stream
            questions = Questions(named.endpoint, summaries.outputs, stream, out.note, named.window)
            data.asked = asking.ask(live, one, two, ask, questions)
            told.append(asking.told(questions))
    out.show(
        data,
        render_diff(data, out.style, anchors=anchors, prefix=prefix, stat=stat, beside=beside),
    )
    for note in filter(None, told):
        out.note(note)
    if exit_code and not data.same:
        raise typer.Exit(FINDINGS)
