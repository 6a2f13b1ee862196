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
from running import environment, processes, run

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


def each_with_its_log(commands: list[list[str]], folder: Path) -> list[list[str | Path]]:
    """The same commands, each of a new log."""
    found: list[list[str | Path]] = []
    for number, command in enumerate(commands):
        (folder / str(number)).mkdir(parents=True)
        found.append([*command, "--db", demo_log(folder / str(number))])
    return found


def test_looking_needs_no_space(tmp_path: Path) -> None:
    usual = [run(*command) for command in each_with_its_log(LOOKING, tmp_path / "usual")]
    commands = each_with_its_log(LOOKING, tmp_path / "full")
    for each, done in zip(
        usual, processes(commands, tmp_path, preexec_fn=no_file_grows), strict=True
    ):
        assert done.stderr.decode().count("Traceback") == 0, done
        assert done.returncode == each.exit_code, done
        assert done.stdout != b"", done


def test_changing_is_refused_whole_and_works_when_there_is_space(tmp_path: Path) -> None:
    commands = each_with_its_log(CHANGING, tmp_path / "full")
    before = []
    for *_, db in commands:
        with EventLog(db, read_only=True) as log:
            before.append(head(log))
    for command, was, done in zip(
        commands, before, processes(commands, tmp_path, preexec_fn=no_file_grows), strict=True
    ):
        assert done.returncode == 5, done
        assert done.stderr.count(b"\n") == 1, done
        with EventLog(command[-1]) as log:
            assert head(log) == was, done
            assert verify(log).problems == ()
        assert run(*command).exit_code == 0, done


def without_rights(
    *commands: list[str | Path], home: Path
) -> list[subprocess.CompletedProcess[bytes]]:
    """Commands of somebody who may write only what the modes of the files say; not so root."""
    by: list[str] = []
    if os.geteuid() == 0:
        drops = shutil.which("setpriv")
        if drops is None:
            pytest.skip("root may write everything")
        by = [drops, "--inh-caps=-all", "--bounding-set=-all"]
    return processes(commands, home, by=by)


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
            commands = [[*each, "--db", folder / "d.db"] for each in (*LOOKING, *CHANGING)]
            found = without_rights(*commands, home=tmp_path)
            for done in found[: len(LOOKING)]:
                assert done.returncode in (0, 1), done
            for done in found[len(LOOKING) :]:
                assert done.returncode == 5, done
                assert b"commands that only look work all the same" in done.stderr
            assert os.listdir(folder) == ["d.db"]
        finally:
            folder.chmod(0o700)

    def test_what_a_killed_writer_left_cannot_be_read_there_and_that_is_said(
        self, tmp_path: Path
    ) -> None:
        folder = self.folder(tmp_path, killed=True)
        try:
            commands = [["sessions"], ["verify"], ["backup", tmp_path / "b.db"]]
            commands = [[*each, "--db", folder / "d.db"] for each in commands]
            for done in without_rights(*commands, home=tmp_path):
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
