"""Where agents keep their transcripts on a machine.

The library does not read the environment: the caller gives the home folder and what it found there.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A folder that may hold transcripts."""

    format: str
    path: Path


_OPENHANDS = (
    ("openhands-v1", ".openhands/conversations"),
    ("openhands-v0", ".openhands/sessions"),
    ("openhands-v0", ".openhands-state/sessions"),
)


def known_places(home: Path, claude_config_dirs: Iterable[str] = ()) -> list[Place]:
    """The folders that exist, each once.

    ``claude_config_dirs`` are the values of ``CLAUDE_CONFIG_DIR``, which moves ``~/.claude``; newer
    versions also use ``~/.config/claude``. OpenHands keeps conversations below ``~/.openhands``
    (its documentation, "Resume conversations"), and sessions of V0 there or in
    ``~/.openhands-state``.
    """
    roots = [Path(d).expanduser() for d in claude_config_dirs if d]
    roots += [home / ".claude", home / ".config" / "claude"]
    found: dict[Path, Place] = {}
    for root in roots:
        folder = root / "projects"
        if folder.is_dir():
            found.setdefault(folder.resolve(), Place("claude-code", folder))
    for format, name in _OPENHANDS:
        folder = home / name
        if folder.is_dir():
            found.setdefault(folder.resolve(), Place(format, folder))
    return list(found.values())
