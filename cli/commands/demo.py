"""``ctxlog demo``"""

from __future__ import annotations

import typer

from cli.options import settings_of
from cli.output import output


def command(ctx: typer.Context) -> None:
    """Look at a bundled session before and after a compaction. No key, no network.

    The session is made up, in the form of a Claude Code transcript: an agent mends a rounding bug,
    its context is compacted, and then it asks for an order id that it had been told. The log of
    the demo is kept apart from yours, unless --db names a file.

    Example: ctxlog demo
    """
    from cli.demonstration import demonstrate

    settings = settings_of(ctx)
    demonstrate(settings, output(ctx))
