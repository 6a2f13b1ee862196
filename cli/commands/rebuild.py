"""``ctxlog rebuild``"""

from __future__ import annotations

import typer

from cli.opening import opened
from cli.options import settings_of
from cli.output import output


def command(ctx: typer.Context) -> None:
    """Drop the derived tables and compute them again from the events.

    Nothing of the log changes. It is needed when a derived table was damaged; a new version of
    this program does it by itself. So is the index for search, where there is one, and what is kept
    of memories; their vectors are made again by the next recall.

    Example: ctxlog rebuild
    """
    import time

    from cli.models import RebuildData
    from cli.render_keep import events_of
    from cli.searching import reindexed
    from projections.memory import is_memory_stream
    from projections.memory.rebuilding import rebuild_memories
    from projections.sessions import rebuild_sessions

    out = output(ctx)
    with opened(settings_of(ctx), write=True) as live:
        start = time.monotonic()
        live.rebuild()
        rebuild_sessions(live)
        rebuild_memories(live)
        data = RebuildData(
            events=live.log.last_sequence(),
            streams=len(streams := live.log.streams()),
            persons=sum(is_memory_stream(info.key) for info in streams),
            indexed=reindexed(live, out),
            seconds=round(time.monotonic() - start, 3),
        )
    words = f"rebuilt from {events_of(data.events, data.streams, data.persons)}"
    out.show(data, words + (", with the index for search" if data.indexed else ""))
