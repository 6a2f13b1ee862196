"""Which session the calls of a block of code belong to.

    with session("monday"):            calls of any recorded client in here
        with session("monday.search"):     a sub-agent's; its parent is the session around it

Context variables carry it, so threads that are given a context and asyncio tasks keep their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from projections.references import is_place

if TYPE_CHECKING:
    from harness.recording.calls import CallRecorder

_COVERED: ContextVar[str] = ContextVar("ctxlog_covered", default="")
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


@contextmanager
def covered(recorder: CallRecorder) -> Iterator[None]:
    """What is sent in here is a call that stands in the recorder's log already."""
    token = _COVERED.set(recorder.path)
    try:
        yield
    finally:
        _COVERED.reset(token)


def is_covered(recorder: CallRecorder) -> bool:
    """Whether what is sent now stands in the recorder's log already."""
    return _COVERED.get() == recorder.path


class Began(NamedTuple):
    """Where a session began."""

    parent: StreamKey | None = None
    """In which other one."""
    tool: str = ""
    """In a call of that tool there, with these arguments."""
    arguments: str = ""


NOWHERE = Began()


Where = tuple[StreamKey | None, Began]
"""The session of what is asked now, and where that began."""

TELLERS: list[Callable[[], Where | None]] = []
"""Frameworks that know better than the block of code; what the first of them says holds."""


def here() -> Where:
    """Where a call that is made now belongs."""
    for teller in TELLERS:
        found = teller()
        if found is not None:
            return found
    return current(), Began(parent())


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

    A name may hold one slash: ``feature/x``. With two or more it is a key, of which the session is
    what stands behind the second. A name that begins with ``-`` could not be typed afterwards, and
    is mostly an option that lacks its value; one that ends like ``@c1`` would be read as a place.

    Raises InputRefused, EventInvalid.
    """
    if isinstance(session, StreamKey):
        return session.checked()
    key = StreamKey.parse(session) if session.count("/") > 1 else StreamKey(*_LOCAL, session)
    if key.session.startswith("-"):
        raise InputRefused(f"the name of a session cannot begin with '-': {key.session[:80]!r}")
    if "@" in key.session and is_place(key.session.rpartition("@")[2]):
        raise InputRefused(f"the name of a session cannot end like a place: {key.session[-80:]!r}")
    return key.checked()


_LOCAL = ("local", "recorded")
