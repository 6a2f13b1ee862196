"""A glance at a log: whole and true, or none."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from eventlog import EventLog, RecordedEvent, StreamKey
from eventlog.events import SessionStarted, SessionTitled
from eventlog.glance import glance
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub

KEY = StreamKey("ann", "coder", "s1")


class Counted:
    """A derived table that counts events."""

    name, version = "counted", 3

    def create(self, connection: sqlite3.Connection) -> None:
        connection.execute("drop table if exists counted")
        connection.execute("create table counted (sequence integer primary key) strict")

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        rows = [(event.sequence,) for event in events]
        connection.executemany("insert or replace into counted values (?)", rows)
        return True

    def forget(self) -> None:
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log whose table holds all of it."""
    path = tmp_path / "log.db"
    with EventLog(path) as log:
        log.append(KEY, SessionStarted(title="secret"), SessionTitled(title="t"))
        log.catch_up(Counted())
    return path


def counted(path: Path, version: int = 3) -> int | None:
    """How many events the table holds; None where there is no glance."""
    with glance(path, "counted", version) as db:
        if db is None:
            return None
        return int(db.execute("select count(*) from counted").fetchone()[0])


class TestWhole:
    """Without these a list shows what was, or what never will be."""

    def test_a_table_that_holds_the_whole_log_is_read(self, path: Path) -> None:
        assert counted(path) == 2

    def test_one_that_lacks_an_event_is_not(self, path: Path) -> None:
        with EventLog(path) as log:
            log.append(KEY, SessionTitled(title="more"))
            assert counted(path) is None
            log.catch_up(Counted())
            assert counted(path) == 3

    def test_nor_one_of_another_version_or_under_another_name(self, path: Path) -> None:
        assert counted(path, version=4) is None
        with glance(path, "other", 3) as db:
            assert db is None

    def test_nor_while_erased_text_waits_for_its_scrub(self, path: Path) -> None:
        with EventLog(path) as log:
            redact(log, [Target(KEY, 1)], stream=KEY)
            log.catch_up(Counted())
            assert counted(path) is None
            scrub(log)
            log.catch_up(Counted())
            assert counted(path) == 3

    def test_it_is_one_picture_while_others_write(self, path: Path) -> None:
        with glance(path, "counted", 3) as db, EventLog(path) as log:
            assert db is not None
            log.append(KEY, SessionTitled(title="more"))
            log.catch_up(Counted())
            assert db.execute("select count(*) from counted").fetchone() == (2,)
            assert db.execute("select max(sequence) from events").fetchone() == (2,)


class TestUntouched:
    """Without these a look at a file changes it, or fails where opening it would tell why."""

    def test_nothing_can_be_written(self, path: Path) -> None:
        with glance(path, "counted", 3) as db:
            assert db is not None
            with pytest.raises(sqlite3.OperationalError):
                db.execute("delete from counted")

    def test_what_is_no_log_gives_no_glance_and_stays_as_it_is(self, tmp_path: Path) -> None:
        foreign = tmp_path / "foreign.db"
        with sqlite3.connect(foreign) as db:
            db.execute("create table t (x)")
        db.close()
        for name, content in (("empty", b""), ("text", b"x" * 600), ("short", b"x")):
            (tmp_path / name).write_bytes(content)
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(foreign)
        os.mkfifo(tmp_path / "pipe")
        before = {file.name for file in tmp_path.iterdir()}
        for name in (*before, "missing", "missing/deep"):
            assert counted(tmp_path / name) is None
        assert {file.name for file in tmp_path.iterdir()} == before

    def test_a_copy_that_is_in_no_wal_mode_or_damaged_gives_none(
        self, path: Path, tmp_path: Path
    ) -> None:
        still = tmp_path / "still.db"
        shutil.copy(path, still)
        with sqlite3.connect(still) as db:
            db.execute("pragma journal_mode=delete")
        db.close()
        assert counted(still) is None
        torn = tmp_path / "torn.db"
        torn.write_bytes(path.read_bytes()[:5000])
        assert counted(torn) is None

    def test_no_event_class_is_loaded_for_it(self, path: Path) -> None:
        """What this costs is why there is a glance at all."""
        code = (
            "import sys; from pathlib import Path; from eventlog.glance import glance\n"
            "with glance(Path(sys.argv[1]), 'counted', 3) as db:\n"
            "    assert db.execute('select count(*) from counted').fetchone() == (2,)\n"
            "heavy = ('pydantic', 'eventlog.events', 'sqlite_utils')\n"
            "print([name for name in heavy if name in sys.modules])"
        )
        root = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "[]\n"
