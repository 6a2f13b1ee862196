"""``ctxlog search``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.door import FINDINGS
from cli.opening import opened
from cli.options import (
    complete_area,
    complete_role,
    complete_session,
    complete_state,
    settings_of,
)
from cli.output import output

LIMIT = 50
"""Hits that are shown."""


def command(
    ctx: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Words, all of which an item must hold.")
    ],
    session: Annotated[
        str,
        typer.Argument(
            metavar="S",
            help="Only this session, or S@REF: as it stood there.",
            autocompletion=complete_session,
            show_default=False,
        ),
    ] = "",
    areas: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="WHAT",
            help="text, reasoning, input, output, system, summary, tools, title, error or memory.",
            autocompletion=complete_area,
        ),
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="visible, cut, cleared, deduplicated, replaced, folded, dropped, rewound, undone, "
            "never or unknown; hidden: no longer visible.",
            autocompletion=complete_state,
        ),
    ] = None,
    roles: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="Of the item: system, user, assistant, tool.",
            autocompletion=complete_role,
        ),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="NAME", help="Input and output of this tool."),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="2026-09-20, yesterday, 2h (UTC).")
    ] = "",
    until: Annotated[
        str, typer.Option("--until", metavar="TIME", help="Up to then; a day is included.")
    ] = "",
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Only sessions of this agent.")
    ] = "",
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", help="Only sessions of this user.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Hits at most; 0: all.")
    ] = LIMIT,
    ids: Annotated[bool, typer.Option("--ids", help="Only S@ITEM of each hit.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only how many hits there are.")] = False,
) -> None:
    """Search everything that was said, called and returned, and see what became of it.

    A hit is an item; the newest session comes first, in it the newest item, and what is remembered
    of people behind all sessions. The sign says where
    the text that was found stands at the end of its session, or at the place asked:

    ● stands in the context (*) · ✂ a placeholder or a revision stands in its place (x) · Σ folded
    into a summary (S) · ○ dropped, rewound or undone (o) · – never in a context (-). Behind the
    sign: the decision, k1 or its position. In brackets: with --ascii.

    Whole words in any case: ORD-77120, src/big.json, 0x1f; 订单 anywhere in a text. A hit holds
    all of several, in any order. word* begins so, *word* is a part of a word, and '"integer cents"'
    a phrase. Nothing is an operator; behind -- a query may begin with a dash. What was redacted is
    never found.

    Exit code 0 when something was found, 1 when nothing was.

    Example: ctxlog search ORD-77120 --state hidden
    """
    from cli.naming import short_names
    from cli.render_search import references, render_search
    from cli.searching import Asked, cut_note, next_note, nothing_note, order_note, searched

    out = output(ctx)
    asked = Asked(
        query,
        session,
        roles=roles or (),
        tools=tools or (),
        areas=areas or (),
        states=states or (),
        since=since,
        until=until,
        agent=agent,
        user=user,
    )
    with opened(settings_of(ctx)) as live:
        data = searched(live, out, asked, limit=limit or None, count=count)
        names = short_names(live, {hit.key for hit in data.hits})
        several = order_note(live, out, asked) if data.hits and not ids else ""
        none = "" if data.count else nothing_note(live, out, asked)
    if count:
        out.show(data, str(data.count))
    else:
        shown = references(data, names) if ids else render_search(data, out.style, names)
        out.show(data, shown)
    if data.cut:
        out.note(cut_note(data))
    if not data.count:
        out.note(none)
        raise typer.Exit(FINDINGS)
    if data.hits and not ids:
        if several:
            out.note(several)
        out.note(next_note(data.hits, names))
