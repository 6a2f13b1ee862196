"""What the sessions of an agent were answered last: a recorder that was started again knows by that
where a conversation stands that goes on.

It looks at the sessions that were begun last and at the end of each, so it costs the same however
much the log holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from eventlog.recorded import StreamKey
from projections.live import Live

SESSIONS = 1000
"""How many sessions are looked at, those begun last."""

_AMONG = 10_000
"""The sessions of the log among which they are looked for, those begun last."""

_END = 32
"""Events at the end of a session among which its last answer is looked for."""


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """The last answer of a session."""

    stream: StreamKey
    call: int
    """The position of its call."""
    dialect: str
    message: dict[str, Any]


def last_answers(live: Live, user: str, agent: str) -> Iterator[LastAnswer]:
    """Of the sessions of a user's agent, those begun last in front."""
    rows = live.log.query(_ANSWERS, (_AMONG, user, agent, SESSIONS, _END)).fetchall()
    for session, payload in rows:
        try:
            data = loads(payload)
            call, dialect, message = int(data["call"]), str(data["dialect"]), dict(data["message"])
        except (EventInvalid, LookupError, TypeError, ValueError):
            continue  # one that is damaged belongs to a session that nobody can go on with
        yield LastAnswer(StreamKey(user, agent, session), call, dialect, message)


_ANSWERS = """
with newest as (
  select row, session, (select max(position) from events where stream = row) as end
  from streams where row > (select max(row) from streams) - ? and user = ? and agent = ?
  order by row desc limit ?
), answered as (
  select row, session, (
    select max(position) from events
    where stream = row and position > end - ? and type = 'model_responded'
  ) as position from newest
)
select session, cast(payload as blob) from answered join events
  on stream = row and events.position = answered.position - 1
where type = 'message_appended' and payload is not null
order by row desc
"""
