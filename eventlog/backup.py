"""A copy of the log, made while others write, and proved before it gets its name.

``VACUUM INTO`` and not SQLite's backup API: that copies pages, free ones too, in which an erased
text may still stand, and begins anew whenever somebody writes. This copies what the log holds, from
one unchanging picture of it. A copy by ``cp`` would miss the write-ahead log.

The copy is written beside its place under a name that ends in ``.part``, recomputed from its own
bytes, held against the log stream by stream, and only then given its name, all or nothing. A
process that is killed leaves files that begin with a dot and hold ``.part``, and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eventlog import scrub
from eventlog.connection import lock_path, reading_uri, translated
from eventlog.derived import drop_table
from eventlog.errors import InputRefused, IntegrityFault
from eventlog.integrity import Verification, verify
from eventlog.log import EventLog
from eventlog.reading import Reading
from eventlog.recorded import StreamKey

Progress = Callable[[Literal["copy", "verify"], int, int], None]
"""What is done, how much of it, and of how much: bytes, then events."""

_STEPS = 2_000
"""Instructions of SQLite between two looks at how far it is."""

_Heads = dict[StreamKey, tuple[int, bytes]]
"""Version and chain of each stream."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What was copied."""

    head: str
    """Of the copy: that of the log at the moment of the copy."""
    events: int
    streams: int
    size: int
    """Bytes."""
    without_derived: bool
    """Derived tables were left out, since erased text may still have stood in them; the next open
    makes them anew."""


def backup(
    log: EventLog,
    target: str | os.PathLike[str],
    *,
    replace: bool = False,
    progress: Progress = lambda what, done, of: None,
) -> Backup:
    """Copy the log to a file that is not there yet, or with ``replace`` in the place of one.

    The copy is 0600. Raises InputRefused for a name that cannot be taken, IntegrityFault when the
    copy does not verify or is not the log's, LogFull, DiskFault, DamagedLog, and OSError for the
    folder. Nothing is left under the name then that was not there before; what a killed backup to
    the same name left beside it is removed.
    """
    path = Path(target)
    _check_target(log.path, path, replace)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        _remove_left_behind(path)
        held = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        if not path.parent.is_dir():
            error.strerror = f"there is no folder {path.parent}"
        raise
    try:
        with contextlib.suppress(OSError):  # some file systems cannot
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        known = _heads(log)
        pending = scrub.is_pending(log)
        _copy(log, part, path, progress)
        if pending:
            _leave_out_derived(part)
        found = _proved(log, part, known, progress)
        size = _synced(part)
        _named(part, path, replace)
    except BaseException:
        for suffix in ("", "-journal"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)
        raise
    finally:
        os.close(held)  # not before: it would drop the locks of SQLite
    return Backup(found.head, found.events, found.streams, size, pending)


def _check_target(log: Path, path: Path, replace: bool) -> None:
    if not path.name:
        raise InputRefused("the name of the file to write is empty")
    if path.is_dir():
        raise InputRefused(f"{path} is a folder: name a file")
    own = [log.with_name(log.name + suffix) for suffix in ("", "-wal", "-shm")] + [lock_path(log)]
    same = path.exists() and any(each.exists() and path.samefile(each) for each in own)
    if same or path.absolute() in [each.absolute() for each in own]:
        raise InputRefused(f"{path} belongs to the log itself: name another file")
    if os.path.lexists(path):
        if not replace:
            raise InputRefused(f"{path} exists; --force replaces it")
        if not path.is_file():
            raise InputRefused(f"{path} is not a regular file")
    for suffix in ("-wal", "-journal"):
        if os.path.lexists(path.with_name(path.name + suffix)):
            raise InputRefused(
                f"{path.name}{suffix} stands beside {path}, which somebody has open or left: a "
                "copy there would be mixed with it"
            )


def _remove_left_behind(path: Path) -> None:
    """Copies under way of that name, whose program was killed: what is erased from the log later
    would stand in them for ever. One that is being made is locked."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.part"):
        try:
            descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue  # somebody else's, or gone
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for suffix in ("", "-journal"):
                part.with_name(part.name + suffix).unlink(missing_ok=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)


# -- the copy -------------------------------------------------------------------------------------


def _copy(log: Reading, part: Path, path: Path, progress: Progress) -> None:
    uri = reading_uri(log.path, still=log.is_still)
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    stopped: list[BaseException] = []
    try:
        with translated(log.path):
            connection.execute("pragma trusted_schema=off")
            (pages,) = connection.execute("pragma page_count").fetchone()
            (size,) = connection.execute("pragma page_size").fetchone()

        def look() -> int:
            # What is raised in here SQLite swallows: it stops, and says only that it was stopped.
            try:
                progress("copy", min(part.stat().st_size, pages * size), pages * size)
            except BaseException as error:
                stopped.append(error)
                return 1
            return 0

        connection.set_progress_handler(look, _STEPS)
        try:
            with translated(path):  # who reads of it knows that name
                connection.execute("vacuum into ?", (str(part),))
        except BaseException:
            if stopped:
                raise stopped[0] from None
            raise
    finally:
        connection.close()


def _leave_out_derived(part: Path) -> None:
    """Erased text may still stand in a derived table, until a scrub has made it anew."""
    with translated(part), contextlib.closing(sqlite3.connect(part, isolation_level=None)) as db:
        db.execute("pragma secure_delete=on")
        names = [name for (name,) in db.execute("select name from derived").fetchall()]
        for name in names:
            tables = scrub.named_like(db, name)
            if not tables:
                raise InputRefused(
                    f"erased text may still stand in what {name!r} derived, which this program "
                    "does not know; open the log with the program that made it, then try again"
                )
            for table in tables:  # a virtual table first: it drops its shadows
                drop_table(db, table)
        db.execute("delete from derived")
        db.execute("vacuum")


# -- the proof ------------------------------------------------------------------------------------


def _heads(log: Reading) -> _Heads:
    rows = log.query(
        "select user, agent, session, position, chain from streams s join events e on "
        "e.sequence = (select sequence from events where stream = s.row "
        "order by position desc limit 1)"
    )
    return {StreamKey(*row[:3]): (row[3], row[4]) for row in rows.fetchall()}


def _proved(log: Reading, part: Path, known: _Heads, progress: Progress) -> Verification:
    """Recompute the copy, and hold it against the log: what stood there when it was begun, and
    nothing that does not stand there."""
    with EventLog(part, read_only=True) as copy:
        found = verify(copy, progress=lambda done, of: progress("verify", done, of))
        if found.problems:
            first = found.problems[0]
            where = f"{first.stream} position {first.position}: " if first.position else ""
            raise IntegrityFault(
                f"the copy does not verify and was not kept ({where}{first.message}); "
                "`ctxlog verify` tells whether the log itself does"
            )
        copied = _heads(copy)
    for key, (version, _) in known.items():
        if copied.get(key, (0, b""))[0] < version:
            raise IntegrityFault(f"the copy lacks events of {key} and was not kept")
    for key, (version, chain) in copied.items():
        row = log.query(
            "select chain from events where stream = ? and position = ?",
            (log.stream(key).row, version),
        ).fetchone()
        if row is None or row[0] != chain:
            raise IntegrityFault(f"the copy of {key} is not what the log holds and was not kept")
    return found


# -- the name -------------------------------------------------------------------------------------


def _synced(part: Path) -> int:
    """The bytes of the file, on the disk."""
    descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _named(part: Path, path: Path, replace: bool) -> None:
    if replace:
        part.replace(path)
    else:
        try:
            os.link(part, path)  # never over a file that came meanwhile
            part.unlink()
        except FileExistsError:
            raise InputRefused(f"{path} exists; --force replaces it") from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            part.rename(path)  # a file system without hard links
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot
            os.fsync(folder)
    finally:
        os.close(folder)
