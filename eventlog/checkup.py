"""Whether a log can be used where it lies: told without ever writing to it.

For a log that is missing, locked, damaged, of a later format or no log at all: each look is a
``Check`` with what to do, and none of them raises. ``integrity`` proves the content; this says why
nothing works, or what will soon not.

The file is opened for reading. Where nobody has it open it is opened as one that does not change,
so that not even the files beside it appear.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from eventlog import schema
from eventlog.connection import NETWORK, check_path, file_system, lock_path, translated
from eventlog.errors import Busy, CtxlogError, DamagedLog, LogNotFound

State = Literal["ok", "warning", "problem"]

LARGE_WAL = 64 << 20
"""Bytes of a write-ahead log that somebody keeps from being emptied."""

LEAST_SPACE = 100 << 20
"""Bytes that should be free, or twice the log: an erasure writes it anew."""

LITTLE_SPACE = 10 << 20
"""Bytes under which an append may fail any time."""

OTHER_FILE = "name another file with --db"
"""The advice for what is no log."""

_PATIENCE = 1.0
"""Seconds for which a lock may be held before that is worth a word."""


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: State
    message: str
    advice: str = ""
    """What to do; empty where there is nothing to do."""


def checkup(path: Path, *, seconds: float = 10.0) -> Iterator[Check]:
    """Look at a log; the quick look at its content ends after so many seconds."""
    yield from _place(path)
    try:
        check_path(path, create=False)
    except LogNotFound:
        made = "`ctxlog import PATH` or `ctxlog record -- CMD` makes one"
        yield Check("file", "warning", "there is no log yet", made)
        return
    except CtxlogError as error:
        yield Check("file", "problem", str(error), "name another log with --db")
        return
    content = _content(path, seconds)
    if content[0].advice != OTHER_FILE:  # of what is no log, nothing is to be changed
        yield from _files(path)
        yield _lock(path)
    yield from content


def mebibytes(size: int) -> str:
    """A size as people read it."""
    if size < 1 << 20:
        return f"{size / 1024:.0f} KB"
    return f"{size / (1 << 20):,.0f} MB" if size < 10 << 30 else f"{size / (1 << 30):,.0f} GB"


# -- where it lies --------------------------------------------------------------------------------


def _place(path: Path) -> Iterator[Check]:
    folder = next(each for each in (path.absolute().parent, *path.absolute().parents)
                  if each.exists() or each == each.parent)  # fmt: skip
    kind = file_system(folder)
    if kind in NETWORK:
        advice = "SQLite's locks do not hold there: use a local disk"
        yield Check("file system", "problem", f"a network file system ({kind})", advice)
    elif kind:
        yield Check("file system", "ok", kind)
    try:
        free = shutil.disk_usage(folder).free
        size = path.stat().st_size if path.is_file() else 0
    except OSError as error:
        yield Check("space", "problem", f"{folder} cannot be read: {error.strerror}")
        return
    said = f"{mebibytes(free)} free"
    if free < LITTLE_SPACE:
        yield Check("space", "problem", said, "an append may fail any time: make room")
    elif free < max(LEAST_SPACE, 2 * size):
        yield Check("space", "warning", said, "too little to erase or back up: make room")
    else:
        yield Check("space", "ok", said)


def _files(path: Path) -> Iterator[Check]:
    beside = [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]
    size = path.stat().st_size
    yield Check("file", "ok", f"{mebibytes(size)}")
    yield _modes([each for each in (path, *beside, lock_path(path)) if each.exists()])
    if not os.access(path, os.R_OK):
        yield Check("access", "problem", "you cannot read it", f"chown or chmod {path}")
    elif not os.access(path, os.W_OK):
        yield Check("access", "warning", "you can read it, not write to it")
    wal = beside[0].stat().st_size if beside[0].exists() else 0
    readers = _who(beside[1], "POSIX")
    by = f", open by {readers}" if readers else ""
    if wal > LARGE_WAL:
        advice = "end what has the log open: the last one to close it empties it"
        yield Check("write-ahead log", "warning", f"{mebibytes(wal)}{by}", advice)
    else:
        yield Check("write-ahead log", "ok", (mebibytes(wal) if wal else "empty") + by)


def _modes(files: list[Path]) -> Check:
    folder = files[0].absolute().parent
    found = folder.stat()
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        advice = f"chmod go-w {folder}"
        return Check("permissions", "problem", "others can replace files in its folder", advice)
    for file in files:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            advice = f"chmod 600 {file}"
            said = f"{file.name} is {mode:04o}, so others can read what was said"
            return Check("permissions", "warning", said, advice)
        if file.stat().st_uid not in (os.geteuid(), found.st_uid):
            return Check("permissions", "warning", f"{file.name} belongs to another user")
    return Check("permissions", "ok", "only its owner can read it (0600)")


# -- who has it -----------------------------------------------------------------------------------


def _lock(path: Path) -> Check:
    """Whether somebody writes; the lock is asked for as a reader of it, for a moment."""
    lock = lock_path(path)
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return Check("lock", "ok", "nobody writes")
    except OSError as error:
        advice = f"nobody can write while {lock} is no readable file"
        return Check("lock", "problem", f"{lock.name} cannot be opened: {error.strerror}", advice)
    try:
        until = time.monotonic() + _PATIENCE
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return Check("lock", "ok", "nobody writes")
            if time.monotonic() > until:
                break
            time.sleep(0.02)
    finally:
        os.close(descriptor)
    who = _who(lock, "FLOCK") or "another process"
    advice = "others wait for it: let it finish, or end it, which loses nothing"
    return Check("lock", "warning", f"{who} has been writing for {_PATIENCE:g} s", advice)


def _who(file: Path, kind: str) -> str:
    """The processes that hold a lock of a kind on a file, where the system tells."""
    try:
        found = file.stat()
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return ""
    place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    fields = [line.split() for line in lines]
    pids = {f[4] for f in fields if len(f) > 5 and f[1] in (kind, "OFDLCK") and f[5] == place}
    named = []
    for pid in sorted(pids - {str(os.getpid()), "-1", "0"}):
        name = ""
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        named.append(f"process {pid}" + (f" ({name})" if name else ""))
    return ", ".join(named)


# -- what is in it --------------------------------------------------------------------------------


def _content(path: Path, seconds: float) -> list[Check]:
    """What the file says of itself; first its format, or why that cannot be told."""
    wal = path.with_name(path.name + "-wal")
    idle = not wal.exists()
    found = _looked(path, seconds, "mode=ro&immutable=1" if idle else "mode=ro")
    if idle and wal.exists() and any(check.state == "problem" for check in found):
        return _looked(path, seconds, "mode=ro")  # somebody began to write under our eyes
    return found


def _looked(path: Path, seconds: float, mode: str) -> list[Check]:
    # Never with open(): closing that would drop the locks of a log that this process has open.
    uri = f"file:{quote(str(path))}?{mode}"
    found: list[Check] = []
    try:
        with (
            translated(path, _PATIENCE),
            contextlib.closing(
                sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_PATIENCE)
            ) as db,
        ):
            found.append(_format(db))
            if found[0].state != "problem":
                found += _inside(db, seconds)
    except Busy:
        said = "another program has locked it for itself alone"
        found.append(Check("access", "problem", said, "end that program; ctxlog never does that"))
    except DamagedLog as error:
        found.append(_damaged(error.detail))
    except CtxlogError as error:
        found.append(Check("access", "problem", str(error)))
    return found


def _format(db: sqlite3.Connection) -> Check:
    for pragma in ("query_only=on", "trusted_schema=off", "cell_size_check=on", "mmap_size=0"):
        db.execute(f"pragma {pragma}")
    try:
        (tables,) = db.execute("select count(*) from sqlite_schema").fetchone()
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        return Check("format", "problem", "it is no SQLite file", OTHER_FILE)
    (version,) = db.execute("pragma user_version").fetchone()
    (application,) = db.execute("pragma application_id").fetchone()
    if application == version == tables == 0:
        return Check("format", "problem", "the file is empty", "remove it, or import into it")
    if application != schema.APPLICATION_ID:
        said = "an SQLite file of another program; ctxlog changes nothing in it"
        return Check("format", "problem", said, OTHER_FILE)
    if version > schema.FORMAT:
        said = f"{version}, and this program knows {schema.FORMAT}: it can only read"
        return Check("format", "warning", said, "upgrade ctxlog")
    if version < schema.FORMAT:
        said = f"{version}; the next command that writes brings it to {schema.FORMAT}"
        return Check("format", "ok", said)
    return Check("format", "ok", str(version))


def _inside(db: sqlite3.Connection, seconds: float) -> Iterator[Check]:
    (version,) = db.execute("pragma user_version").fetchone()
    if version <= schema.FORMAT and schema.definitions(db) != schema.expected(version):
        advice = "`ctxlog verify` says which"
        yield Check("schema", "problem", "tables or triggers are not as they were made", advice)
    (events,) = db.execute("select coalesce(max(sequence), 0) from events").fetchone()
    (sessions,) = db.execute("select count(*) from streams").fetchone()
    said = f"{events:,} event{'s'[events == 1 :]} of {sessions:,} session{'s'[sessions == 1 :]}"
    yield Check("events", "ok", said)
    if db.execute("select exists (select 1 from scrubs)").fetchone()[0]:
        said = "an erasure is not finished: erased text may still be in the file"
        advice = "`ctxlog rebuild`, while nobody else has the log open, finishes it"
        yield Check("erasure", "warning", said, advice)
    yield _quick(db, seconds)


def _quick(db: sqlite3.Connection, seconds: float) -> Check:
    until = time.monotonic() + seconds
    db.set_progress_handler(_after(until), 10_000)
    try:
        (said,) = db.execute("pragma quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            raise
        said = f"a quick look did not end in {seconds:g} s and found nothing so far"
        return Check("integrity", "ok", said, "`ctxlog verify` looks at everything")
    finally:
        db.set_progress_handler(None, 0)
    if said != "ok":
        return _damaged(str(said))
    return Check("integrity", "ok", "a quick look found nothing; `ctxlog verify` recomputes all")


def _after(until: float) -> Callable[[], int]:
    return lambda: int(time.monotonic() > until)


def _damaged(detail: str) -> Check:
    advice = "`ctxlog verify` tells what holds; go back to a copy that `ctxlog backup` made"
    return Check("integrity", "problem", f"damaged: {' '.join(detail.split())}", advice)
