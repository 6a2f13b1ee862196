"""The tool ``shell``: a command in the folder of the conversation."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.errors import ToolFailed
from harness.exchange.secret_text import is_secret_name
from harness.tools.context import Context
from harness.tools.process import Finished, run_command
from harness.tools.tool import Tool, tool

GROUP = "shell"
SECONDS = 120.0
MOST_SECONDS = 600.0

_PASSWORD_IN_URL = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""A command must not wait for a person, and there is no terminal."""


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment that hold no key.

    Left out are those whose name says that the value is a secret (``*_API_KEY``, ``*_TOKEN``,
    ``*_SECRET``, ``*PASSWORD*``, ``*CREDENTIALS*`` …), and addresses with a password in them.
    """
    return {
        name: value
        for name, value in environment.items()
        if not is_secret_name(name) and not _PASSWORD_IN_URL.search(value)
    }


def shell_tools(root: Path, environment: Mapping[str, str] | None = None) -> list[Tool]:
    """The tool ``shell`` for commands in ``root``.

    Commands see the environment that is given, without keys (``without_keys``), with a quiet
    terminal and no pagers; without one they see a PATH and nothing else. They are not confined:
    what this program may do, they may.
    """
    given = {"PATH": os.defpath} if environment is None else environment
    seen = {**without_keys(given), **_QUIET}

    def shell(
        command: Annotated[str, "the command, for /bin/sh"],
        timeout: Annotated[
            float, Field(description="seconds that it may take", gt=0, le=MOST_SECONDS)
        ] = SECONDS,
        *,
        context: Context,
    ) -> str:
        return _told(run_command(command, root, seen, timeout, context.cancelled), timeout)

    return [
        tool(
            shell,
            description=(
                "Run a shell command and get what it prints, standard output and errors together, "
                "and its exit code. Each command begins in the same folder and has no input. "
                "Processes that it leaves in the background are ended with it."
            ),
            group=GROUP,
            timeout=None,
            subject="command",
            subject_kind="command",
        )
    ]


def _told(finished: Finished, seconds: float) -> str:
    """What a command printed; raised as ToolFailed, with how it ended, where it did not succeed."""
    if finished.ended_by == "time":
        how = f"timed out after {seconds:g} s, and was ended"
    elif finished.ended_by == "interruption":
        how = "interrupted, and was ended"
    elif finished.code < 0:
        how = f"ended by {_signal_name(-finished.code)}"
    else:
        how = f"exit code {finished.code}"
    output = finished.output
    if output and not output.endswith("\n"):
        output += "\n"
    if finished.code == 0 and finished.ended_by == "itself":
        return finished.output or f"[{how}, no output]"
    raise ToolFailed(f"{output}[{how}]")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
