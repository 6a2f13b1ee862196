"""The writing half of the log: the connection, the lock, and one transaction at a time.

What another process did between two transactions is noticed inside the next one (``data_version``),
and everything that this process remembered is then read anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eventlog import connection
from eventlog.derived import Derived, Stamp
from eventlog.errors import InputRefused, LogFull, OutcomeUnknown, ReadOnlyLog
from eventlog.reading import Head, Reading
from eventlog.recorded import StreamKey

_ABANDONED: list[Any] = []


class Writing(Reading):
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
        self._durability: connection.Durability = durability
        self._timeout = lock_timeout
        self._asked_read_only = read_only
        self._stamps = [Stamp(table) for table in derived]
        self._mutex = threading.RLock()
        self._closed = False
        self._create = create
        self._open()

    # -- the connection -------------------------------------------------------------------------

    def _open(self) -> None:
        fresh = connection.check_path(self.path, create=self._create and not self._asked_read_only)
        self._lock: connection.FileLock | None = None
        if not self._asked_read_only:
            try:
                lock_path = connection.lock_path(self.path)
                self._lock = connection.FileLock(lock_path, self._timeout)
            except OSError as error:
                raise ReadOnlyLog(str(self.path), str(error)) from None
        self._db, self.read_only = connection.open_connection(
            self.path,
            read_only=self._asked_read_only,
            durability=self._durability,
            timeout=self._timeout,
            fresh=fresh,
            lock=self._lock,
        )
        self._pid = os.getpid()
        self._heads: dict[StreamKey, Head] = {}
        self._sequence = 0
        self._data_version = -1
        self._reset_reading()
        with connection.translated(self.path):
            row = self._db.execute("select value from meta where key = 'log_key'").fetchone()
        self.log_key: bytes = row[0]

    def _ready(self) -> sqlite3.Connection:
        if self._closed:
            raise ReadOnlyLog(str(self.path), "the log is closed")
        if self._pid != os.getpid():
            # A connection carried across fork() must not be used, nor even closed, in the child.
            _ABANDONED.append((self._db, self._lock))
            self._mutex = threading.RLock()
            for stamp in self._stamps:
                stamp.forget()
            self._open()
        return self._db

    def close(self) -> None:
        """Close the connection. A second call does nothing."""
        with self._mutex:
            if self._closed or self._pid != os.getpid():
                return
            self._closed = True
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

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction under the lock: committed at the end, rolled back on any error.

        For this package's own writers (appends, redaction, import of an export).
        """
        with self._mutex:
            db = self._ready()
            if self.read_only or self._lock is None:
                newer = connection.newer_format(db, self.path)
                raise newer if newer is not None else ReadOnlyLog(str(self.path))
            self._lock.acquire(self.path)
            try:
                with connection.translated(self.path):
                    db.execute("begin immediate")
                try:
                    with connection.translated(self.path):
                        self._refresh(db)
                        yield db
                except BaseException as error:
                    self._rolled_back(db)
                    if isinstance(error, OutcomeUnknown):  # an I/O error before the commit
                        raise ReadOnlyLog(str(self.path), error.cause) from error
                    raise
                self._commit(db)
            finally:
                self._lock.release()

    def _commit(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("commit")
        except sqlite3.Error as error:
            fault = connection.translate(error, self.path)
            self._rolled_back(db)
            if isinstance(fault, LogFull):
                raise fault from error
            raise OutcomeUnknown(str(error)) from error

    def _rolled_back(self, db: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            if db.in_transaction:
                db.execute("rollback")
        self._data_version = -1
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
