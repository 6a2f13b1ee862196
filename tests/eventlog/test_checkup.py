"""Whether a log can be used where it lies: every state it can be in, and none of them changed."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from given import KEY, as_nobody, plain, program, said

from eventlog import EventLog, schema
from eventlog.checkup import Check, checkup
from eventlog.redaction import Target, redact


def looked(path: Path, seconds: float = 10.0) -> dict[str, Check]:
    """By their names."""
    return {check.name: check for check in checkup(path, seconds=seconds)}


def states(path: Path) -> dict[str, str]:
    """What is not well."""
    return {check.name: check.state for check in checkup(path) if check.state != "ok"}


@pytest.fixture
def closed(log: EventLog, path: Path) -> Path:
    """A log that nobody has open."""
    log.append(KEY, said("a"), said("b"))
    log.close()
    return path


class TestWell:
    """Without it nobody can tell a warning from the usual."""

    def test_a_log_that_nobody_has_open(self, closed: Path) -> None:
        found = looked(closed)
        assert states(closed) == {}
        assert found["events"].message == "2 events of 1 session"
        assert found["format"].message == str(schema.FORMAT)
        assert {"file", "permissions", "write-ahead log", "lock", "space", "integrity"} <= set(
            found
        )

    def test_nothing_is_written_and_no_file_appears(self, closed: Path) -> None:
        closed.with_name(closed.name + ".lock").unlink()
        before = (closed.read_bytes(), closed.stat().st_mtime_ns)
        looked(closed)
        assert (closed.read_bytes(), closed.stat().st_mtime_ns) == before
        assert list(closed.parent.iterdir()) == [closed]

    def test_a_log_that_this_process_has_open_keeps_its_locks(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        with log.writing() as db:
            assert states(log.path) == {"lock": "warning"}
            db.execute("insert into meta values ('x', x'')")
            other = program(
                "import sqlite3, sys\n"
                "db = sqlite3.connect(sys.argv[1], timeout=0)\n"
                "try: db.execute('begin immediate')\n"
                "except sqlite3.OperationalError: sys.exit(7)\n",
                log.path,
            )
            assert other.wait() == 7

    def test_a_log_that_is_written_to_is_well(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        assert states(log.path) == {}
        assert "KB" in looked(log.path)["write-ahead log"].message


class TestPlace:
    """Without it a log is looked for in the wrong file."""

    def test_a_missing_one(self, path: Path) -> None:
        assert states(path) == {"file": "warning"}
        assert not path.exists()

    def test_one_in_a_folder_that_is_not_there_either(self, tmp_path: Path) -> None:
        assert states(tmp_path / "a" / "b" / "log.db") == {"file": "warning"}
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("content", [b"no database at all " * 90, b"short", b"\x00" * 4096])
    def test_no_database(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        path.chmod(0o644)
        found = looked(path)
        assert "problem" in {check.state for check in found.values()}
        assert "permissions" not in found  # it is not ours to be changed
        assert path.read_bytes() == content

    def test_another_programs_database(self, path: Path) -> None:
        with plain(path) as db:
            db.execute("create table notes (text)")
        assert looked(path)["format"].state == "problem"
        assert "another program" in looked(path)["format"].message

    @pytest.mark.parametrize("kind", ["symlink", "hard link", "folder"])
    def test_what_no_log_may_be(self, closed: Path, kind: str) -> None:
        other = closed.parent / "other.db"
        if kind == "symlink":
            other.symlink_to(closed)
        elif kind == "hard link":
            os.link(closed, other)
        else:
            other.mkdir()
        assert states(other) == {"file": "problem"}

    def test_a_later_format_can_only_be_read(self, closed: Path) -> None:
        with plain(closed) as db:
            db.execute(f"pragma user_version = {schema.FORMAT + 1}")
        assert states(closed) == {"format": "warning"}
        assert "upgrade" in looked(closed)["format"].advice

    def test_an_earlier_one_is_told_what_becomes_of_it(self, closed: Path) -> None:
        with plain(closed) as db:
            db.execute("pragma user_version = 1")
        assert "the next command that writes" in looked(closed)["format"].message


class TestPermissions:
    """Without it everybody on the machine reads what an agent was told."""

    def test_a_file_that_others_can_read(self, closed: Path) -> None:
        closed.chmod(0o644)
        check = looked(closed)["permissions"]
        assert (check.state, check.advice) == ("warning", f"chmod 600 {closed}")

    def test_a_folder_in_which_others_can_replace_it(self, closed: Path) -> None:
        closed.parent.chmod(0o777)
        assert looked(closed)["permissions"].state == "problem"
        closed.parent.chmod(0o1777)
        assert looked(closed)["permissions"].state == "ok"
        closed.parent.chmod(0o700)

    def test_a_file_that_you_cannot_read(self, tmp_path: Path) -> None:
        import shutil
        import tempfile

        folder = Path(tempfile.mkdtemp())
        folder.chmod(0o755)
        with EventLog(folder / "log.db") as log:
            log.append(KEY, said("a"))
        (folder / "log.db").chmod(0o600)

        def look() -> None:
            found = looked(folder / "log.db")
            assert {found["access"].state, found["lock"].state} == {"problem"}

        try:
            assert as_nobody(look) == 0
        finally:
            shutil.rmtree(folder)


class TestOthers:
    """Without it a person does not know whom they wait for."""

    def test_a_process_that_holds_the_lock_is_named(self, closed: Path) -> None:
        lock = closed.with_name(closed.name + ".lock")
        holder = program(
            "import fcntl, sys, time\n"
            "file = open(sys.argv[1], 'r+')\n"
            "fcntl.flock(file, fcntl.LOCK_EX)\n"
            "print('held', flush=True)\n"
            "time.sleep(60)\n",
            lock,
            stdout=subprocess.PIPE,
        )
        try:
            assert holder.stdout is not None
            holder.stdout.readline()
            check = looked(closed)["lock"]
            assert check.state == "warning"
            assert f"process {holder.pid}" in check.message
        finally:
            holder.kill()
            holder.communicate()

    def test_the_lock_is_left_as_it_was(self, closed: Path) -> None:
        looked(closed)
        descriptor = os.open(closed.with_name(closed.name + ".lock"), os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)

    def test_a_program_that_locked_it_for_itself(self, closed: Path) -> None:
        db = sqlite3.connect(closed, isolation_level=None)
        try:
            db.execute("pragma locking_mode=exclusive")
            db.execute("begin exclusive")
            db.execute("insert into meta values ('x', x'')")
            assert looked(closed)["access"].state == "problem"
        finally:
            db.close()

    def test_a_write_ahead_log_that_a_reader_holds(
        self, closed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("eventlog.checkup.LARGE_WAL", 50_000)
        reader = program(
            "import sqlite3, sys, time\n"
            "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "db.execute('begin')\n"
            "db.execute('select count(*) from events').fetchone()\n"
            "print('reading', flush=True)\n"
            "time.sleep(60)\n",
            closed,
            stdout=subprocess.PIPE,
        )
        try:
            assert reader.stdout is not None
            reader.stdout.readline()
            with EventLog(closed, durability="normal") as log:
                log.append(KEY, *(said("x" * 900) for _ in range(100)))
            check = looked(closed)["write-ahead log"]
            assert check.state == "warning"
            assert f"process {reader.pid}" in check.message
        finally:
            reader.kill()
            reader.communicate()


class TestContent:
    """Without it damage is found on the day when the log is needed."""

    def test_damage(self, log: EventLog, path: Path) -> None:
        log.append(KEY, *(said("x" * 900) for _ in range(200)))
        log.close()
        data = bytearray(path.read_bytes())
        for page in range(3, len(data) // 4096):
            data[page * 4096 : page * 4096 + 16] = b"\xff" * 16
        path.write_bytes(data)
        assert looked(path)["integrity"].state == "problem"
        assert "backup" in looked(path)["integrity"].advice

    def test_a_trigger_that_is_gone(self, closed: Path) -> None:
        with plain(closed) as db:
            db.execute("drop trigger events_update")
        assert states(closed) == {"schema": "problem"}

    def test_an_erasure_that_is_not_finished(self, log: EventLog) -> None:
        log.append(KEY, said("secret"))
        redact(log, [Target(KEY, 1)], stream=KEY)
        assert states(log.path) == {"erasure": "warning"}

    def test_a_look_that_takes_too_long_says_so(self, log: EventLog) -> None:
        log.append(KEY, *(said("x" * 900) for _ in range(2_000)))
        check = looked(log.path, seconds=0)["integrity"]
        assert (check.state, "did not end" in check.message) == ("ok", True)

    def test_a_disk_that_is_almost_full(
        self, closed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("eventlog.checkup.LITTLE_SPACE", 1 << 60)
        assert states(closed) == {"space": "problem"}
        monkeypatch.setattr("eventlog.checkup.LITTLE_SPACE", 0)
        monkeypatch.setattr("eventlog.checkup.LEAST_SPACE", 1 << 60)
        assert states(closed) == {"space": "warning"}
