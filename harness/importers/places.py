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


def known_places(
    home: Path, claude_config_dirs: Iterable[str] = (), codex_homes: Iterable[str] = ()
) -> list[Place]:
    """The folders that exist, each once.

    ``claude_config_dirs`` are the values of ``CLAUDE_CONFIG_DIR``, which moves ``~/.claude``; newer
    versions also use ``~/.config/claude``. ``codex_homes`` are those of ``CODEX_HOME``, which moves
    ``~/.codex``. OpenHands keeps conversations below ``~/.openhands`` (its documentation, "Resume
    conversations"), and sessions of V0 there or in ``~/.openhands-state``.
    """
    claude = [*_given(claude_config_dirs), home / ".claude", home / ".config" / "claude"]
    codex = [*_given(codex_homes), home / ".codex"]
    places = [Place("claude-code", root / "projects") for root in claude]
    places += [
        Place("codex", root / n) for root in codex for n in ("sessions", "archived_sessions")
    ]
    places += [Place(format, home / name) for format, name in _OPENHANDS]
    found: dict[Path, Place] = {}
    for place in places:
        if place.path.is_dir():
            found.setdefault(place.path.resolve(), place)
    return list(found.values())


def _given(folders: Iterable[str]) -> list[Path]:
    return [Path(folder).expanduser() for folder in folders if folder]
