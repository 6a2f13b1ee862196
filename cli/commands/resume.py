"""``ctxlog resume``"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from cli.opening import opened
from cli.options import SessionArgument, settings_of
from cli.output import output

if TYPE_CHECKING:
    from cli.models_sessions import ResumeData
    from cli.style import Style


def command(ctx: typer.Context, session: SessionArgument) -> None:
    """Take a session up again: what an answer that was cut off left behind is cleared.

    What was reset of the agent's state and what goes on is told, and stands in the log. A session
    that was deleted is there again; one that was purged has nothing left. A session that another
    program writes is gone on with in a fork.

    Example: ctxlog resume last
    """
    from cli.own_sessions import resumed

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        data = resumed(live, session)
    out.show(data, _told(data, out.style))
    if data.was_deleted:
        out.note("it was deleted, and is there again")


def _told(data: ResumeData, style: Style) -> Iterator[str]:
    from cli.saying import part_told

    yield style.block(data.key)
    for label, lines in (("cleared", data.cleared), ("kept", data.kept)):
        for line in lines:
            told = style.line(part_told(line), style.width - 9)
            yield f"{style.paint(f'{label:<8}', 'dim')} {told}"
