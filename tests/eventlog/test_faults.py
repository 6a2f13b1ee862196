"""What the disk does to a writer: no space, a commit that fails, a file that goes away."""

from __future__ import annotations

import resource
import signal
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import pytest
from given import KEY, OTHER, dump, in_child, said, texts
from own_chain import recompute

from eventlog import Draft, EventLog
from eventlog.errors import (
    DatabaseFault,
    LogFull,
    OutcomeUnknown,
    UnsafePath,
)


class TestNoSpace:
    """Without it a full disk leaves half an append, or stops logging for good."""

    @pytest.fixture
    def full(self, log: EventLog) -> EventLog:
        log.append(KEY, said("before"))
        with log.writing() as db:
            pages = db.execute("pragma page_count").fetchone()[0]
            db.execute(f"pragma max_page_count={pages}")
        return log

    def test_it_is_log_full_and_nothing_is_written(self, full: EventLog) -> None:
        before = dump(full)
        for _ in range(3):
            with pytest.raises(LogFull):
                full.append(KEY, said("x" * 50_000), said("y"))
            with pytest.raises(LogFull):
                full.append(OTHER, said("z" * 50_000))
        assert dump(full) == before
        assert not full.exists(OTHER)

    def test_the_next_append_works_when_there_is_space(self, full: EventLog) -> None:
        draft = Draft(said("x" * 50_000), id=uuid.uuid4())
        with pytest.raises(LogFull):
            full.append(KEY, draft)
        full._ready().execute("pragma max_page_count=1000000")
        assert full.append(KEY, draft, expected_version=1) == (2, 2, False)
        assert full.append(KEY, draft) == (2, 2, True)
        full.close()
        assert recompute(full.path) == []

    def test_a_write_that_the_system_refuses_is_a_typed_error(self, path: Path) -> None:
        with EventLog(path, durability="normal") as log:
            log.append(KEY, said("before"))

        def child() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            draft = Draft(said("x" * 300_000), id=uuid.uuid4())
            with EventLog(path, durability="normal") as log:
                resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
                for _ in range(2):
                    with pytest.raises((DatabaseFault, OutcomeUnknown)):
                        log.append(KEY, draft)
                resource.setrlimit(
                    resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                )
                assert log.append(KEY, draft).first == 2
                assert log.append(KEY, said("after")).first == 3

        assert in_child(child) == 0
        assert recompute(path) == []


class TestUnknownOutcome:
    """Without it a commit that failed halfway would be reported as refused, and retried as new."""

    def test_a_failed_commit_is_neither_done_nor_refused(self, log: EventLog) -> None:
        log.append(KEY, said())
        draft = Draft(said("once"), id=uuid.uuid4())

        class Failing:
            """The connection, whose next COMMIT happens and then reports an I/O error."""

            def __init__(self, real: sqlite3.Connection) -> None:
                self._real = real

            def __getattr__(self, name: str) -> Any:
                return getattr(self._real, name)

            def execute(self, sql: str, *arguments: Any) -> Any:
                done = self._real.execute(sql, *arguments)
                if sql == "commit":
                    raise sqlite3.OperationalError("disk I/O error")
                return done

        real = log._db
        log._db = Failing(real)  # type: ignore[assignment]
        with pytest.raises(OutcomeUnknown, match="disk I/O error"):
            log.append(KEY, draft)
        log._db = real
        assert log.append(KEY, draft) == (2, 2, True)
        assert texts(log.read(KEY)) == ["hello", "once"]


class TestAFileThatWentAway:
    """Without it an agent would go on logging into a deleted file, and nobody would know."""

    def test_appending_to_a_removed_file_is_refused(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said())
        path.unlink()
        with pytest.raises(UnsafePath, match="moved, deleted or replaced"):
            log.append(KEY, said())

    def test_appending_to_a_replaced_file_is_refused(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said())
        path.rename(path.with_name("old.db"))
        path.touch()
        with pytest.raises(UnsafePath, match="moved, deleted or replaced"):
            log.append(KEY, said())
        assert path.stat().st_size == 0
