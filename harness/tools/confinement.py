"""A folder that file tools do not get out of.

A path is followed through all its links first, and has to end inside of the folder. What is opened
is a regular file, opened without following a last link and without waiting, so that a pipe, a
device or a link that was put there in between is refused. A program that swaps the folders of a
path at that moment could still lead outside: who may run such a program needs no tool for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ToolFailed

MOST_BYTES = 16 << 20
"""Of a file that is read or written."""
MOST_VISITED = 100_000
"""Entries that one walk looks at."""

_SYSTEM = ("/proc", "/sys", "/dev")
"""Where reading a file may change the machine, or have no end."""
_UNWALKED = frozenset({".git"})

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class Confinement:
    """A root, and paths inside of it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def inside(self, path: str) -> Path:
        """The true place of a path, relative to the root or absolute. Raises ToolFailed where that
        is outside of the root, or no path."""
        real = self._real(path)
        if real != self.root and self.root not in real.parents:
            raise ToolFailed(f"{path!r:.200} is outside of the folder that tools may use")
        if any(str(real) == top or str(real).startswith(f"{top}/") for top in _SYSTEM):
            raise ToolFailed(f"{path!r:.200} belongs to the system")
        return real

    def name(self, real: Path) -> str:
        """How a true place is told: relative to the root."""
        return real.relative_to(self.root).as_posix()

    def subject(self, path: object) -> str:
        """What rules match on: the true place, relative to the root; absolute where it is outside
        of it. Raises ToolFailed for what is no path."""
        if not isinstance(path, str):
            raise ToolFailed("the path is no text")
        real = self._real(path)
        is_inside = real == self.root or self.root in real.parents
        return self.name(real) if is_inside else real.as_posix()

    def other_subjects(self, path: object) -> tuple[str, ...]:
        """The names of the links that a path goes through: as it is written, and with only its last
        part not followed. Raises ToolFailed for what is no path."""
        if not isinstance(path, str):
            raise ToolFailed("the path is no text")
        written = Path(os.path.normpath(self.root / path))
        beside = self._real(os.path.dirname(path) or ".") / os.path.basename(path)
        return tuple(
            self.name(place) if self.root in place.parents else place.as_posix()
            for place in dict.fromkeys((written, beside))
        )

    def _real(self, path: str) -> Path:
        try:
            return Path(os.path.realpath(self.root / path))
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise ToolFailed(f"{path!r:.200} is no path: {why}") from None

    def read(self, path: str) -> tuple[Path, bytes, os.stat_result]:
        """The true place of a regular file, what it holds, and how it was before that was read.

        Raises ToolFailed: there is none, it may not be read, it is no regular file, it is over 16
        MB.
        """
        real = self.inside(path)
        try:
            self.check_regular(path, os.lstat(real))
            handle = os.open(real, _OPEN)
            with open(handle, "rb") as file:
                found = os.fstat(handle)
                self.check_regular(path, found)
                if found.st_size > MOST_BYTES:
                    raise ToolFailed(
                        f"{path} has {found.st_size:,} bytes: over {MOST_BYTES:,} nothing is read"
                    )
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise ToolFailed(f"{path!r:.200} cannot be read: {error.strerror or error}") from None
        if len(content) > MOST_BYTES:
            raise ToolFailed(f"{path} grew while it was read: over {MOST_BYTES:,} bytes")
        return real, content, found

    def check_regular(self, path: str, found: os.stat_result) -> None:
        """Raise ToolFailed for what is no regular file."""
        if stat.S_ISDIR(found.st_mode):
            raise ToolFailed(f"{path!r:.200} is a folder: list_files shows what is in it")
        if stat.S_ISLNK(found.st_mode):
            raise ToolFailed(f"{path!r:.200} is a link that leads nowhere")
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{path!r:.200} is no regular file (a pipe, a socket or a device)")

    def walk(self, begin: Path, depth: int | None = None) -> Iterator[os.DirEntry[str]]:
        """What is beneath a folder, sorted within each; links are not followed and ``.git`` is not
        looked into. It ends after ``MOST_VISITED`` entries. Raises ToolFailed where the first
        folder cannot be read."""
        visited = 0
        waiting = [(begin, 1)]
        while waiting:
            folder, level = waiting.pop()
            try:
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                if folder == begin:
                    why = error.strerror or error
                    raise ToolFailed(f"{self.name(begin)} cannot be listed: {why}") from None
                continue
            below = []
            for entry in entries:
                visited += 1
                if visited > MOST_VISITED:
                    return
                yield entry
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and entry.name not in _UNWALKED and (depth is None or level < depth):
                    below.append((Path(entry.path), level + 1))
            waiting += reversed(below)
