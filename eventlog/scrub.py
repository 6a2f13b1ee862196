"""Removing what erased text left behind in the file.

A redaction leaves copies in free pages, in the write-ahead log and in derived tables. A scrub makes
the derived tables anew, checkpoints, runs VACUUM, checkpoints again, and may look for the bytes.
It is noted as pending (a row in ``scrubs``) in the transaction that erased the text, and the note
goes last: a scrub that was killed at any instant is finished by the next open, ``finish_pending``.

The look for bytes reads the database file from another process: closing a descriptor of that file
in this one would drop every lock that SQLite holds on it (sqlite.org/howtocorrupt.html, 2.2).

VACUUM keeps its copy in a temporary file, not in memory; it holds only what the log still holds.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from eventlog import connection, schema
from eventlog.derived import Derived, Stamp, drop_table
from eventlog.errors import Busy, CtxlogError, DatabaseFault, ReadOnlyLog
from eventlog.log import EventLog
from eventlog.needles import forms
from eventlog.recorded import StreamKey
from eventlog.redaction import Copy, find_bytes

_PATIENCE = 0.5
"""Seconds for which an open waits for readers before it leaves a pending scrub to the next one."""


class Residue(NamedTuple):
    """Bytes of a text that are still in a file."""

    file: str
    form: str
    """``text``, ``json``, or one of them in base64."""


@dataclass(frozen=True, slots=True)
class ScrubResult:
    """What a scrub did, and what it found."""

    complete: bool
    """The note of a pending scrub was removed."""
    found: tuple[Residue, ...]
    copies: tuple[Copy, ...]
    """Events that still hold a needle: they were not erased, and no scrub removes them."""
    named: tuple[StreamKey, ...]
    """Streams whose own names hold a needle."""
    unknown: tuple[str, ...]
    """Derived tables of the file that this program was not given, so could not make anew."""


def scrub(
    log: EventLog, needles: Sequence[str] = (), *, derived: Sequence[Derived] = ()
) -> ScrubResult:
    """Remove what erased text left in the database, ``-wal`` and ``-shm``; look for the needles.

    Derived tables: those that the log was opened with, those given, and those in the file whose
    tables are named like them (``name`` or ``name_…``) are made anew. With others in the file the
    scrub stays pending. It also stays pending when a needle is found and no event holds it, nor
    the name of a stream.

    Raises Busy when a reader keeps the write-ahead log from being emptied (the scrub stays
    pending), ReadOnlyLog, and DatabaseFault when the files could not be read back.
    """
    wanted: dict[bytes, str] = {}
    for needle in needles:
        wanted.update(forms(needle))
    with log._mutex:
        noted, unknown = _renew(log, derived)
        with _locked(log) as db:
            _empty_wal(log, db)
            _vacuum(db)
            _empty_wal(log, db)
        found = _scan(log.path, wanted) if wanted else ()
        copies: list[Copy] = []
        for needle in needles if found else ():
            copies += find_bytes(log, needle)
        keys = [info.key for info in log.streams()] if found else []
        named = tuple(key for key in keys if any(needle in str(key) for needle in needles))
        complete = not unknown and (not found or bool(copies) or bool(named))
        if complete:
            with log.writing() as db:
                # Not those that came meanwhile: their text may still be where this has been.
                db.executemany("delete from scrubs where id = ? and requested_at = ?", noted)
    return ScrubResult(complete, found, tuple(dict.fromkeys(copies)), named, unknown)


def is_pending(log: EventLog) -> bool:
    """Whether erased text may still be in the file: one look at an empty table."""
    with log._mutex, connection.translated(log.path):
        row = log._ready().execute("select exists (select 1 from scrubs)").fetchone()
    return bool(row[0])


def finish_pending(log: EventLog, *, derived: Sequence[Derived] = ()) -> bool:
    """Finish a scrub that was interrupted; whether none is pending now.

    For whoever opens a log. It never fails and hardly waits: a log that is open for reading, or
    that others are reading now, or that holds derived tables which are not given, stays pending.
    """
    try:
        with log._mutex:
            if not is_pending(log):
                return True
            if log.read_only:
                return False
            db = log._ready()
            with connection.translated(log.path):
                if _unknown(db, _given(log, derived)):
                    return False
            before = db.execute("pragma busy_timeout").fetchone()[0]
            db.execute(f"pragma busy_timeout = {int(_PATIENCE * 1000)}")
            try:
                return scrub(log, derived=derived).complete
            finally:
                db.execute(f"pragma busy_timeout = {before}")
    except CtxlogError:
        return False


# -- derived tables -----------------------------------------------------------------------------


def _given(log: EventLog, derived: Iterable[Derived]) -> list[Stamp]:
    return [*log._stamps, *(Stamp(table) for table in derived)]


def _unknown(db: sqlite3.Connection, stamps: list[Stamp]) -> list[str]:
    """Derived names in the file that nobody gave and that no table is named like."""
    given = {stamp.table.name for stamp in stamps}
    names = [row[0] for row in db.execute("select name from derived").fetchall()]
    return [name for name in names if name not in given and not named_like(db, name)]


def named_like(db: sqlite3.Connection, name: str) -> list[str]:
    """The tables of a derived name: called like it, or so that it stands in front of a ``_``."""
    tables = db.execute(
        "select name from sqlite_schema where type = 'table' order by sql not like '%virtual%'"
    ).fetchall()
    pattern = re.compile(re.escape(name) + r"(_\w+)?")
    return [t for (t,) in tables if t not in schema.TABLES and pattern.fullmatch(t)]


def _renew(
    log: EventLog, derived: Sequence[Derived]
) -> tuple[list[tuple[int, int]], tuple[str, ...]]:
    """Empty every derived table; what reads it next fills it from the events.

    Returns the notes of the scrubs that this one answers, and the names that it cannot make anew.
    """
    with log.writing() as db:
        noted = db.execute("select id, requested_at from scrubs").fetchall()
        stamps = _given(log, derived)
        unknown = tuple(_unknown(db, stamps))
        given = {stamp.table.name for stamp in stamps}
        for (name,) in db.execute("select name from derived").fetchall():
            if name in given or name in unknown:
                continue
            for table in named_like(db, name):  # a virtual table first: it drops its shadows
                drop_table(db, table)
            db.execute("delete from derived where name = ?", (name,))
        for stamp in stamps:
            stamp.reset(db)
    for stamp in log._stamps:
        stamp.forget()
    return noted, unknown


# -- the file -----------------------------------------------------------------------------------


@contextlib.contextmanager
def _locked(log: EventLog) -> Iterator[sqlite3.Connection]:
    """The connection under the lock of the writers, outside any transaction."""
    db = log._ready()
    if log.read_only or log._lock is None:
        raise ReadOnlyLog(str(log.path))
    log._lock.acquire(log.path)
    try:
        with connection.translated(log.path):
            yield db
    finally:
        log._lock.release()


def _empty_wal(log: EventLog, db: sqlite3.Connection) -> None:
    busy = db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
    if busy:
        raise Busy(str(log.path), db.execute("pragma busy_timeout").fetchone()[0] / 1000)


def _vacuum(db: sqlite3.Connection) -> None:
    db.execute("pragma temp_store = file")
    try:
        db.execute("vacuum")
    finally:
        db.execute("pragma temp_store = memory")


_SCAN = """
import sys
def main():
    needles = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    overlap = max(map(len, needles)) - 1
    for number, path in enumerate(sys.argv[1:]):
        missing, rest = set(range(len(needles))), b""
        try:
            file = open(path, "rb")
        except FileNotFoundError:
            continue
        with file:
            while block := file.read(1 << 20):
                data = rest + block
                for index in [i for i in missing if needles[i] in data]:
                    missing.discard(index)
                    sys.stdout.write(f"{number} {index}\\n")
                rest = data[-overlap:] if overlap else b""
main()
"""


def _scan(path: Path, wanted: dict[bytes, str]) -> tuple[Residue, ...]:
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]
    needles = list(wanted)
    command = [sys.executable, "-I", "-S", "-c", _SCAN, *map(str, files)]
    try:
        # The needles go through a pipe: a command line can be read by every user of the machine.
        done = subprocess.run(
            command, input="\n".join(n.hex() for n in needles), capture_output=True, text=True
        )
    except OSError as error:
        raise DatabaseFault(f"{path} could not be read back: {error}") from None
    if done.returncode:
        detail = done.stderr.strip().rpartition("\n")[2]
        raise DatabaseFault(f"{path} could not be read back: {detail}")
    hits = (line.split() for line in done.stdout.splitlines())
    found = {Residue(files[int(file)].name, wanted[needles[int(form)]]) for file, form in hits}
    return tuple(sorted(found))
