"""Writing a file so that it is the old one or the new one, and never a part of either."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from harness.errors import ToolFailed


def write_whole(place: Path, content: bytes, before: os.stat_result | None) -> os.stat_result:
    """Put a content at a place, as a new file that takes the name of the old one; and how it is.

    The mode of the old one is kept, and its owner as far as that is possible. ``before`` is how the
    old one was when it was looked at; None: there was none. Raises ToolFailed, with the old one
    untouched, where it is another by now, is read-only, or cannot be written.
    """
    if before is not None and not (before.st_mode & 0o222 and os.access(place, os.W_OK)):
        raise ToolFailed(f"{place.name:.200} is read-only")
    temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _failed(place, error) from None
    try:
        with open(handle, "wb") as file:
            if before is not None:
                _as_before(handle, before)
            file.write(content)
            file.flush()
            os.fsync(handle)
            after = os.fstat(handle)
        if not is_same(before, now(place)):
            raise ToolFailed(f"{place.name} was changed by another program: read it again")
        os.replace(temporary, place)
    except OSError as error:
        raise _failed(place, error) from None
    finally:
        temporary.unlink(missing_ok=True)
    return after


def now(place: Path) -> os.stat_result | None:
    """How a file is now; None where there is none. Raises ToolFailed where that cannot be said."""
    try:
        return os.lstat(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed(place, error) from None


def is_same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Whether a file is as it was, as far as its size and its time of modification tell."""
    if one is None or other is None:
        return one is other
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _as_before(handle: int, before: os.stat_result) -> None:
    made = os.fstat(handle)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):  # only root may; it is the user's own then
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _failed(place: Path, error: OSError) -> ToolFailed:
    return ToolFailed(f"{place.name:.200} cannot be written: {error.strerror or error}")
