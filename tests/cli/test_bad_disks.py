"""A disk that is full, a quota, a folder for reading only: looking goes on, and nothing is lost."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from demo_log import demo_log
from running import environment, process, run

from eventlog import EventLog
from eventlog.integrity import head, verify

KEPT = "8f31"
LOOKING = [
    ["sessions"],
    ["log", KEPT],
    ["show", f"{KEPT}@k1", "--context"],
    ["replay", f"{KEPT}@c35"],
    ["audit", KEPT],
    ["why", KEPT, "3"],
    ["recover", KEPT, "--lost", "k1"],
    ["search", "port"],
    ["stats", KEPT],
    ["diff", f"{KEPT}@k1"],
    ["verify"],
    ["export", KEPT],
    ["sql", "select count(*) from events"],
]
CHANGING = [
    ["undo", KEPT, "k1"],
    ["rewind", f"{KEPT}@c9"],
    ["pin", KEPT, "3"],
    ["fork", f"{KEPT}@k1^"],
    ["run", KEPT, "-s", "clear:keep=3"],
    ["recover", KEPT, "3", "--into-context", "--yes"],
    ["redact", KEPT, "3", "--reason", "x", "--yes"],
]


def no_file_grows() -> None:
    """As a full disk or a quota: every write that makes a file larger fails."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("command", LOOKING, ids=lambda command: command[0])
def test_looking_needs_no_space(command: list[str], tmp_path: Path) -> None:
    db = demo_log(tmp_path)
    usual = run(*command, "--db", tmp_path / "d.db")
    shutil.rmtree(tmp_path / "other", ignore_errors=True)
    (tmp_path / "other").mkdir()
    db = demo_log(tmp_path / "other")
    done = process(*command, "--db", db, home=tmp_path, preexec_fn=no_file_grows)
    assert done.stderr.decode().count("Traceback") == 0
    assert done.returncode == usual.exit_code, done.stderr
    assert done.stdout != b""


@pytest.mark.parametrize("command", CHANGING, ids=lambda command: command[0])
def test_changing_is_refused_whole_and_works_when_there_is_space(
    command: list[str], tmp_path: Path
) -> None:
    db = demo_log(tmp_path)
    with EventLog(db, read_only=True) as log:
        before = head(log)
    done = process(*command, "--db", db, home=tmp_path, preexec_fn=no_file_grows)
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1
    with EventLog(db) as log:
        assert head(log) == before
        assert verify(log).problems == ()
    assert run(*command, "--db", db).exit_code == 0


def without_rights(*args: str | Path, home: Path) -> subprocess.CompletedProcess[bytes]:
    """A command of somebody who may write only what the modes of the files say; not so root."""
    command: list[str] = [sys.executable, "-m", "cli.main", *map(str, args)]
    if os.geteuid() == 0:
        drops = shutil.which("setpriv")
        if drops is None:
            pytest.skip("root may write everything")
        command = [drops, "--inh-caps=-all", "--bounding-set=-all", *command]
    return subprocess.run(
        command, env=environment(home), cwd=home, capture_output=True, timeout=60, check=False
    )


class TestFolderForReadingOnly:
    """A log on a medium of somebody else is looked at, and an error says what can be done."""

    def folder(self, tmp_path: Path, *, killed: bool) -> Path:
        db = demo_log(tmp_path)
        if killed:
            script = (
                "import os, sys\n"
                "from eventlog import EventLog\n"
                "from eventlog.events import ItemPinned\n"
                "log = EventLog(sys.argv[1])\n"
                "log.append(next(iter(log.streams())).key, ItemPinned(item='3'))\n"
                "os._exit(9)\n"
            )
            subprocess.run(
                [sys.executable, "-c", script, str(db)], env=environment(tmp_path), check=False
            )
        folder = tmp_path / "medium"
        folder.mkdir()
        for name in ("d.db", "d.db-wal"):
            if (tmp_path / name).exists():
                shutil.copy(tmp_path / name, folder / name)
                (folder / name).chmod(0o400)
        folder.chmod(0o500)
        return folder

    def test_everything_can_be_looked_at(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path, killed=False)
        try:
            for command in LOOKING:
                done = without_rights(*command, "--db", folder / "d.db", home=tmp_path)
                assert done.returncode in (0, 1), (command, done.stderr)
            for command in CHANGING:
                done = without_rights(*command, "--db", folder / "d.db", home=tmp_path)
                assert done.returncode == 5
                assert b"commands that only look work all the same" in done.stderr
            assert os.listdir(folder) == ["d.db"]
        finally:
            folder.chmod(0o700)

    def test_what_a_killed_writer_left_cannot_be_read_there_and_that_is_said(
        self, tmp_path: Path
    ) -> None:
        folder = self.folder(tmp_path, killed=True)
        try:
            for command in (["sessions"], ["verify"], ["backup", tmp_path / "b.db"]):
                done = without_rights(*command, "--db", folder / "d.db", home=tmp_path)
                assert done.returncode == 5
                assert b"d.db-wal" in done.stderr
                assert b"copy both files" in done.stderr
            copy = tmp_path / "copy"
            shutil.copytree(folder, copy)
            copy.chmod(0o700)
            for file in copy.iterdir():
                file.chmod(0o600)
            assert run("verify", "--db", copy / "d.db").exit_code == 0
        finally:
            folder.chmod(0o700)
