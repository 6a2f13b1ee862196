"""The writing half of the log: the connection, the lock, and one transaction at a time.

What another process did between two transactions is noticed inside the next one (``data_version``),
and everything that this process remembered is then read anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eventlog import connection
from eventlog.derived import Derived, Stamp
from eventlog.errors import (
    DamagedLog,
    DiskFault,
    InputRefused,
    LogClosed,
    LogFull,
    OutcomeUnknown,
    ReadOnlyLog,
    UnsafePath,
)
from eventlog.picking import Picking
from eventlog.reading import Head
from eventlog.recorded import StreamKey

_ABANDONED: list[Any] = []
_OPEN: weakref.WeakSet[Writing] = weakref.WeakSet()


class Writing(Picking):
    """A connection to the log that can write; ``EventLog`` says what."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        derived: Sequence[Derived] = (),
        *,
        durability: connection.Durability = "full",
        lock_timeout: float = 30.0,
        read_only: bool = False,
        create: bool = True,
    ) -> None:
        if durability not in ("full", "normal"):
            raise InputRefused(f"durability is 'full' or 'normal', not {durability!r}")
        self.path = Path(path)
        self._absolute = self.path.absolute()
        self._durability: connection.Durability = durability
        self._timeout = lock_timeout
        self._asked_read_only = read_only
        self._stamps = [Stamp(table) for table in derived]
        self._mutex = threading.RLock()
        self._closed = False
        self._create = create
        self._open()
        _OPEN.add(self)

    # -- the connection -------------------------------------------------------------------------

    def _open(self) -> None:
        fresh = connection.check_path(self.path, create=self._create and not self._asked_read_only)
        self._lock: connection.FileLock | None = None
        if not self._asked_read_only:
            self._lock = connection.FileLock(connection.lock_path(self.path), self._timeout)
        try:
            self._db, self.read_only = self._connected(fresh)
        except BaseException:
            if self._lock is not None:
                self._lock.close()
            raise
        self._pid = os.getpid()
        self._relaxed = False
        self._heads: dict[StreamKey, Head] = {}
        self._sequence = 0
        self._data_version = -1
        self._reset_reading()
        try:
            self._file = _identity(self.path)
            with connection.translated(self.path):
                row = self._db.execute("select value from meta where key = 'log_key'").fetchone()
            if row is None:
                raise DamagedLog(str(self.path), "it has no key")
        except BaseException:
            self._db.close()
            if self._lock is not None:
                self._lock.close()
            raise
        self.log_key: bytes = row[0]

    def _connected(self, fresh: bool) -> tuple[sqlite3.Connection, bool]:
        self.is_still = False

        def connected(still: bool = False) -> tuple[sqlite3.Connection, bool]:
            return connection.open_connection(
                self.path,
                read_only=self._asked_read_only,
                durability=self._durability,
                timeout=self._timeout,
                fresh=fresh,
                lock=None if self._asked_read_only else self._lock,
                still=still,
            )

        try:
            return connected()
        except (LogFull, DiskFault):
            if not self._asked_read_only or not self._is_still():
                raise
            self.is_still = True
            return connected(still=True)

    def _is_still(self) -> bool:
        """Whether nobody writes, nor will while this is open: on a full disk SQLite cannot make the
        index that readers share with writers, and the file can be read without it."""
        self._lock = connection.FileLock(connection.lock_path(self.path), 0)
        try:
            self._lock.open()
        except OSError:
            return False
        return self._lock.attempt() and not connection.written_last(self.path)

    def _ready(self) -> sqlite3.Connection:
        if self._closed:
            raise LogClosed(str(self.path))
        if self._pid != os.getpid():
            for stamp in self._stamps:
                stamp.forget()
            self.path = self._absolute  # the child may have gone to another folder
            self._open()
        return self._db

    def _forked(self) -> None:
        """In a child: leave the parent's connection alone; the next use opens an own one.

        The mutex may be held by a thread that does not exist here. The lock's descriptor is shared
        with the parent: open here, it would keep the lock of a parent that dies.
        """
        self._mutex = threading.RLock()
        if self._pid != os.getpid():
            _ABANDONED.append(self._db)  # SQLite: not even to be closed
            if self._lock is not None:
                self._lock.close()

    def close(self) -> None:
        """Close the connection. A second call does nothing."""
        with self._mutex:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
            if self._lock is not None:
                self._lock.attempt()  # the last connection checkpoints when it closes
            self._db.close()
            if self._lock is not None:
                self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_in_place(self) -> bool:
        """Whether the file still stands where it was opened: not moved, deleted or replaced."""
        return _identity(self.path) == self._file

    @contextlib.contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One write transaction under the lock: committed at the end, rolled back on any error.

        Without ``durable`` it may be lost when the power fails, until the next durable one; a
        process that is killed loses nothing.

        For this package's own writers (appends, redaction, import of an export). Raises
        InputRefused inside itself, and UnsafePath when the file was moved away meanwhile.
        """
        with self._mutex:
            db = self._ready()
            if self.read_only or self._lock is None:
                newer = connection.newer_format(db, self.path)
                raise newer if newer is not None else ReadOnlyLog(str(self.path))
            if db.in_transaction:
                raise InputRefused("the log is written inside a write transaction of its own")
            committing = False
            try:  # an interrupt may come between any two steps: all of them stand inside
                self._lock.acquire(self.path)
                if not self.is_in_place:
                    raise UnsafePath(str(self.path), "it was moved, deleted or replaced while open")
                if durable is self._relaxed:
                    self._relax(db, not durable)
                db.execute("begin immediate")
                self._refresh(db)
                yield db
                committing = True
                db.execute("commit")
            except BaseException as error:
                self._rolled_back(db)
                if not isinstance(error, sqlite3.Error | UnicodeDecodeError):
                    raise
                fault = connection.translate(error, self.path, self._timeout)
                if committing and not isinstance(fault, LogFull):
                    fault = OutcomeUnknown(str(error))
                raise fault from error
            finally:
                try:
                    self._lock.release()
                except BaseException:  # an interrupt just here
                    self._lock.release()
                    raise

    def _relax(self, db: sqlite3.Connection, relaxed: bool) -> None:
        """Whether a commit may be lost when the power fails. Outside of a transaction."""
        if self._durability == "full":
            db.execute(f"pragma synchronous={'normal' if relaxed else 'full'}")
        self._relaxed = relaxed

    def _rolled_back(self, db: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            if db.in_transaction:
                db.execute("rollback")
        self._data_version = -1
        self._reset_reading()
        self._heads.clear()
        self._reset_reading()
        for stamp in self._stamps:
            stamp.forget()

    def _refresh(self, db: sqlite3.Connection) -> None:
        """Forget what another process may have changed. Inside the write transaction."""
        version = db.execute("pragma data_version").fetchone()[0]
        if version == self._data_version:
            return
        self._data_version = version
        self._heads.clear()
        self._reset_reading()
        for stamp in self._stamps:
            stamp.forget()
        row = db.execute("select max(sequence) from events").fetchone()
        self._sequence = row[0] or 0


def _identity(path: Path) -> tuple[int, int]:
    """Which file stands at the path now; (0, 0) when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


_FORKING = threading.local()
_FORK_PATIENCE = 2.0
"""Seconds; no transaction but that of a large import takes so long."""


def _before_fork() -> None:
    """Wait for transactions of other threads: SQLite keeps what it has locked in memory.

    A child that is made in the middle of one would believe for ever that it is still under way,
    and could read but not write. So could one that is made of a thread which waits longer.
    """
    _FORKING.held = held = []
    deadline = time.monotonic() + _FORK_PATIENCE
    for log in sorted(_OPEN, key=id):  # always in one order, whoever forks
        if log._mutex.acquire(timeout=max(0.0, deadline - time.monotonic())):
            held.append(log._mutex)


def _after_fork() -> None:
    for mutex in reversed(_FORKING.held):
        mutex.release()
    _FORKING.held = []


def _after_fork_in_child() -> None:
    _after_fork()
    for log in list(_OPEN):
        log._forked()


os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
)
