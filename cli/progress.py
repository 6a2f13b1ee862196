"""How far a long work is, for the person who waits.

On a terminal it is one line that is written over. Where stderr goes to a pipe or a file, somebody
may wait as well, or read it later: a few plain lines, each after twice the time of the one before.
Short work says nothing, and so does ``--quiet``.
"""

from __future__ import annotations

import sys
import time

from cli.output import Output

_PATIENCE = 0.5
"""Seconds of which nobody needs to be told on a terminal."""

_PAUSE = 0.1

_LONG = 5.0
"""Seconds after which there is a first plain line."""


class Meter:
    """Tells how far it is, as often as is of use."""

    def __init__(self, out: Output, what: str, unit: str = "events") -> None:
        """``what`` is done, to so many of ``unit``."""
        stream = sys.stderr
        self._out = out
        self._is_shown = not out.settings.quiet and stream is not None
        self._is_terminal = self._is_shown and stream.isatty()
        self._what, self._unit = what, unit
        self._began = time.monotonic()
        self._next = self._began + (_PATIENCE if self._is_terminal else _LONG)
        self._written = 0

    def show(self, done: int, whole: int | None = None) -> None:
        """So much of the whole is done; or so much, of what nobody has counted."""
        now = time.monotonic()
        if not self._is_shown or now < self._next or done == whole:
            return
        if whole is None:
            text = f"{self._what}: {done:,} {self._unit} so far"
        else:
            text = f"{self._what}: {100 * done // max(whole, 1)} % of {whole:,} {self._unit}"
        if not self._is_terminal:
            self._next = now + (now - self._began)
            self._out.note(text)
            return
        self._next = now + _PAUSE
        self._write("\r" + text.ljust(self._written) + " ")
        self._written = max(self._written, len(text))

    def close(self) -> None:
        """Take the line away."""
        if self._written:
            self._write("\r" + " " * (self._written + 1) + "\r")
            self._written = 0

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass  # there is nobody left to tell
