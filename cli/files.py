"""Files that a command writes: private, and never in the place of another without being told."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


@contextlib.contextmanager
def new_file(path: str, *, force: bool = False) -> Iterator[TextIO]:
    """A text file that appears whole under its name, or not at all. Its mode is 0600.

    Raises InputRefused for an empty name, for ``-``, for a folder, for a database and what belongs
    to one, and when something stands there and ``force`` was not given; and OSError, with this name
    in it.
    """
    from eventlog.errors import InputRefused

    if not path:
        raise InputRefused("the name of the file to write is empty")
    if path == "-":
        raise InputRefused(
            "- stands for standard output, which cannot be written to here: ./- is a file"
        )
    target = Path(path)
    if target.is_dir():
        raise InputRefused(f"{path} is a folder: name a file")
    if is_of_database(target):
        raise InputRefused(f"{path} is a database, or belongs to one: name another file")
    if target.exists() and not force:
        raise InputRefused(f"{path} exists; --force replaces it")
    # Of a long name not all: a name may have no more than 255 bytes, and this one has to be longer.
    part = target.with_name(f".{shortened(target.name)}.{os.getpid()}.part")
    try:
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8", newline="\n") as stream:  # a pipe, a device
                yield stream
            return
        with _whole(part, target) as stream:
            yield stream
    except OSError as error:
        # A full disk does not say which file it is that does not fit.
        if error.filename is None or error.filename == str(part):
            error.filename, error.filename2 = path, None
            if not target.parent.is_dir():
                error.strerror = f"there is no folder {target.parent}"
        raise


_HEADS = (b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
"""How a database begins, and a log of what is not in it yet."""

_BESIDE = ("-wal", "-shm", "-journal", ".lock")
"""Behind the name of a database: what belongs to it."""

_NAME_BYTES = 220
"""Of a name, so that something may be put around it."""


def is_of_database(file: Path) -> bool:
    """Whether a file is an SQLite database, or has a name by which one beside it is opened."""
    if _begins(file, _HEADS):
        return True
    ends = [suffix for suffix in _BESIDE if file.name.endswith(suffix) and file.name != suffix]
    return any(_begins(file.with_name(file.name.removesuffix(end)), _HEADS[:1]) for end in ends)


def _begins(file: Path, heads: tuple[bytes, ...]) -> bool:
    try:
        # Not to wait for who writes into a pipe.
        if not stat.S_ISREG(file.stat().st_mode):
            return False
        with file.open("rb") as stream:
            return stream.read(16).startswith(heads)
    except (OSError, ValueError):
        return False


def shortened(name: str) -> str:
    """The beginning of a name that is too long to become longer."""
    return os.fsdecode(os.fsencode(name)[:_NAME_BYTES])


@contextlib.contextmanager
def _whole(part: Path, target: Path) -> Iterator[TextIO]:
    """A new file of mode 0600 that gets its name when it is written, or goes again."""
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_new(path: str, text: str, *, force: bool = False) -> int:
    """Write a text as a new file; how many bytes it has."""
    with new_file(path, force=force) as stream:
        stream.write(text)
    return len(text.encode())


class Counting:
    """Writes into a stream, and knows how many bytes: a pipe could not say it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.size = 0

    def write(self, text: str) -> int:
        """Write a text."""
        self.size += len(text.encode(errors="surrogatepass"))
        return self._stream.write(text)


def text_of(file: str, most: int) -> str:
    """The text of a file that somebody names in place of typing it.

    Raises InputRefused, with the name in it, for what is no regular file, no UTF-8, or longer than
    ``most`` bytes.
    """
    from eventlog.errors import InputRefused

    if not file:
        raise InputRefused("the name of the file to read is empty")
    try:
        # Not to wait for who writes into a pipe.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputRefused(f"{file}: it is no regular file")
            data = stream.read(most + 1)
        if len(data) > most:
            raise InputRefused(f"{file}: it has more than {most:,} bytes")
        return data.decode("utf-8-sig")
    except IsADirectoryError:
        raise InputRefused(f"{file}: it is a folder") from None
    except UnicodeDecodeError:
        raise InputRefused(f"{file}: it is no UTF-8") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputRefused(f"{file}: {why or error}") from None
