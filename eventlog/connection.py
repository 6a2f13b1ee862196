"""Opening the file, and the lock beside it.

A file is looked at before anything is written to it: the wrong application id, a symbolic link, a
second name for the same file or a network file system is refused and left untouched. New files are
0600.

The lock beside the file (``flock`` on ``<file>.lock``) makes waiting fair and bounded, and keeps
two commits from checkpointing at the same instant, which SQLite before 3.51.3 does not survive in
every case (sqlite.org/wal.html, "The WAL-Reset Bug"). It is never taken on the database file
itself: closing any descriptor of that file would drop SQLite's own locks.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from eventlog import schema
from eventlog.errors import (
    Busy,
    CtxlogError,
    DamagedLog,
    DiskFault,
    LogFull,
    LogNotFound,
    NewerFormat,
    NotALog,
    ReadOnlyLog,
    UnsafePath,
)

Durability = Literal["full", "normal"]

EMPTY = "it is empty"
"""Why a file is no log yet: another process is about to make one of it, or nobody."""

NETWORK = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "afs",
        "ceph",
        "fuse.sshfs",
        "lustre",
    }
)
"""File systems on which SQLite's locks do not hold."""


class FileLock:
    """An advisory lock with a deadline, shared by every process that writes the log."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path, self._timeout = path, timeout
        self._descriptor = -1

    def open(self) -> None:
        """Open the lock file, made when missing; raises OSError. A second call does nothing."""
        if self._descriptor < 0:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self._path, flags, 0o600)

    def acquire(self, database: Path) -> None:
        """Take it; raises Busy at the deadline."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        deadline, pause = time.monotonic() + self._timeout, 0.0005
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, 0.004)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
        raise Busy(str(database), self._timeout)

    def attempt(self) -> bool:
        """Take it if nobody holds it; ``close`` gives it back."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def release(self) -> None:
        """Give it back."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock file; it stays in place, since removing it would split the lock in two."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def lock_path(path: Path) -> Path:
    """Where the lock of a log lies."""
    return path.with_name(path.name + ".lock")


def check_path(path: Path, *, create: bool) -> bool:
    """Whether the file has to be created; raises LogNotFound or UnsafePath."""
    if path.name == ":memory:":
        raise UnsafePath(str(path), "a log is a file; name one in a temporary folder")
    try:
        found = path.lstat()
    except FileNotFoundError:
        if not create:
            raise LogNotFound(str(path)) from None
        if not path.parent.exists():
            try:
                path.parent.mkdir(mode=0o700, parents=True)
            except OSError as error:
                raise UnsafePath(str(path), str(error)) from None
        elif not path.parent.is_dir():
            raise UnsafePath(str(path), f"{path.parent} is not a folder") from None
        _check_file_system(path.parent, path)
        return True
    except (OSError, ValueError) as error:
        raise UnsafePath(str(path), str(error)) from None
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePath(str(path), "it is a symbolic link; name the file itself")
    if not stat.S_ISREG(found.st_mode):
        raise NotALog(str(path), "it is not a regular file")
    if 0 < found.st_size < 512:  # SQLite takes a file of a few bytes for an empty one
        raise NotALog(str(path), "it is not an SQLite file")
    if found.st_nlink > 1:
        raise UnsafePath(str(path), "it has a second name (hard link), which corrupts SQLite files")
    _check_file_system(path, path)
    return False


def _check_file_system(place: Path, path: Path) -> None:
    kind = file_system(place)
    if kind in NETWORK:
        raise UnsafePath(str(path), f"it lies on a network file system ({kind}), use a local disk")


def file_system(place: Path) -> str:
    """The kind of file system that a place lies on; empty where the system does not say."""
    try:
        mounts = Path("/proc/self/mounts").read_text(errors="replace")
    except OSError:  # not Linux: there is nothing to ask
        return ""
    real, best, kind = str(place.resolve()), "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        point = fields[1].replace("\\040", " ") if len(fields) > 2 else ""
        inside = point == "/" or real == point or real.startswith(point + "/")
        if point and inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def open_connection(
    path: Path,
    *,
    read_only: bool,
    durability: Durability,
    timeout: float,
    fresh: bool,
    lock: FileLock | None,
    still: bool = False,
) -> tuple[sqlite3.Connection, bool]:
    """A connection to the log, and whether it is for reading only.

    The caller has checked the path. ``still``: nobody writes, and what was written stands in the
    file itself; then no index of it is needed, for which there may be no space.

    Raises NotALog, NewerFormat only through ``read_only``, Busy, DamagedLog, ReadOnlyLog, and
    LogFull and DiskFault.
    """
    if fresh:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        try:
            os.close(os.open(path, flags, 0o600))
        except FileExistsError:
            pass  # another process was faster: open what it made
        except OSError as error:
            raise _refused(error, path) from None
    if not read_only and not os.access(path, os.W_OK):
        raise ReadOnlyLog(str(path), "the file is not writable; open it read-only")
    if read_only:
        _check_readable(path)
    with translated(path, timeout):
        connection = sqlite3.connect(
            reading_uri(path, still=still) if read_only else f"file:{quote(str(path))}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=timeout,
            cached_statements=256,
        )
    try:
        with translated(path, timeout):
            version = _examine(connection, path)
            if read_only and version == 0:
                raise NotALog(str(path), EMPTY)
            if lock is not None:
                try:
                    lock.open()  # not before: beside a foreign file nothing is left
                except OSError as error:
                    raise _refused(error, path) from None
            for pragma in (
                "trusted_schema=off",
                "cell_size_check=on",
                "mmap_size=0",
                "recursive_triggers=on",
                "temp_store=memory",
            ):
                connection.execute(f"pragma {pragma}")
            if read_only or version > schema.FORMAT:
                connection.execute("pragma query_only=on")
                return connection, True
            connection.execute(f"pragma synchronous={durability}")
            connection.execute("pragma secure_delete=on")
            if sys.platform == "darwin":
                connection.execute("pragma fullfsync=on")
            journal = connection.execute("pragma journal_mode").fetchone()[0]
            # A copy made by VACUUM INTO is no WAL file, and would lose a commit in a power cut.
            if lock is not None and (version < schema.FORMAT or journal != "wal"):
                _create(connection, path, lock)
            return connection, False
    except BaseException:
        connection.close()
        raise


def reading_uri(path: Path, *, still: bool = False) -> str:
    """How SQLite opens a log for reading; ``still`` as ``open_connection`` says."""
    return f"file:{quote(str(path))}?{_STILL if still else uri_mode(path)}"


def uri_mode(path: Path) -> str:
    """How SQLite opens the file: on a medium that cannot be written it must not try to lock."""
    if os.access(path.parent, os.W_OK) or written_last(path):
        return "mode=ro"
    return _STILL


_STILL = "mode=ro&immutable=1"


def written_last(path: Path) -> str:
    """The name of the file that holds what was written last; empty where all of it is in the log's
    own."""
    log = path.with_name(path.name + "-wal")
    try:
        return log.name if log.stat().st_size else ""
    except OSError:
        return ""


def _check_readable(path: Path) -> None:
    """SQLite reads that file only where it can make an index of it, or finds one."""
    last, index = written_last(path), path.with_name(path.name + "-shm")
    if last and not os.access(path.parent, os.W_OK) and not os.access(index, os.R_OK):
        raise ReadOnlyLog(
            str(path),
            f"what was written last stands in {last}, which cannot be read in a folder that is "
            "for reading only; copy both files into one of yours",
        )


def _refused(error: OSError, path: Path) -> CtxlogError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return LogFull(str(path))
    return ReadOnlyLog(str(path), str(error))


def _examine(connection: sqlite3.Connection, path: Path) -> int:
    """The format of the file; 0 for an empty one. Raises NotALog, before anything is written."""
    try:
        # In this order: another process may be making the log, and its tables appear together with
        # the id, so an id that is read after them is theirs.
        tables = connection.execute("select count(*) from sqlite_schema").fetchone()[0]
        version = int(connection.execute("pragma user_version").fetchone()[0])
        application = connection.execute("pragma application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise NotALog(str(path), "it is not an SQLite file") from None
        raise
    if application == schema.APPLICATION_ID:
        return version
    if application == 0 and tables == 0 and version == 0:
        return 0
    raise NotALog(str(path), "an SQLite file of another program")


def _create(connection: sqlite3.Connection, path: Path, lock: FileLock) -> None:
    # Under the lock: switching to WAL fails at once when eight processes try it together.
    lock.acquire(path)
    try:
        connection.execute("pragma journal_mode=wal").fetchone()
        connection.execute("begin immediate")
        try:
            if connection.execute("pragma user_version").fetchone()[0] < schema.FORMAT:
                schema.migrate(connection)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
    finally:
        lock.release()


def newer_format(connection: sqlite3.Connection, path: Path) -> NewerFormat | None:
    """The error to raise when something is to be written to a file of a later format."""
    found = int(connection.execute("pragma user_version").fetchone()[0])
    return NewerFormat(str(path), found, schema.FORMAT) if found > schema.FORMAT else None


@contextlib.contextmanager
def translated(path: Path, waited: float = 0) -> Iterator[None]:
    """SQLite's and the system's errors as this project's own."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translate(error, path, waited) from error


def translate(
    error: sqlite3.Error | UnicodeDecodeError, path: Path, waited: float = 0
) -> CtxlogError:
    """The typed error for one of SQLite's. A failed commit is the caller's to judge."""
    if isinstance(error, UnicodeDecodeError):
        return DamagedLog(str(path), "a text column is not UTF-8")
    name = str(getattr(error, "sqlite_errorname", "") or "")
    text = str(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Busy(str(path), waited)
    if name.startswith("SQLITE_FULL"):
        return LogFull(str(path))
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return ReadOnlyLog(str(path), text)
    if name.startswith("SQLITE_IOERR") or "disk I/O error" in text:
        return DiskFault(str(path), text)
    return DamagedLog(str(path), text)
