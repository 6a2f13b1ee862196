"""The facts of this machine for a prompt, looked up when somebody asks for them."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from projections.prompts.injectors import Environment

_MOST = 4096
"""Bytes of a file of git's that are read."""

_COMMIT = 12
"""Characters of a commit where no branch is checked out."""

_HEAD = re.compile(r"ref: refs/heads/(\S+)|([0-9a-f]{40,64})")


def environment(folder: str | os.PathLike[str] | None = None) -> Environment:
    """The working folder (else this process's), the system, today's date and the git branch.

    Reads no variable of the environment and runs no program; what is not known is empty.
    """
    try:
        here = Path.cwd() if folder is None else Path(folder).resolve()
    except OSError:  # a folder that is gone
        return Environment(platform=_platform(), date=_today())
    return Environment(
        cwd=str(here),
        platform=_platform(),
        date=_today(),
        git_branch=git_branch(here),
    )


def git_branch(folder: Path) -> str:
    """The branch that is checked out in a folder or above it; else the commit; else nothing.

    Git itself is not asked: the configuration of a repository may name programs for it to run.
    """
    for each in (folder, *folder.parents):
        found = each / ".git"
        if found.is_dir():
            return _checked_out(found)
        text = _text(found)
        if text.startswith("gitdir:"):  # a worktree or a submodule
            return _checked_out(each / text.removeprefix("gitdir:").strip())
    return ""


def _checked_out(git: Path) -> str:
    found = _HEAD.fullmatch(_text(git / "HEAD").strip())
    if found is None:
        return ""
    return found[1] or f"(no branch, at {found[2][:_COMMIT]})"


def _text(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as stream:
            return stream.read(_MOST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _today() -> str:
    """By the clock on the wall: a person who says today means that."""
    return datetime.now(UTC).astimezone().date().isoformat()


def _platform() -> str:
    return " ".join(filter(None, (platform.system(), platform.release(), platform.machine())))
