"""The tools of a chat, by what was asked for with ``--tools``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eventlog.errors import InputRefused
from harness.tools import Tool, Toolbox
from harness.tools.planner import planner_tools

GROUPS = ("files", "shell")
"""What can be asked for; the planner is always there."""


def groups_of(typed: Sequence[str]) -> tuple[str, ...]:
    """The groups of ``--tools files,shell``; ``none`` is none. Raises InputRefused."""
    names = [name.strip() for text in typed for name in text.split(",") if name.strip()]
    for name in names:
        if name not in (*GROUPS, "none"):
            raise InputRefused(f"--tools: no tools {name!r}; there are {', '.join(GROUPS)}")
    return tuple(name for name in GROUPS if name in names)


def known_groups(names: Iterable[str]) -> tuple[str, ...]:
    """Those of a session that can be had here."""
    return tuple(name for name in GROUPS if name in set(names))


def folder_of(root: str | None) -> Path:
    """The folder in which tools work: the one that was named, else this one. Raises InputRefused.
    """
    try:
        folder = Path(root).expanduser().resolve() if root is not None else Path.cwd()
    except (OSError, RuntimeError, ValueError) as error:
        raise InputRefused(f"--root: that folder cannot be used: {error}") from None
    if not folder.is_dir():
        raise InputRefused(f"--root: {folder} is no folder")
    return folder


def toolbox(groups: Iterable[str], root: Path, environment: Mapping[str, str]) -> Toolbox:
    """The planner, and the tools of these groups in a folder."""
    found: list[Tool] = list(planner_tools())
    wanted = set(groups)
    if "files" in wanted:
        from harness.tools.files import file_tools

        found += file_tools(root)
    if "shell" in wanted:
        from harness.tools.shell import shell_tools

        found += shell_tools(root, environment)
    return Toolbox(found)
