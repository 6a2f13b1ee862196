"""Purging a session: all that was said in it is erased, and a tombstone stands for it.

Its positions, its calls and their counts stay, so the chain holds and whoever looks sees that a
session was here. What it has of the session that it was forked from is that one's, and stays there.
A fork of it reads its events, so none may live: purged ones have nothing left to read. What was
learned from it is remembered elsewhere, and stays too: it is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from eventlog.errors import ForksAlive
from eventlog.events import SessionDeleted
from eventlog.log import EventLog
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub
from projections.findings import NEVER
from projections.live import Live
from projections.memory.learned_from import learned_in, memory_named
from projections.session_rows import started_by
from projections.sessions import session_query

_AT_ONCE = 5_000
"""Events of one redaction: their skeletons stand in one event."""

_FORKS = """with recursive forks (row) as (
  select s.row from streams s join streams p on s.parent = p.row
    where p.user = ? and p.agent = ? and p.session = ?
  union select s.row from streams s join forks f on s.parent = f.row
) select user || '/' || agent || '/' || session from streams
where row in (select row from forks) order by row"""


class Purged(NamedTuple):
    """What a purge did."""

    key: StreamKey
    events: int
    """Of it, how many were erased now."""
    subagents: tuple[str, ...]
    """Sessions that it started. They are sessions of their own, and were not touched."""
    memories: tuple[str, ...] = ()
    """What was learned from it, memories and what is known of a person: ``user/_/memory@12``. It
    stays where it stands."""


def is_purged(log: EventLog, stream: StreamKey | str) -> bool:
    """Whether its last tombstone says so, and no text stands beside it. Raises StreamNotFound."""
    info = log.stream(stream)
    last = _tombstone(log, info)
    return last is not None and not _unerased(log, info, but=last.position)


def is_to_be_purged(log: EventLog, stream: StreamKey | str) -> bool:
    """Whether its last tombstone says so, be it that a purge is still under way, or was stopped.

    Raises StreamNotFound.
    """
    return _tombstone(log, log.stream(stream)) is not None


def _tombstone(log: EventLog, info: StreamInfo) -> RecordedEvent | None:
    """That of a purge, unless the session was taken up again since."""
    last = None
    for event in log.read(info.key, info.base, types=["session_deleted", "session_resumed"]):
        last = event
    return last if last is not None and last.data.get("purged") else None


def living_forks(log: EventLog, stream: StreamKey | str) -> list[str]:
    """The forks that read events of a session, forks of forks too, and were not purged.

    Raises StreamNotFound.
    """
    key = log.stream(stream).key
    forks = [row[0] for row in log.query(_FORKS, tuple(key)).fetchall()]
    return [fork for fork in forks if not is_purged(log, fork)]


def purge(live: Live, stream: StreamKey | str, *, reason: str = "", by: str = "") -> Purged:
    """Erase all content of a session for good, and scrub the file.

    The tombstone comes first: a purge that is stopped leaves a session that is hidden, and the next
    one goes on with what is left. The import key goes too, with which a guess could be proved, and
    its source is refused from then on. The reason stays in the log, and so does that of a fork.

    Raises StreamNotFound, ForksAlive, InputRefused for an event that cannot be read, and what
    ``append`` and ``scrub`` raise. What was erased stays erased when the scrub fails, which the
    next open then finishes.
    """
    log = live.log
    info = log.stream(stream)
    forks = living_forks(log, info.key)
    if forks:
        raise ForksAlive(str(info.key), forks)
    agents = tuple(row.key for row in started_by(session_query(live), str(info.key)))
    memories = tuple(_learned(live, info.key))
    if is_purged(log, info.key):
        return Purged(info.key, 0, agents, memories)
    tombstone = live.append(info.key, SessionDeleted(reason=reason, purged=True)).last
    erased = 0
    while left := _unerased(log, info, but=tombstone):
        targets = [Target(info.key, position) for position in left[:_AT_ONCE]]
        # No hashes of entries are kept: every call goes, and with it what they would prove.
        done = redact(log, targets, stream=info.key, reason=reason, by=by, spare=False)
        erased += len(done.erased)
    log.forget_source(info.key)
    scrub(log)
    return Purged(info.key, erased, agents, memories)


def _learned(live: Live, stream: StreamKey) -> Iterable[str]:
    """Each memory once, by its first event."""
    found = (f"{e.stream}@{memory_named(e) or e.position}" for e in learned_in(live, stream))
    return dict.fromkeys(found)


def _unerased(log: EventLog, info: StreamInfo, but: int) -> list[int]:
    """The positions of its own events that may hold text, except one."""
    sql = (
        "select position from events where stream = ? and position > ? and position <> ? "
        f"and erased is null and type not in ({', '.join('?' * len(NEVER))}) order by position"
    )
    rows = log.query(sql, (info.row, info.base, but, *sorted(NEVER))).fetchall()
    return [row[0] for row in rows]
