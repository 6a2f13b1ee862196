"""Searching files for a regular expression, in a process that is killed when it takes too long."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ToolFailed

SECONDS = 30.0
MOST_MEMORY = 2 << 30
"""Bytes that one search may take."""
_LOOK = 0.05
_SCRIPT = Path(__file__).with_name("searching.py")


@dataclass(frozen=True)
class Match:
    """A line in which the expression was found."""

    file: str
    line: int
    """From 1."""
    text: str


@dataclass(frozen=True)
class Found:
    """What a search found."""

    matches: tuple[Match, ...]
    searched: int
    """Files."""
    unread: int
    """Files that are no text, too large, or cannot be read."""
    is_cut: bool
    """Whether there are more matches."""


def search(
    regex: str, files: Sequence[tuple[str, str]], most: int, cancelled: threading.Event
) -> Found:
    """The first matches in these files, by name and place, line by line.

    Raises ToolFailed for what is no regular expression, and when it takes over 30 seconds or too
    much memory, or is cancelled.
    """
    limits = {"memory": MOST_MEMORY, "seconds": math.ceil(2 * SECONDS)}
    wanted = {"regex": regex, "files": files, "most": most, **limits}
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed(f"the search could not be started: {error.strerror or error}") from None
    with process:
        try:
            said = _answer(process, json.dumps(wanted).encode(), cancelled)
        finally:
            process.kill()
    try:
        answer = json.loads(said)
    except ValueError:
        raise ToolFailed(f"the search ended without an answer ({process.returncode})") from None
    if "fault" in answer:
        raise ToolFailed(answer["fault"])
    matches = tuple(Match(*match) for match in answer["matches"])
    return Found(matches, answer["searched"], answer["unread"], answer["is_cut"])


def _answer(process: subprocess.Popen[bytes], wanted: bytes, cancelled: threading.Event) -> bytes:
    until = time.monotonic() + SECONDS
    given: bytes | None = wanted
    while True:
        try:
            return process.communicate(given, timeout=_LOOK)[0]
        except subprocess.TimeoutExpired:
            given = None
        if cancelled.is_set():
            raise ToolFailed("interrupted")
        if time.monotonic() > until:
            raise ToolFailed(f"the search took over {SECONDS:g} s: search for something simpler")
