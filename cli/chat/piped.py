"""What comes through standard input beside the message of ``-p``: ``git diff | ctxlog chat -p …``.

It stands behind the text. A terminal and ``/dev/null`` give nothing, and are not read.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable

from eventlog.errors import InputRefused

MOST_BYTES = 1 << 24
PATIENCE = 2.0
"""Seconds after which it is said that somebody is waited for."""

WAITING = "waiting for the end of standard input, which goes behind the text (< /dev/null: nothing)"


def message_of(text: str, wait: Callable[[str], None]) -> str:
    """The one message: the text, and behind it what comes through standard input; of a command,
    such as ``/compact``, the text alone. ``wait`` is told where that takes its time.

    Raises InputRefused where both say nothing, and for what is no UTF-8 or too much.
    """
    is_command = text.startswith("/") and not text.startswith("//")
    given = "" if is_command else _given(wait)
    if text.strip():
        return f"{text}\n\n{given}" if given else text
    if not given:
        raise InputRefused("there is nothing to say: -p takes the text of a message")
    return f"/{given}" if given.startswith("/") else given  # it is no command


def _given(wait: Callable[[str], None]) -> str:
    """What comes through standard input; empty where only blanks do."""
    if not _is_given(wait):
        return ""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputRefused(f"standard input has over {MOST_BYTES >> 20} MiB")
    try:
        text = data.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputRefused("standard input is no UTF-8, and goes behind the text of -p") from None
    return text if text.strip() else ""


def _is_given(wait: Callable[[str], None]) -> bool:
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        number = sys.stdin.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):  # no file of the system: it is read as it is
        return True
    if stat.S_ISCHR(mode) or stat.S_ISDIR(mode):  # a terminal, /dev/null
        return False
    if not stat.S_ISREG(mode) and not select.select([number], [], [], PATIENCE)[0]:
        wait(WAITING)
    return True
