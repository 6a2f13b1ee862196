"""Recorders in the life of a process: through a fork, and to its end."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

from eventlog.errors import CtxlogError


class Lasting(Protocol):
    """What is told of forks and of the end."""

    _mutex: threading.RLock

    def _inherited(self) -> None: ...

    def close(self) -> None:
        """Write what waits."""


FORK_PATIENCE = 2.0
"""Seconds; nothing that is written takes so long."""

_OPEN: weakref.WeakSet[Lasting] = weakref.WeakSet()
_HOLDING: set[Lasting] = set()
_FORKING = threading.local()
_ENDING = "multiprocessing.util"
_TOLD: set[int] = set()
"""Processes that it was told of."""


def opened(recorder: Lasting) -> None:
    """It is told of forks and of the end from now on, as long as somebody asks for it."""
    _OPEN.add(recorder)
    _end_with_multiprocessing()


def hold(recorder: Lasting, *, is_needed: bool) -> None:
    """Whether it has to stay even if nobody asks for it any more."""
    (_HOLDING.add if is_needed else _HOLDING.discard)(recorder)


def closed(recorder: Lasting) -> None:
    """It is told of nothing any more."""
    _OPEN.discard(recorder)
    _HOLDING.discard(recorder)


def living() -> list[Lasting]:
    """Those that are open in this process."""
    return list(_OPEN)


def _before_fork() -> None:
    """Wait for what other threads write: half of it is in memory."""
    _FORKING.held = held = []
    deadline = time.monotonic() + FORK_PATIENCE
    for recorder in sorted(_OPEN, key=id):  # always in one order, whoever forks
        if recorder._mutex.acquire(timeout=max(0.0, deadline - time.monotonic())):
            held.append(recorder._mutex)


def _after_fork() -> None:
    for mutex in reversed(_FORKING.held):
        mutex.release()
    _FORKING.held = []


def _after_fork_in_child() -> None:
    _FORKING.held = []
    _HOLDING.clear()
    for recorder in list(_OPEN):
        recorder._inherited()
    if _ENDING in sys.modules:  # it forgets in a child what is to be done at the end, and asks then
        sys.modules[_ENDING].register_after_fork(_OPEN, lambda _: _end_with_multiprocessing())


def _end_with_multiprocessing() -> None:
    """Its processes end in a way of their own, without what ``atexit`` knows."""
    if _ENDING in sys.modules and os.getpid() not in _TOLD:
        _TOLD.add(os.getpid())
        sys.modules[_ENDING].Finalize(None, _at_exit, exitpriority=0)


def _at_exit() -> None:
    for recorder in list(_OPEN):
        with suppress(CtxlogError):
            recorder.close()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
)
atexit.register(_at_exit)
