"""Opening: what is not a log is left alone, and what is one is nobody else's to read."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from given import KEY, as_nobody, in_child, plain, program, said, texts

from eventlog import EventLog, connection, schema
from eventlog.errors import (
    Busy,
    DamagedLog,
    DatabaseFault,
    LogNotFound,
    NewerFormat,
    NotALog,
    ReadOnlyLog,
    UnsafePath,
)


def modes(folder: Path) -> dict[str, str]:
    return {p.name: oct(stat.S_IMODE(p.stat().st_mode)) for p in folder.iterdir()}


class TestModes:
    """Without it a transcript with secrets in it can be read by every user of the machine."""

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
    def test_every_file_is_the_owner_s_alone(self, tmp_path: Path, umask: int) -> None:
        old = os.umask(umask)
        try:
            with EventLog(tmp_path / "new" / "log.db") as log:
                log.append(KEY, said())
                assert modes(tmp_path / "new") == {
                    "log.db": "0o600",
                    "log.db-wal": "0o600",
                    "log.db-shm": "0o600",
                    "log.db.lock": "0o600",
                }
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


class TestWhatIsNoLog:
    """Without it somebody's browser history gets our tables, or a link leads a write elsewhere."""

    def untouched(self, path: Path, error: type[DatabaseFault]) -> str:
        before = path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
        with pytest.raises(error) as caught:
            EventLog(path)
        with pytest.raises(DatabaseFault):
            EventLog(path, read_only=True)
        after = path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
        assert after == before
        return str(caught.value)

    def test_another_program_s_database_is_left_alone(self, path: Path) -> None:
        with plain(path) as db:
            db.execute("create table moz_places (url)")
        assert "another program" in self.untouched(path, NotALog)

    def test_so_is_one_with_only_an_application_id(self, path: Path) -> None:
        with plain(path) as db:
            db.execute("pragma application_id = 1234")
        self.untouched(path, NotALog)

    def test_so_is_one_with_only_a_version(self, path: Path) -> None:
        with plain(path) as db:
            db.execute("pragma user_version = 1")
        self.untouched(path, NotALog)

    @pytest.mark.parametrize("size", [1, 2, 50, 99, 100, 511, 512, 5000])
    def test_garbage_is_left_alone(self, path: Path, size: int) -> None:
        path.write_bytes(bytes(n * 7 % 251 + 1 for n in range(size)))
        self.untouched(path, NotALog)

    def test_a_text_file_is_left_alone(self, path: Path) -> None:
        path.write_text('{"type": "user"}\n' * 100)
        assert "not an SQLite file" in self.untouched(path, NotALog)

    def test_a_symbolic_link_is_refused_even_to_a_log(self, path: Path, tmp_path: Path) -> None:
        with EventLog(tmp_path / "real.db") as log:
            log.append(KEY, said())
        path.symlink_to(tmp_path / "real.db")
        assert "symbolic link" in self.untouched(path, UnsafePath)

    def test_a_dangling_link_creates_nothing(self, path: Path, tmp_path: Path) -> None:
        path.symlink_to(tmp_path / "elsewhere.db")
        with pytest.raises(UnsafePath):
            EventLog(path)
        assert not (tmp_path / "elsewhere.db").exists()

    def test_a_link_in_the_place_of_the_lock_is_not_followed(
        self, path: Path, tmp_path: Path
    ) -> None:
        connection.lock_path(path).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ReadOnlyLog):
            EventLog(path)
        assert not (tmp_path / "elsewhere").exists()

    def test_a_second_name_of_a_log_is_refused(self, path: Path, tmp_path: Path) -> None:
        with EventLog(tmp_path / "real.db") as log:
            log.append(KEY, said())
        os.link(tmp_path / "real.db", path)
        assert "hard link" in self.untouched(path, UnsafePath)

    def test_folders_pipes_and_devices_are_no_logs(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for place in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
            with pytest.raises(NotALog, match="not a regular file"):
                EventLog(place)

    @pytest.mark.parametrize("name", ["a\0b.db", "x" * 300 + ".db", "file/log.db"])
    def test_a_path_that_cannot_be_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(UnsafePath):
            EventLog(f"{tmp_path}/{name}")

    @pytest.mark.parametrize("name", ["a?mode=memory.db", "50%25.db", "a#b.db", "ü ö.db"])
    def test_any_name_a_file_may_have_is_that_file(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / name) as log:
            log.append(KEY, said())
        assert (tmp_path / name).stat().st_size > 0
        assert sorted(modes(tmp_path)) == sorted([name, f"{name}.lock"])

    def test_a_network_file_system_is_refused_by_name(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mounts = f"/dev/vda / ext4 rw 0 0\nserver:/x {path.parent} nfs4 rw 0 0\n"
        real = Path.read_text

        def read(self: Path, *args: object, **options: object) -> str:
            return mounts if str(self) == "/proc/self/mounts" else real(self)

        monkeypatch.setattr(Path, "read_text", read)
        with pytest.raises(UnsafePath, match="nfs4"):
            EventLog(path)
        assert list(path.parent.iterdir()) == []


class TestAnEmptyFile:
    """Without it a process killed while it made its log could never open it again."""

    def test_it_becomes_a_log(self, path: Path) -> None:
        path.touch(0o600)
        with EventLog(path) as log:
            log.append(KEY, said())
        with EventLog(path, create=False) as log:
            assert log.version(KEY) == 1

    def test_a_reader_leaves_it_and_says_why(self, path: Path) -> None:
        path.touch(0o600)
        with pytest.raises(NotALog, match="empty"):
            EventLog(path, read_only=True)
        assert path.stat().st_size == 0


class TestNoFile:
    """Without it a mistyped path makes a new, empty log, and the history seems to be gone."""

    def test_only_a_writer_that_may_create_creates(self, path: Path) -> None:
        for options in ({"create": False}, {"read_only": True}):
            with pytest.raises(LogNotFound) as caught:
                EventLog(path, **options)  # type: ignore[arg-type]
            assert caught.value.path == str(path)
        assert list(path.parent.iterdir()) == []

    def test_a_folder_that_cannot_be_made_is_a_typed_error(self) -> None:
        with pytest.raises(UnsafePath):
            EventLog("/proc/nowhere/log.db")

    def test_eight_processes_may_make_it_together(self, path: Path) -> None:
        code = """
import sys
from eventlog import EventLog
sys.path.append("tests/eventlog")
from given import KEY, said
with EventLog(sys.argv[1], durability="normal") as log:
    log.append(KEY, said(sys.argv[2]))
"""
        started = [program(code, path, n, stderr=-1) for n in range(8)]
        errors = [p.communicate(timeout=60)[1] for p in started]
        assert [p.returncode for p in started] == [0] * 8, errors
        with EventLog(path, read_only=True) as log:
            assert sorted(texts(log.read(KEY))) == [str(n) for n in range(8)]

    @pytest.mark.parametrize("attempts", [4, pytest.param(40, marks=pytest.mark.slow)])
    def test_forked_writers_find_the_log_at_any_moment_of_its_making(
        self, attempts: int, tmp_path: Path
    ) -> None:
        EventLog(tmp_path / "first.db").close()  # what is imported late is there before the race
        for attempt in range(attempts):
            path = tmp_path / f"{attempt}.db"
            children = []
            for _ in range(8):
                pid = os.fork()
                if pid == 0:
                    with contextlib.suppress(BaseException):
                        with EventLog(path, durability="normal") as log:
                            log.append(KEY, said())
                        os._exit(0)
                    os._exit(1)
                children.append(pid)
            assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
            with EventLog(path, read_only=True) as log:
                assert log.version(KEY) == 8


class TestNewerFormat:
    """Without it an old program would write rows that a newer one cannot trust."""

    def test_it_is_read_and_never_written(self, path: Path) -> None:
        with EventLog(path) as log:
            log.append(KEY, said())
        with plain(path) as db:
            db.execute(f"pragma user_version = {schema.FORMAT + 1}")
        with EventLog(path) as log:
            assert log.read_only
            assert texts(log.read(KEY)) == ["hello"]
            with pytest.raises(NewerFormat) as caught:
                log.append(KEY, said())
            assert (caught.value.found, caught.value.known) == (schema.FORMAT + 1, schema.FORMAT)
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                log._ready().execute("delete from derived")
        with plain(path) as db:
            assert db.execute("select count(*) from events").fetchone() == (1,)


class TestReadOnly:
    """Without it looking at a log could change it, and a log on a read-only disk stay unread."""

    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        """A folder that another user can reach, unlike pytest's own."""
        place = Path(tempfile.mkdtemp())
        place.chmod(0o755)
        with EventLog(place / "log.db") as log:
            log.append(KEY, said())
        (place / "log.db").chmod(0o644)
        yield place
        place.chmod(0o755)
        shutil.rmtree(place)

    def test_a_reader_writes_nothing(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said())
        with EventLog(path, read_only=True) as reader:
            assert reader.read_only
            for write in (
                lambda: reader.append(KEY, said()),
                lambda: reader.fork(KEY._replace(session="x"), KEY, 1),
                lambda: reader.forget_source(KEY),
            ):
                with pytest.raises(ReadOnlyLog, match="read-only"):
                    write()
            log.append(KEY, said("seen"))
            assert texts(reader.read(KEY)) == ["hello", "seen"]

    def test_a_file_without_write_permission_opens_for_reading_only(self, folder: Path) -> None:
        (folder / "log.db").chmod(0o444)

        def nobody() -> None:
            with pytest.raises(ReadOnlyLog, match="not writable"):
                EventLog(folder / "log.db")
            with EventLog(folder / "log.db", read_only=True) as log:
                assert texts(log.read(KEY)) == ["hello"]

        assert as_nobody(nobody) == 0

    def test_a_folder_without_write_permission_too(self, folder: Path) -> None:
        (folder / "log.db").chmod(0o666)
        (folder / "log.db.lock").chmod(0o666)
        folder.chmod(0o555)

        def nobody() -> None:
            with pytest.raises(ReadOnlyLog):
                EventLog(folder / "log.db")
            with pytest.raises(ReadOnlyLog):
                EventLog(folder / "new.db")
            with EventLog(folder / "log.db", read_only=True) as log:
                assert texts(log.read(KEY)) == ["hello"]
                assert log.version(KEY) == 1

        assert as_nobody(nobody) == 0
        assert sorted(modes(folder)) == ["log.db", "log.db.lock"]


class TestDamage:
    """Without it a broken file gives a traceback, or a reader goes on with half of it."""

    def test_a_truncated_file_is_a_damaged_log(self, path: Path) -> None:
        with EventLog(path) as log:
            log.append(KEY, *[said("x" * 3000) for _ in range(50)])
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
        with pytest.raises(DamagedLog), EventLog(path) as log:
            list(log.read_all())

    def test_a_log_without_its_key_is_a_damaged_log(self, path: Path) -> None:
        EventLog(path).close()
        with plain(path) as db:
            db.execute("delete from meta")
        for read_only in (False, True):
            with pytest.raises(DamagedLog):
                EventLog(path, read_only=read_only)

    def test_text_that_is_no_utf8_is_a_damaged_log(self, path: Path) -> None:
        with EventLog(path) as log:
            log.append(KEY, said())
        with plain(path) as db:
            db.execute("drop trigger events_update")
            db.execute("update events set payload = cast(x'ff' as text)")
        with EventLog(path) as log, pytest.raises(DamagedLog, match="UTF-8"):
            list(log.read_all())

    def test_a_row_that_is_no_event_says_where_it_does_not_fit(self, path: Path) -> None:
        from eventlog.errors import EventInvalid

        with EventLog(path) as log:
            log.append(KEY, said())
        with plain(path) as db:
            db.execute("drop trigger events_update")
            db.execute('update events set payload = \'{"dialect": "morse"}\'')
        with EventLog(path) as log:
            event = next(log.read(KEY))
            with pytest.raises(EventInvalid, match="message_appended does not fit: dialect"):
                _ = event.event


class TestJournal:
    """Without it a restored backup would lose an acknowledged event when the power fails."""

    def test_a_copy_made_by_vacuum_into_is_a_wal_file_again(
        self, log: EventLog, path: Path
    ) -> None:
        log.append(KEY, said())
        copy = path.with_name("copy.db")
        with plain(path) as db:
            db.execute("vacuum into ?", [str(copy)])
        with plain(copy) as db:
            assert db.execute("pragma journal_mode").fetchone() == ("delete",)
        with EventLog(copy) as opened:
            assert opened._ready().execute("pragma journal_mode").fetchone() == ("wal",)
            assert opened.append(KEY, said()).first == 2

    def test_the_guards_of_a_hostile_file_are_on(self, log: EventLog) -> None:
        settings = ("trusted_schema", "cell_size_check", "recursive_triggers", "secure_delete")
        values = {n: log._ready().execute(f"pragma {n}").fetchone()[0] for n in settings}
        assert values == {
            "trusted_schema": 0,
            "cell_size_check": 1,
            "recursive_triggers": 1,
            "secure_delete": 1,
        }


class TestOpeningWhileLocked:
    """Without it opening hangs behind a stopped process that is making the log."""

    def test_making_the_log_has_the_deadline_too(self, path: Path) -> None:
        lock = connection.FileLock(connection.lock_path(path), 0)
        lock.open()
        lock.acquire(path)
        with pytest.raises(Busy):
            EventLog(path, lock_timeout=0.1)
        lock.close()
        EventLog(path).close()

    def test_an_existing_log_opens_while_another_one_writes(
        self, log: EventLog, path: Path
    ) -> None:
        log.append(KEY, said())

        def child() -> None:
            with EventLog(path, lock_timeout=0.1) as other:
                assert texts(other.read(KEY)) == ["hello"]

        with log.writing():
            assert in_child(child) == 0
