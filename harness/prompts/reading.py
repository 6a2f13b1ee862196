"""A file that somebody may be writing to, read whole.

A program that writes in place first empties a file and then fills it, so what is read in between is
half of it, and may be valid. So a file that changed a moment ago is taken when it has stopped
changing. Who writes beside it and renames over it is never seen half.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SETTLED_NS = 50_000_000
"""For so long a file has to have been as it is: who writes in place does not pause longer."""

COARSEST_NS = 2_000_000_000
"""Steps in which the clocks of file systems go at most (FAT): two changes within one look alike."""

TRIES = 40
"""Looks at a file that goes on changing, ``SETTLED_NS`` apart: two seconds."""


class Unsettled(OSError):
    """The file goes on changing."""


class Mark(NamedTuple):
    """What tells that a file is another one, or was changed."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file."""

    mark: Mark
    data: bytes
    is_certain: bool
    """Whether a change since then would show in the mark."""


def mark_of(status: os.stat_result) -> Mark:
    """The mark of a file that was looked at."""
    return Mark(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def read_settled(
    path: Path,
    most: int,
    known: Content | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], int] = time.time_ns,
) -> Content:
    """The bytes of a regular file that has stopped changing; ``known`` where it holds the same.

    Raises OSError: for what is no regular file or has more than ``most`` bytes, and Unsettled. A
    link in the last place of the path is not followed.
    """
    for _ in range(TRIES):
        found = _read(path, most, now)
        age = now() - max(found.mark.modified_ns, found.mark.changed_ns)
        if known is not None and found.data == known.data and found.mark == known.mark:
            return found
        if age >= SETTLED_NS:
            return found
        sleep(SETTLED_NS / 1e9)
        # The file was changed a moment ago, or its clock is ahead of ours: then its marks decide.
        again = _read(path, most, now)
        if again.mark == found.mark and again.data == found.data:
            return again
    raise Unsettled(f"it goes on changing; tried {TRIES} times")


def _read(path: Path, most: int, now: Callable[[], int]) -> Content:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags), "rb") as stream:
        before = os.fstat(stream.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise OSError("it is no regular file")
        if before.st_size > most:
            raise OSError(f"{before.st_size:,} bytes are over the limit of {most:,}")
        data = stream.read(most + 1)
        mark = mark_of(os.fstat(stream.fileno()))
    if len(data) > most:
        raise OSError(f"it has more bytes than the limit of {most:,}")
    certain = now() - max(mark.modified_ns, mark.changed_ns) > COARSEST_NS
    return Content(mark, data, certain and len(data) == mark.size and mark == mark_of(before))
