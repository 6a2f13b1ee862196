"""A chat as a process of its own, at a terminal: keys, signals, and what is left in the log."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import serving
from running import environment
from scripted import Reply, following

from eventlog.events import ReplyEnded
from projections import open_log

PATIENCE = 60.0


def script(said: str, rounds: int) -> Reply:
    if said == "wait" and rounds == 0:
        return [("shell", {"command": "echo begun; touch begun; sleep 60; touch ended"})]
    return f"you said: {said}"


BEGINNING = """
import fcntl, os, sys, termios
terminal = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for stream in range(3):
    os.dup2(terminal, stream)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""A process that the keys of a terminal reach has it as the one that controls it."""


class Terminal:
    """A program at a terminal of 80 columns."""

    def __init__(self, args: list[str], folder: Path, **env: str) -> None:
        self.shown = ""
        self._fd, self._other = pty.openpty()  # both stay open until all was read
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGINNING, os.ttyname(self._other), "-m", "cli.main", *args],
            cwd=folder,
            env=environment(folder, TERM="xterm", **env),
            start_new_session=True,
        )

    def until(self, text: str, since: int = 0) -> int:
        """Read until a text is shown; where it ends."""
        end = time.monotonic() + PATIENCE
        while (at := self.plain.find(text, since)) < 0:
            if time.monotonic() > end:
                pytest.fail(f"{text!r} was never shown:\n{self.plain}")
            if self._process.poll() is not None:
                pytest.fail(f"it ended before {text!r} was shown:\n{self.plain}")
            self._read()
        return at + len(text)

    def _read(self) -> None:
        if select.select([self._fd], [], [], 0.05)[0]:
            self.shown += os.read(self._fd, 1 << 16).decode("utf-8", "replace")

    @property
    def plain(self) -> str:
        """What is shown, without what moves and colours."""
        return re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\r", "", self.shown)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def ended(self) -> int:
        """Its exit code."""
        end = time.monotonic() + PATIENCE
        while (code := self._process.poll()) is None and time.monotonic() < end:
            self._read()
        return pytest.fail(f"it did not end:\n{self.plain}") if code is None else code

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._fd)
        os.close(self._other)


@pytest.fixture
def url() -> Iterator[str]:
    with serving(following(script)) as server:
        yield server.url


@pytest.mark.slow
def test_ctrl_c_in_a_tool_leaves_a_session_that_resumes(tmp_path: Path, url: str) -> None:
    """The whole of it at once, since a process costs a second: streaming, a question, Ctrl-C while
    a tool runs, what resumes, and Ctrl-D."""
    (tmp_path / ".inputrc").write_text("set enable-bracketed-paste off\n")
    log = tmp_path / "chat.db"
    args = ["chat", "notes", "--tools", "shell", "-m", "m", "--base-url", url, "--db", str(log)]
    terminal = Terminal(args, tmp_path)
    try:
        at = terminal.until(" › ")
        terminal.type("hello\r")
        at = terminal.until("you said: hello\n", at)
        at = terminal.until(" › ", at)
        terminal.type("wait\r")
        at = terminal.until("[y]es / [n]o:", at)
        terminal.type("y\r")
        at = terminal.until("▸ shell echo begun", at)
        end = time.monotonic() + PATIENCE
        while not (tmp_path / "begun").exists() and time.monotonic() < end:
            time.sleep(0.01)
        terminal.type("\x03")
        at = terminal.until("! interrupted; the session goes on from here", at)
        at = terminal.until(" › ", at)
        terminal.type("/conti\t\r")
        at = terminal.until("you said: wait\n", at)
        at = terminal.until(" › ", at)
        terminal.type("\x1b[A\x1b[A\r")  # two up: the message before the last
        at = terminal.until("you said: hello\n", at)
        at = terminal.until(" › ", at)
        terminal.type("wait\r")
        at = terminal.until("[y]es / [n]o: ", at)
        terminal.type("\x03")
        at = terminal.until("\n! interrupted; the session goes on from here\n", at - 1)
        terminal.until(" › ", at)
        terminal.type("\x04")
        assert terminal.ended() == 0
    finally:
        terminal.close()
    assert "\x1b[" in terminal.shown  # it was coloured
    assert not (tmp_path / "ended").exists()
    with open_log(log) as live:
        items = live.items("local/chat/notes")
        kinds = [item.kind for item in items]
        ends = [e.event for e in live.log.read("local/chat/notes", types=["reply_ended"])]
        texts = [item.text for item in items]
        said = [item.text for item in items if item.is_human]
    outcomes = [each.outcome for each in ends if isinstance(each, ReplyEnded)]
    assert outcomes == ["answered", "interrupted", "answered", "answered", "interrupted"]
    assert kinds.count("tool_result") == 2
    assert "interrupted" in texts[4]
    assert said == ["hello", "wait", "hello", "wait"]
