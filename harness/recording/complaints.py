"""What an agent is told of calls that are not recorded."""

from __future__ import annotations

import warnings
from typing import Literal

from eventlog.errors import (
    Busy,
    CtxlogError,
    DatabaseFault,
    InputRefused,
    LogClosed,
    OutcomeUnknown,
)
from harness.exchange.sent_keys import text_without_keys

OnError = Literal["warn", "raise", "ignore"]


class RecordingWarning(RuntimeWarning):
    """Calls could not be recorded when they were made."""


class Complaints:
    """Of each kind one: of a log that cannot be written, and of single calls."""

    def __init__(self, on_error: OnError) -> None:
        """Raises InputRefused."""
        if on_error not in ("warn", "raise", "ignore"):
            raise InputRefused(f"on_error is 'warn', 'raise' or 'ignore', not {on_error!r}")
        self.on_error = on_error
        self._warned: set[bool] = set()

    def of(self, error: Exception, *, is_over: bool = False) -> None:
        """Say once that calls are not recorded; what is over is never broken by it."""
        if self.on_error == "raise" and not is_over:
            raise error
        is_fault = isinstance(error, DatabaseFault | OutcomeUnknown)
        is_of_log = is_fault and not isinstance(error, LogClosed)  # nothing waits for one of these
        if self.on_error == "ignore" or is_of_log in self._warned:
            return
        self._warned.add(is_of_log)
        what = "an answer" if is_over else "a call"
        front = "calls are not recorded now, and wait" if is_of_log else f"{what} was not recorded"
        told = f"{front}: {text_without_keys(_said(error))}"
        warnings.warn(told, RecordingWarning, stacklevel=4)

    def end(self, missed: int) -> None:
        """Say that calls were waiting, and are lost now."""
        if missed and self.on_error == "warn":
            what = "a call that waited was" if missed == 1 else f"{missed:,} calls that waited were"
            told = f"{what} not recorded: the log could not be written before the end"
            warnings.warn(told, RecordingWarning, stacklevel=3)

    def log_is_written(self) -> None:
        """What happens to the log from now on is said again."""
        self._warned.discard(True)


def _said(error: Exception) -> str:
    if isinstance(error, Busy):  # it is tried again by itself
        return error.fault
    return str(error) if isinstance(error, CtxlogError) else f"{type(error).__name__}: {error}"
