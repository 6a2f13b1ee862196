"""How far a long work is, for the person who waits; on a terminal only."""

from __future__ import annotations

import sys
import time

from cli.output import Output

_PATIENCE = 0.5
"""Seconds of which nobody needs to be told."""

_PAUSE = 0.1


class Meter:
    """One line on stderr that is written over, and gone in the end."""

    def __init__(self, out: Output, what: str) -> None:
        stream = sys.stderr
        self._is_shown = not out.settings.quiet and stream is not None and stream.isatty()
        self._what = what
        self._next = time.monotonic() + _PATIENCE
        self._written = False

    def show(self, done: int, whole: int) -> None:
        """So much of the whole is done."""
        if not self._is_shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PAUSE
        self._written = True
        self._write(f"\r{self._what}: {100 * done // max(whole, 1)} % of {whole:,} events ")

    def close(self) -> None:
        """Take the line away."""
        if self._written:
            self._write("\r" + " " * (len(self._what) + 40) + "\r")
            self._written = False

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass  # there is nobody left to tell
