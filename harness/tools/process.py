"""A command that runs in a shell of its own, and ends with everything that it started.

It is the leader of a session: it has no terminal, an interruption of this program does not reach
it, and its whole group can be told to end. The output is read as it comes and held to a head and a
tail, so nothing that it prints fills the memory, or makes it wait.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import ToolFailed

HEAD = TAIL = 100_000
"""Bytes of the output that are kept of its begin, and of its end."""
TERM_SECONDS = 1.0
"""That a group has to end after SIGTERM, before SIGKILL."""
KILL_SECONDS = 1.0
"""That is waited for what was killed, and for output that a process of another session holds."""
_LOOK = 0.05
_PIECE = 1 << 16
_SHELL = "/bin/sh"


@dataclass(frozen=True)
class Finished:
    """What a command printed, and how it ended."""

    output: str
    code: int
    """The exit code; of a process that a signal ended, its negative number."""
    ended_by: Literal["itself", "time", "interruption"] = "itself"


def run_command(
    command: str,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    cancelled: threading.Event,
) -> Finished:
    """Run a command in a folder and wait for its end: its own, that of its time, or until it is
    cancelled.

    What is left of its process group is killed then. Raises ToolFailed when it cannot be started.
    """
    try:
        process = subprocess.Popen(
            [_SHELL, "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ToolFailed(f"the command could not be started: {why}") from None
    _RUNNING.add(process.pid)
    output = _Output(process)
    try:
        ended_by = _watch(process, output, time.monotonic() + seconds, cancelled)
    finally:
        # Before the shell is reaped: until then the id of the group is nobody else's.
        _signal(process.pid, signal.SIGKILL)
        until = time.monotonic() + KILL_SECONDS
        while not output.is_over and time.monotonic() < until:
            output.take()
        output.close()
        _RUNNING.discard(process.pid)
    try:
        code = process.wait(KILL_SECONDS)
    except subprocess.TimeoutExpired:  # it hangs in the kernel
        code = -signal.SIGKILL
    return Finished(output.text, code, ended_by)


_RUNNING: set[int] = set()
"""The groups that run."""


@atexit.register
def _end_all() -> None:
    """End what still runs when this program ends: its threads, which would do it, end at once."""
    for group in tuple(_RUNNING):
        _signal(group, signal.SIGKILL)


def _watch(
    process: subprocess.Popen[bytes], output: _Output, until: float, cancelled: threading.Event
) -> Literal["itself", "time", "interruption"]:
    told: float | None = None
    ended_by: Literal["itself", "time", "interruption"] = "itself"
    while not _has_ended(process):
        output.take()
        now = time.monotonic()
        if told is None and (cancelled.is_set() or now >= until):
            ended_by = "interruption" if cancelled.is_set() else "time"
            _signal(process.pid, signal.SIGTERM)
            told = now
        if told is not None and now - told >= TERM_SECONDS:
            break
    return ended_by


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the shell ended. It is not reaped, where the system can tell without that: its id,
    which is that of the group, could be another's a moment later."""
    if hasattr(os, "waitid"):
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, options) is not None
    return process.poll() is not None


def _signal(group: int, number: signal.Signals) -> None:
    # macOS says PermissionError of a group of which nobody is left but the shell that ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


class _Output:
    """What comes out of the pipe: its begin and its end, and how much lay between."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout
        os.set_blocking(self._pipe.fileno(), False)
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0
        self.is_over = False

    def take(self) -> None:
        """Take what is there, or wait a moment for it."""
        if self.is_over:
            time.sleep(_LOOK / 10)
            return
        poll = select.poll()
        poll.register(self._pipe.fileno(), select.POLLIN)
        if not poll.poll(_LOOK * 1000):
            return
        try:
            piece = os.read(self._pipe.fileno(), _PIECE)
        except BlockingIOError:
            return
        self.is_over = not piece
        self._add(piece)

    def _add(self, piece: bytes) -> None:
        free = HEAD - len(self._head)
        self._head += piece[:free]
        self._tail += piece[free:]
        if len(self._tail) > TAIL + _PIECE * 4:
            self._drop()

    def _drop(self) -> None:
        much = len(self._tail) - TAIL
        if much > 0:
            del self._tail[:much]
            self._left_out += much

    def close(self) -> None:
        """Read no more."""
        self._pipe.close()

    @property
    def text(self) -> str:
        """The output as text; what is no UTF-8 becomes U+FFFD. Escape sequences stay in it."""
        self._drop()
        if not self._left_out:
            return bytes(self._head + self._tail).decode("utf-8", "replace")
        # Characters are not cut: what is left of one at either end is dropped.
        head = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        tail = bytes(self._tail)
        begin = next((at for at in range(min(4, len(tail))) if tail[at] & 0xC0 != 0x80), 0)
        end = tail[begin:].decode("utf-8", "replace")
        return f"{head}\n[{self._left_out:,} bytes of the output were left out here]\n{end}"
