"""``ctxlog memory gc``"""

from __future__ import annotations

import typer

from cli.memory_options import AtOption, UserOption
from cli.options import DryRunOption, settings_of
from cli.output import output
from cli.paths import current_program
from cli.style import plural


def command(
    ctx: typer.Context,
    dry_run: DryRunOption = False,
    at: AtOption = "",
    user: UserOption = None,
) -> None:
    """Forget what is expired, and what is old and of little importance; it can be restored.

    A memory is expired at twice its lifetime: 90 days for a preference, 30 for project, 7 for code,
    180 for error_fix, 14 for conversation, 30 for all else; it begins anew when it is recalled,
    revised or restored. Of little importance is what is under 0.4 and older than 90 days. [memory]
    of the config has other numbers: default_days, old_days, least, and in [memory.lifetimes] days
    by kind. With a TIME that lies ahead only --dry-run goes: it says what would be forgotten then.

    Example: ctxlog memory gc --dry-run
    """
    from cli.memories import elsewhere, remembered
    from cli.memories_changing import collected
    from cli.render_memory import render_gc

    out = output(ctx)
    with remembered(settings_of(ctx), user, write=not dry_run) as memory:
        data = collected(memory, at, dry_run)
        others = elsewhere(memory)
    out.show(data, render_gc(data, out.style))
    count = plural(len(data.forgotten), "memory", "memories")
    if dry_run:
        out.note(f"{count} would be forgotten; nothing was written")
    elif data.forgotten:
        out.note(f"{count} forgotten; to take one back: {current_program()} memory restore M")
    else:
        out.note(f"nothing is to be forgotten{others}")
