"""Which session the calls of a block of code belong to.

    with session("monday"):            calls of any recorded client in here
        with session("monday.search"):     a sub-agent's; its parent is the session around it

Context variables carry it, so threads that are given a context and asyncio tasks keep their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eventlog.recorded import StreamKey

_CURRENT: ContextVar[tuple[StreamKey, ...]] = ContextVar("ctxlog_session", default=())


@contextmanager
def session(name: StreamKey | str) -> Iterator[StreamKey]:
    """Calls inside belong to that session: a name, or ``user/agent/session``.

    Raises InputRefused for what names none.
    """
    key = session_key(name)
    token = _CURRENT.set((*_CURRENT.get(), key))
    try:
        yield key
    finally:
        _CURRENT.reset(token)


def current() -> StreamKey | None:
    """The innermost session of this block."""
    around = _CURRENT.get()
    return around[-1] if around else None


def parent() -> StreamKey | None:
    """The session around that."""
    around = _CURRENT.get()
    return around[-2] if len(around) > 1 else None


def session_key(session: StreamKey | str) -> StreamKey:
    """The key of a session: as it is, ``user/agent/session``, or a name of the local user's.

    Raises InputRefused, EventInvalid.
    """
    if isinstance(session, StreamKey):
        return session.checked()
    if session.count("/") == 2:
        return StreamKey.parse(session)
    return StreamKey(*_LOCAL, session).checked()


_LOCAL = ("local", "recorded")
