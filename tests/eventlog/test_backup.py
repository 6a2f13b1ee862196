"""A copy of the log: proved, private, whole or not there, and without what was erased."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from given import KEY, OTHER, dump, in_child, plain, program, said

from eventlog import EventLog, RecordedEvent, schema
from eventlog.backup import backup
from eventlog.errors import CtxlogError, InputRefused, IntegrityFault
from eventlog.integrity import head, verify
from eventlog.redaction import Target, redact

SECRET = "swordfish-4711"


@pytest.fixture
def filled(log: EventLog) -> EventLog:
    log.append(KEY, *(said(f"{number} " + "x" * 400) for number in range(200)))
    log.append(OTHER, said("QUJD" * 9000))
    return log


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "copies" / "copy.db"


@pytest.fixture(autouse=True)
def folder(copy: Path) -> Iterator[Path]:
    """The folder of the copy, in which nothing else is ever left."""
    copy.parent.mkdir()
    yield copy.parent
    assert not [each for each in copy.parent.iterdir() if each.name.endswith(("-journal", "-wal"))]


class TestCopy:
    """Without it a copy made by `cp` lacks what stands in the write-ahead log."""

    def test_it_is_the_log(self, filled: EventLog, copy: Path) -> None:
        made = backup(filled, copy)
        with EventLog(copy, read_only=True) as other:
            assert dump(other) == dump(filled)
            assert head(other) == head(filled) == made.head
            assert verify(other).ok
        assert (made.events, made.streams, made.size) == (201, 2, copy.stat().st_size)
        assert list(copy.parent.iterdir()) == [copy]

    def test_what_a_killed_one_left_is_removed_and_one_under_way_is_not(
        self, filled: EventLog, copy: Path
    ) -> None:
        left = [copy.with_name(f".{copy.name}.{name}.part") for name in ("0badcafe", "0ddba115")]
        others = [copy.with_name(n) for n in (f".{copy.name}.part", f".x{copy.name}.0badcafe.part")]
        for each in (*left, *others, left[0].with_name(left[0].name + "-journal")):
            each.write_text("an order id that was erased since")
        with left[1].open() as under_way:
            fcntl.flock(under_way, fcntl.LOCK_EX)
            backup(filled, copy)
        assert sorted(copy.parent.iterdir()) == sorted([copy, left[1], *others])
        backup(filled, copy, replace=True)
        assert sorted(copy.parent.iterdir()) == sorted([copy, *others])

    def test_it_is_private_and_guarded_like_the_log(self, filled: EventLog, copy: Path) -> None:
        before = os.umask(0)
        try:
            backup(filled, copy)
        finally:
            os.umask(before)
        assert copy.stat().st_mode & 0o777 == 0o600
        assert copy.read_bytes()[68:72] == b"ctxl"
        with plain(copy) as db:
            assert schema.definitions(db) == schema.expected()
            with pytest.raises(sqlite3.IntegrityError, match="immutable"):
                db.execute("update events set payload = '{}' where sequence = 1")

    def test_it_goes_on_as_a_log_of_its_own(self, filled: EventLog, copy: Path) -> None:
        backup(filled, copy)
        before = head(filled)
        with EventLog(copy) as other:
            other.append(KEY, said("more"))
            assert other.version(KEY) == 201
        assert (filled.version(KEY), head(filled)) == (200, before)
        for suffix in (".lock",):
            copy.with_name(copy.name + suffix).unlink()

    def test_progress_is_told_for_both_halves(self, filled: EventLog, copy: Path) -> None:
        told: list[tuple[str, int, int]] = []
        backup(filled, copy, progress=lambda *one: told.append(one))
        assert {what for what, _, _ in told} >= {"verify"}
        assert told[-1] == ("verify", 201, 201)
        assert all(done <= of for _, done, of in told)

    def test_others_write_meanwhile(self, filled: EventLog, copy: Path) -> None:
        writer = program(
            "import sys\n"
            "from eventlog import EventLog, StreamKey\n"
            "from eventlog.events import TaskClassified\n"
            "with EventLog(sys.argv[1], durability='normal') as log:\n"
            "    key = StreamKey('ann', 'coder', 's1')\n"
            "    print('begun', flush=True)\n"
            "    while True:\n"
            "        log.append(key, *[TaskClassified(task_type='x')] * 5)\n",
            filled.path,
            stdout=subprocess.PIPE,
        )
        try:
            assert writer.stdout is not None
            writer.stdout.readline()
            for number in range(5):
                made = backup(filled, copy, replace=bool(number))
                assert made.events >= 201
                assert (made.events - 201) % 5 == 0
        finally:
            writer.kill()
            writer.communicate()


class TestErased:
    """Without it a secret that was erased for good lives on in every backup."""

    def test_what_a_scrub_has_not_reached_yet_is_not_in_it(
        self, tmp_path: Path, copy: Path
    ) -> None:
        class Words:
            """Full text, as a search would keep it; nothing empties it but a scrub."""

            name, version = "words", 1

            def create(self, connection: sqlite3.Connection) -> None:
                connection.execute("drop table if exists words")
                connection.execute("create table words (text text)")

            def apply(
                self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]
            ) -> bool:
                rows = [(event.payload,) for event in events]
                connection.executemany("insert into words values (?)", rows)
                return True

            def forget(self) -> None:
                """Nothing is in memory."""

        with EventLog(tmp_path / "own.db", derived=[Words()]) as log:
            log.append(KEY, said(f"the key is {SECRET}"), said("fine"))
            backup(log, copy)
            assert SECRET.encode() in copy.read_bytes()  # the control
            redact(log, [Target(KEY, 1)], stream=KEY)
            made = backup(log, copy, replace=True)
            assert made.without_derived
            assert made.head == head(log)
        assert SECRET.encode() not in copy.read_bytes()
        with EventLog(copy, derived=[Words()]) as other:
            other.catch_up()
            assert other.query("select count(*) from words").fetchone() == (3,)
        copy.with_name(copy.name + ".lock").unlink()

    def test_what_an_unknown_program_derived_is_not_copied_while_it_may_hold_it(
        self, filled: EventLog, copy: Path
    ) -> None:
        with filled.writing() as db:
            db.execute("insert into derived values ('stranger', 1, 1, x'')")
        redact(filled, [Target(KEY, 1)], stream=KEY)
        with pytest.raises(InputRefused, match="stranger"):
            backup(filled, copy)
        assert not list(copy.parent.iterdir())


class TestName:
    """Without it a backup can cost the one that was made before, or the log itself."""

    def test_what_stands_there_is_not_replaced_unless_that_is_asked_for(
        self, filled: EventLog, copy: Path
    ) -> None:
        copy.write_text("mine")
        with pytest.raises(InputRefused, match="--force"):
            backup(filled, copy)
        assert copy.read_text() == "mine"
        backup(filled, copy, replace=True)
        assert copy.read_bytes()[68:72] == b"ctxl"

    def test_a_file_that_came_meanwhile_is_not_replaced_either(
        self, filled: EventLog, copy: Path
    ) -> None:
        def meanwhile(what: str, done: int, of: int) -> None:
            if what == "verify":
                copy.write_text("mine")

        with pytest.raises(InputRefused, match="exists"):
            backup(filled, copy, progress=meanwhile)
        assert (copy.read_text(), list(copy.parent.iterdir())) == ("mine", [copy])

    def test_a_link_is_replaced_and_what_it_names_stays(self, filled: EventLog, copy: Path) -> None:
        named = copy.parent / "named"
        named.write_text("mine")
        copy.symlink_to(named)
        with pytest.raises(InputRefused):
            backup(filled, copy)
        backup(filled, copy, replace=True)
        assert (named.read_text(), copy.is_symlink()) == ("mine", False)

    @pytest.mark.parametrize("suffix", ["", "-wal", "-shm", ".lock"])
    def test_the_logs_own_files_are_no_place(self, filled: EventLog, suffix: str) -> None:
        own = filled.path.with_name(filled.path.name + suffix)
        with pytest.raises(InputRefused, match="belongs to the log"):
            backup(filled, own, replace=True)
        assert verify(filled).ok

    def test_nor_is_a_second_name_of_it(self, filled: EventLog, copy: Path) -> None:
        copy.symlink_to(filled.path)
        with pytest.raises(InputRefused, match="belongs to the log"):
            backup(filled, copy, replace=True)

    def test_nor_a_place_with_somebodys_write_ahead_log(self, filled: EventLog, copy: Path) -> None:
        beside = copy.with_name(copy.name + "-wal")
        beside.write_text("of another database")
        with pytest.raises(InputRefused, match="mixed"):
            backup(filled, copy)
        beside.unlink()

    @pytest.mark.parametrize("name", [".", ""])
    def test_nor_a_folder(self, filled: EventLog, copy: Path, name: str) -> None:
        with pytest.raises(InputRefused, match="folder"):
            backup(filled, copy.parent / name)

    def test_where_there_is_no_folder_that_is_said(self, filled: EventLog, copy: Path) -> None:
        with pytest.raises(OSError, match="no folder"):
            backup(filled, copy.parent / "none" / "copy.db")


class TestFaults:
    """Without it half a copy is taken for one, on the day when it is needed."""

    def test_a_log_that_does_not_verify_gives_no_copy(self, filled: EventLog, copy: Path) -> None:
        with plain(filled.path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set payload = '{}' where sequence = 7")
        with pytest.raises(IntegrityFault, match="does not verify"):
            backup(filled, copy)
        assert not list(copy.parent.iterdir())

    def test_a_killed_one_leaves_no_file_of_that_name(self, filled: EventLog, copy: Path) -> None:
        killed = program(
            "import os, sys, time\n"
            "from eventlog import EventLog\n"
            "from eventlog.backup import backup\n"
            "def stop(what, done, of):\n"
            "    print(what, flush=True)\n"
            "    time.sleep(60)\n"
            "with EventLog(sys.argv[1], read_only=True) as log:\n"
            "    backup(log, sys.argv[2], progress=stop)\n",
            filled.path,
            copy,
            stdout=subprocess.PIPE,
        )
        assert killed.stdout is not None
        assert killed.stdout.readline().strip() in ("copy", "verify")
        killed.kill()
        killed.communicate()
        left = list(copy.parent.iterdir())
        assert not copy.exists()
        assert {each.name.partition(".part")[2] for each in left} <= {"", "-journal"}
        assert {each.stat().st_mode & 0o777 for each in left} == {0o600}
        for each in left:
            each.unlink()
        assert backup(filled, copy).events == 201
        assert verify(filled).ok

    @pytest.mark.parametrize("during", ["copy", "verify"])
    def test_one_that_is_stopped_leaves_nothing(
        self, tmp_path: Path, copy: Path, during: str
    ) -> None:
        def stop(what: str, done: int, of: int) -> None:
            if what == during:
                os.kill(os.getpid(), signal.SIGINT)

        with EventLog(tmp_path / "large.db", durability="normal") as log:
            log.append(KEY, *(said(f"{number} " + "x" * 9000) for number in range(400)))
            with pytest.raises(KeyboardInterrupt):
                backup(log, copy, progress=stop)
        assert not list(copy.parent.iterdir())

    def test_a_full_disk_is_told_and_leaves_nothing(self, filled: EventLog, copy: Path) -> None:
        path = filled.path
        filled.close()

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
            with EventLog(path, read_only=True) as log, pytest.raises(CtxlogError) as refused:
                backup(log, copy)
            assert str(copy) in str(refused.value)
            assert ".part" not in str(refused.value)

        assert in_child(limited) == 0
        assert not list(copy.parent.iterdir())
