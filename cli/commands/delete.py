"""``ctxlog delete``"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cli.opening import opened
from cli.options import ReasonOption, SessionArgument, settings_of
from cli.output import Output, output
from cli.paths import current_program


def command(
    ctx: typer.Context,
    session: SessionArgument,
    purge: Annotated[
        bool, typer.Option("--purge", help="Erase all of its content for good.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    confirm: Annotated[
        str, typer.Option("--confirm", metavar="ID", help="With --purge: its id, once more.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="With --purge: though a call in it has no end yet.")
    ] = False,
    reason: ReasonOption = "",
) -> None:
    """Hide a session behind a tombstone, or with --purge erase all that was said in it.

    A deleted session is in no list and goes by its whole id only; nothing is lost, its forks live
    on, and resume brings it back. On a terminal it is asked for, elsewhere it is done.

    A purge is for good, and asked for twice: a yes, and then the id of the session, typed. Where
    nobody can be asked both are said: --yes --confirm ID. It is refused, with their names, while
    forks of the session live: they read its events, and are purged first. So it is while a call of
    the last ten minutes has no end, since what comes of it would be lost, or stand behind the
    purge; --force goes on. What is left are positions, counts, tool names and ids, so the chain
    still verifies. Sub-agents' sessions, what other sessions quote, what was learned from it and is
    remembered, backups and providers keep what they have: search, then redact.

    Example: ctxlog delete last --reason "a trial"
    """
    from cli.own_sessions import deleted, purged
    from cli.style import plural, typed
    from eventlog.errors import InputRefused

    out = output(ctx)
    if confirm and not purge:
        raise InputRefused("--confirm goes with --purge")
    if force and not purge:
        raise InputRefused("--force goes with --purge")
    with opened(settings_of(ctx), write=True) as live:
        if purge:
            data = purged(live, session, out, yes=yes, confirm=confirm, reason=reason, force=force)
        else:
            data = deleted(live, session, out, yes=yes, reason=reason)
    what = f"purged, {plural(data.erased, 'event')} erased" if purge else "deleted"
    if data.was_deleted and not data.erased:
        what = "was purged before" if purge else "was deleted before"
    out.show(data, f"{out.style.block(data.key)}  {what}")
    if not purge:
        out.note(f"to bring it back: {current_program()} resume {typed(data.key)}")
    for agent in data.subagents:
        out.note(f"a session that it started stays: {agent}")
    if data.memories:
        _tell(out, data.memories)


def _tell(out: Output, memories: Sequence[str]) -> None:
    """What was learned from a session that was purged, and how it goes too."""
    from cli.safetext import safe_text
    from cli.style import plural, typed

    by_stream: dict[str, list[str]] = {}
    for name in memories:
        stream, _, position = name.rpartition("@")
        by_stream.setdefault(stream, []).append(position)
    for stream, some in by_stream.items():
        name = safe_text(typed(stream), newlines=False)
        what = f"{plural(len(some), 'thing')} learned from it"
        stays = "stays" if len(some) == 1 else "stay"
        out.note(f"{what} {stays}; to erase: {current_program()} redact {name} {' '.join(some)}")
