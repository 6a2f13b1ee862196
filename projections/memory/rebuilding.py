"""The tables that are kept of memories, made anew from the events."""

from __future__ import annotations

from projections.live import Live
from projections.memory.index import RecallIndex
from projections.memory.table import MemoryTable, users


def rebuild_memories(live: Live) -> None:
    """Fold the memories anew, and take out what recall keeps: the next question makes it again.

    Nothing is made of a log in which nothing is remembered. Raises Busy, ReadOnlyLog.
    """
    log = live.log
    if not users(live):
        return
    log.catch_up(MemoryTable(log), rebuild=True)
    recall = RecallIndex(log, log.query, lambda: None)
    with log.writing() as db:
        found = db.execute("delete from derived where name = ?", (recall.name,))
        if found.rowcount:
            recall.create(db)
