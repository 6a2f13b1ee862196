"""A command that is run under this program as if it ran alone: its streams, signals, exit code.

Both are in one process group, so what a terminal sends (Ctrl-C, Ctrl-Z, a new size) reaches the
command by itself, and sending it again would count twice; what another process sends to this one is
passed on. Which it was, the system tells.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

NOT_RUNNABLE, NO_COMMAND, KILLED = 126, 127, 128
"""Exit codes as of a shell; a signal's number is added to the last."""

PASSED = ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "WINCH", "CONT")
"""Signals that a command that is run gets too."""
_OF_TERMINALS = ("SIGINT", "SIGQUIT", "SIGWINCH")


class CannotStart(Exception):
    """A command that cannot be run."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def waiting(*names: str) -> Iterator[set[signal.Signals]]:
    """Signals that wait until they are asked for, in this thread and in those begun in the block;
    not those that whoever started this program had ignored."""
    numbers = {signal.Signals[f"SIG{name}"] for name in names}
    numbers = {number for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield numbers
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def unsignalled() -> Iterator[None]:
    """Import, in the block, what answers in threads while this one waits for a signal.

    Some libraries (numpy, which sqlite-utils imports where it is installed) begin threads as they
    are imported. Born here, those get no signal; else one that comes while this thread does not
    wait for it would be theirs, and end the program.
    """
    with waiting(*PASSED):
        import sqlite_utils  # noqa: F401

        yield


def run(command: Sequence[str], env: Mapping[str, str], started: Callable[[], None]) -> int:
    """Run it to its end, and give its exit code. ``started`` is called as soon as it runs, and not
    before: threads and a fork do not go together. Raises CannotStart."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    # A signal that is ignored, as this one is at first, may not wait.
    ended = signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        with waiting(*PASSED, "CHLD") as numbers:
            child = _start(command, env, before)
            started()
            while (code := child.poll()) is None:
                number, is_own = _next(numbers)
                if number != signal.SIGCHLD and not is_own:
                    child.send_signal(number)
    finally:
        signal.signal(signal.SIGCHLD, ended)
    return code if code >= 0 else KILLED - code


def _start(
    command: Sequence[str], env: Mapping[str, str], mask: set[int | signal.Signals]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            env=dict(env),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
        )
    except FileNotFoundError:
        raise CannotStart(f"{command[0]!r}: there is no such command", NO_COMMAND) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise CannotStart(f"{command[0]!r} cannot be run: {said}", NOT_RUNNABLE) from None


def _next(numbers: set[signal.Signals]) -> tuple[int, bool]:
    """The next signal, and whether the command got it too."""
    if sys.platform != "darwin":
        found = signal.sigwaitinfo(numbers)
        return found.si_signo, found.si_code > 0
    number = signal.Signals(signal.sigwait(numbers))
    return number, number.name in _OF_TERMINALS and sys.stdin.isatty()
