"""A command that is killed at any of its writes: nothing is lost, and the next one works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from demo_log import demo_log
from running import environment, process

from eventlog import EventLog
from eventlog.integrity import verify
from projections import open_log
from projections.context import fold

NAME = "8f31c0a9-5d2e-4b7a-9c1f-6e0d3a7b4c21"
COMMANDS = [
    ["undo", NAME, "k1"],
    ["run", NAME, "-s", "clear:keep=3"],
    ["recover", NAME, "3", "--into-context", "--yes"],
    ["fork", f"{NAME}@k1^"],
    ["pin", NAME, "3"],
    ["search", "port"],
    ["backup", "copy.db", "--force"],
]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_it_is_done_whole_or_not_at_all(command: list[str], tmp_path: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    db = demo_log(tmp_path)
    whole = db.read_bytes()
    with EventLog(db, read_only=True) as log:
        before = [e.payload for e in log.read_all()]
    points = 0
    for call in ("pwrite64", "fdatasync", "ftruncate", "unlink", "rename"):
        for number in (*range(1, 9), *range(9, 200, 6)):
            for left in tmp_path.glob("*.db*"):
                left.unlink()
            db.write_bytes(whole)
            injected = ["-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}"]
            traced = [strace, "-f", "-qq", "-o", "/dev/null", *injected]
            done = subprocess.run(
                [*traced, sys.executable, "-m", "cli.main", *command, "--db", str(db)],
                env=environment(tmp_path),
                cwd=tmp_path,
                capture_output=True,
                timeout=60,
                check=False,
            )
            if b"ptrace" in done.stderr:
                pytest.skip("strace cannot trace here")
            if done.returncode == 0:
                break
            points += 1
            with open_log(db) as live:
                kept = [e.payload for e in live.log.read_all()]
                assert kept[: len(before)] == before
                for stream in live.log.streams():
                    assert live.view(stream.key) == fold(live.log.read(stream.key))
                assert verify(live.log).problems == ()
            again = process(*command, "--db", db, home=tmp_path)
            # What was done whole before the kill may be refused the second time, in one line.
            assert again.returncode in ((0,) if kept == before else (0, 2)), again.stderr
            assert b"Traceback" not in again.stderr
            assert not list(tmp_path.glob(".copy.db.*.part"))
    assert points >= 5
