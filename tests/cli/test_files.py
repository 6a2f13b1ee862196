"""Files that commands write: what they take the place of, and what they never do."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from running import data, run
from small_log import KEY, small_log

from cli.door import message
from cli.files import new_file, write_new
from eventlog.errors import InputRefused


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


class TestDatabases:
    """Without these a slip of the pen replaces the log by a page of it."""

    @pytest.mark.parametrize("command", ["report", "export", "state export"])
    def test_a_log_is_never_replaced(self, db: Path, command: str) -> None:
        before = db.stat().st_ino
        done = run(*command.split(), KEY.session, "--out", db, "--force", "--db", db)
        assert done.exit_code == 2
        assert "is a database, or belongs to one" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert db.stat().st_ino == before
        assert run("verify", "--db", db).exit_code == 0

    def test_nor_by_another_name_nor_another_one(self, db: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(db)
        os.link(db, tmp_path / "hard")
        shutil.copy(db, tmp_path / "other")
        for name in ("link", "hard", "other"):
            with pytest.raises(InputRefused), new_file(str(tmp_path / name), force=True):
                raise AssertionError("it was opened")

    @pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal", ".lock"])
    def test_nor_is_what_belongs_to_it_written_where_it_is_not_there(
        self, db: Path, suffix: str
    ) -> None:
        beside = db.with_name(db.name + suffix)
        there = beside.exists()
        with pytest.raises(InputRefused), new_file(str(beside), force=True):
            raise AssertionError("it was opened")
        assert beside.exists() == there

    def test_a_name_that_only_looks_alike_is_taken(self, tmp_path: Path) -> None:
        for name in ("notes-wal", "-wal", "x.lock", "SQLite format 3"):
            write_new(str(tmp_path / name), "text")
            write_new(str(tmp_path / name), "another", force=True)
            assert (tmp_path / name).read_text() == "another"

    def test_a_backup_takes_the_place_of_an_older_one_and_not_of_the_log(self, db: Path) -> None:
        older = db.with_name("older.db")
        assert run("backup", older, "--db", db).exit_code == 0
        assert run("backup", older, "--force", "--db", db).exit_code == 0
        done = run("backup", db, "--force", "--db", db)
        assert done.exit_code == 2
        assert "belongs to the log itself" in done.stderr


class TestNames:
    def test_a_pipe_gets_a_page_and_its_size_is_told(self, db: Path, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        read: list[bytes] = []
        reader = threading.Thread(
            target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True
        )
        reader.start()
        told = data("report", KEY.session, "--out", tmp_path / "pipe", "--force", "--db", db)
        reader.join(60)
        assert told["bytes"] == len(read[0])
        assert read[0].startswith(b"<!doctype html>")

    @pytest.mark.parametrize("name", ["a" * 255, "\u00e4" * 127, "b" * 250 + ".html"])
    def test_a_name_as_long_as_a_name_may_be(self, tmp_path: Path, name: str) -> None:
        write_new(str(tmp_path / name), "text")
        assert [each.name for each in tmp_path.iterdir()] == [name]

    def test_a_name_of_two_lines_is_told_on_one(self, db: Path, tmp_path: Path) -> None:
        done = run("report", KEY.session, "--out", tmp_path / "two\nlines", "--db", db)
        assert done.exit_code == 0
        assert len(done.stdout.splitlines()) == 1

    def test_a_fault_without_a_number_is_a_sentence(self) -> None:
        fault = OSError("underlying stream is not seekable")
        fault.filename = "pipe"
        assert message(fault) == "underlying stream is not seekable: pipe"
