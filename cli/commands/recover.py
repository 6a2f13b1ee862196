"""``ctxlog recover``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import (
    DryRunOption,
    ForkNameOption,
    complete_compaction,
    complete_item,
    complete_session,
    settings_of,
)
from cli.output import Output, json_text, output
from cli.paths import current_program

if TYPE_CHECKING:
    from cli.models_reasons import ChangeData, RecoverData
    from projections import Live

Format = Literal["md", "json", "messages"]


def command(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(metavar="S", help="The session.", autocompletion=complete_session),
    ],
    items: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ITEM", help="Items of it: 12, 57.0, 12-20.", autocompletion=complete_item
        ),
    ] = None,
    lost: Annotated[
        str | None,
        typer.Option(
            "--lost",
            metavar="REF",
            help="What that compaction, substitution or revision lost: k1, 26.",
            autocompletion=complete_compaction,
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="The items that hold a text.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="With --lost and --query: all of it, not the first.")
    ] = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--full", "--whole", help="With --lost and --query: whole items, no excerpts."
        ),
    ] = False,
    form: Annotated[
        Format, typer.Option("--format", help="To read and paste, or as data, or as messages.")
    ] = "md",
    into_context: Annotated[
        bool, typer.Option("--into-context", help="Undo what took them, so that they stand again.")
    ] = False,
    only: Annotated[
        bool,
        typer.Option("--only", help="With --into-context: just these, as a message at the end."),
    ] = False,
    dry_run: DryRunOption = False,
    name: ForkNameOption = "",
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask when more comes back than that.")
    ] = False,
) -> None:
    """Print the originals of what the model no longer sees, ready to paste.

    Nothing is ever gone from the log unless it was redacted. ITEMs are printed as they came in.
    With --lost: the literals (paths, ids, rules …) that a compaction, a cleared or cut result or a
    revised message did not keep, with the sentences they stood in: first what came up again in most
    later messages, then what people had said and what tools found again; --all for every one. What
    was cleared between the same two calls is one decision, by whichever of its events it is named.
    With --query: the items in which a text stands, first those in which the context does not show
    it, each with the lines around the text; --full for whole items. With --format messages: a list
    that a provider takes, so a result comes with its call.

    The exit code is 1 where a query finds nothing, and where a summary that the provider encrypted,
    or that was erased, may hold what seems to be lost.

    With --into-context they stand in the context again: what took them out is undone. That may
    bring back more than was asked for, as everything that a compaction covers; it is told first,
    also where the context grows beyond what was compacted, and asked. A session that another
    program writes is forked first.

    What a compaction lost: ctxlog recover last --lost k1

    Example: ctxlog recover last 12 15
    """
    from cli.recovering import as_messages
    from cli.render_change import render_change
    from cli.render_recover import render_recover
    from eventlog.errors import InputRefused

    out = output(ctx)
    if not into_context and (only or dry_run or name):
        raise InputRefused("--only, --dry-run and --name go with --into-context")
    with opened(settings_of(ctx), write=into_context) as live:
        data = _found(live, session, items or [], lost, query, every, whole or form == "messages")
        if into_context and (data.items or data.sentences):
            data.into = _brought(out, live, data, only=only, name=name, dry_run=dry_run, yes=yes)
        messages: list[Any] = []
        if form == "messages" and data.into is None:
            messages, notes = as_messages(live, data)
            data.notes += notes
    if data.into is not None:
        out.show(data, render_change(data.into, out.style, current_program()))
        for note in [*data.notes, *data.into.notes]:
            out.note(note)
        if not data.into.events:
            out.note("they stand in the context as they came in")
        return
    if form == "messages":
        text = json_text(messages)
    elif form == "json":
        text = json_text(data.model_dump())
    else:
        text = "\n".join(render_recover(data, out.style)).rstrip("\n")
    out.show(data, text)
    for note in [*data.notes, *_left_out(data, form == "md" and not settings_of(ctx).as_json)]:
        out.note(note)
    if data.sealed or data.summary_erased or (query is not None and not data.found):
        raise typer.Exit(FINDINGS)


def _brought(
    out: Output,
    live: Live,
    data: RecoverData,
    *,
    only: bool,
    name: str,
    dry_run: bool,
    yes: bool,
) -> ChangeData:
    """Bring it back, after it was told and confirmed where more comes back than was asked for."""
    from cli.changing import change, more_than
    from cli.into_context import bringing_back, items_in, more_than_asked
    from cli.render_change import render_change
    from cli.style import plural, tokens
    from eventlog.errors import InputRefused

    asked = items_in(data)
    planned = bringing_back(live, data, only=only, name=name, dry_run=True)
    found = change(live, planned)
    found.asked = asked
    more = more_than_asked(found) if not only else []
    if dry_run or not found.events:
        found.dry_run = dry_run
        return found
    if more and not yes:
        grown = f"{tokens(found.before.tokens)} → {tokens(found.after.tokens)} tokens"
        said = f"this brings back {plural(len(more), 'other item')}: {grown}"
        said += f", {more_than(found.outgrown)}" if found.outgrown is not None else ""
        if sys.stdin is None or not sys.stdin.isatty():
            raise InputRefused(
                f"{said}: say --yes, --only for just these as a message, or --dry-run to look"
            )
        for line in render_change(found, out.style):
            out.note(line)
        if not typer.confirm(f"{said}. Do it?", err=True):
            raise typer.Abort
    doing = bringing_back(
        live, data, only=only, name=name, dry_run=False, expected=found.version if more else None
    )
    done = change(live, doing)
    done.asked = asked
    return done


def _found(
    live: Live,
    session: str,
    items: list[str],
    lost: str | None,
    query: str | None,
    every: bool,
    whole: bool,
) -> RecoverData:
    from cli.item_places import items_of
    from cli.naming import place
    from cli.recovering import lost_with, queried, recovered
    from eventlog.errors import InputRefused

    stream, names = items_of(live, session, items)
    if sum((bool(names), lost is not None, query is not None)) != 1:
        where = place(live, session) if not items else None
        hint = ""
        if where is not None and where.kind in ("compaction", "before_compaction"):
            hint = f"; what k{where.number} lost: --lost k{where.number}"
        raise InputRefused(f"name items, or --lost REF, or --query TEXT: one of the three{hint}")
    if lost is not None:
        return lost_with(live, stream, lost, every=every, whole=whole)
    if query is not None:
        return queried(live, stream, query, every=every, whole=whole)
    return recovered(live, stream, names)


def _left_out(data: RecoverData, is_text: bool) -> Iterator[str]:
    """What there is besides what was shown."""
    from cli.style import plural

    if data.lost_with is not None and not data.found:
        yield f"{data.lost_with} lost no literal that was looked for"
    elif data.query is not None and not data.found:
        yield "no item holds that text"
    elif data.left_out and data.lost_with is not None:
        rest = plural(data.left_out, "more literal")
        yield f"{rest} that came up nowhere later and no person had said: --all shows them"
    elif data.left_out:
        yield f"{plural(data.left_out, 'more item')}: --all shows them"
    if is_text and any(one.excerpt is not None for one in data.items):
        yield "the lines around the text are shown: --full shows whole items"
