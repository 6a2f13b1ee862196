"""A thread that lives as long as something waits to be written.

What an agent asked while the log was busy must not wait for its next call, which may be an hour
away, or never come. The thread is made when something begins to wait, and ends when nothing does.
It is one that the interpreter does not wait for at its end: what waits then is written there.
"""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable


class Flusher:
    """Takes one step after the other, each of which says in how many seconds the next one comes;
    None where nothing is left to do.

    It is woken, and a last step ends, under the one lock of whoever it works for.
    """

    def __init__(self, step: Callable[[], float | None]) -> None:
        self._step = step
        self._is_awake = False

    def wake(self) -> None:
        """Something waits. Raises nothing: without a thread it waits as long as before."""
        if self._is_awake:
            return
        self._is_awake = True
        try:
            # Not threading.Thread: a call may end while rubbish is collected anywhere, also inside
            # of that module, whose lock would be taken twice.
            _thread.start_new_thread(self._run, ())
        except RuntimeError:  # the interpreter ends, or there are too many
            self._is_awake = False

    def slept(self) -> None:
        """There is nothing left, or, in a child after ``fork()``, nobody to do it."""
        self._is_awake = False

    def _run(self) -> None:
        while (pause := self._step()) is not None:
            time.sleep(pause)
