"""Which session a chat goes on with, or begins."""

from __future__ import annotations

from dataclasses import dataclass

from cli.forks import fork_key
from cli.naming import session_key
from eventlog import StreamKey
from eventlog.errors import InputRefused, StreamNotFound
from harness.agent_sessions import short_id
from harness.conversation.beginning import AGENT
from projections import Live
from projections.ownership import is_observed
from projections.purging import is_purged
from projections.references import reads_otherwise
from projections.session_names import is_last


@dataclass(frozen=True, slots=True)
class Place:
    """The session of a chat."""

    key: StreamKey
    is_new: bool = False
    is_named: bool = True
    """Somebody gave it its name."""
    forked_from: StreamKey | None = None
    """Another program writes that one, so this is a fork of it."""


def place_of(live: Live, named: str | None) -> Place:
    """The session that is named, a new one of that name, or a new one.

    What another program writes is forked here; one that was deleted is there again once it is gone
    on with. Raises InputRefused for a name that would be read as something else and for a session
    that was purged, StreamNotFound for ``last`` in an empty log, and Ambiguous.
    """
    if named is None:
        return Place(_free(live), is_new=True, is_named=False)
    try:
        key = session_key(live, named)
    except StreamNotFound:
        if is_last(named):
            raise
        return Place(_new(named), is_new=True)
    if is_purged(live.log, key):
        raise InputRefused(f"{key} was purged: nothing is left to go on with")
    if not is_observed(live.log, key):
        return Place(key)
    child = fork_key(live, key)
    live.log.fork(child, key, live.log.version(key), reason="to go on with it in a chat")
    return Place(child, forked_from=key)


def _free(live: Live) -> StreamKey:
    """A key that nobody has."""
    while True:
        key = StreamKey("local", AGENT, short_id())
        if not live.log.exists(key) and not reads_otherwise(key.session):
            return key


def _new(named: str) -> StreamKey:
    """The key of a new session. Raises InputRefused, EventInvalid."""
    if reads_otherwise(named):
        raise InputRefused(
            f"{named!r} names a place, and a chat goes on with a whole session: fork it there first"
        )
    if named.count("/") == 2:
        return StreamKey.parse(named).checked()
    if "/" in named:
        raise InputRefused(f"{named!r} is no name of a session: a name, or user/agent/session")
    return StreamKey("local", AGENT, named).checked()
