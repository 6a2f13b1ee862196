"""The program as a shell runs it: pipes, signals, locales, and files that are something else."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import environment, process, run
from small_log import KEY, fill, small_log

from cli.safetext import display_width
from projections import open_log

NAME = "refunds-0001"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


class TestPipes:
    """`| head` is typed all day; a traceback or a hang there is the first thing people see."""

    def test_a_reader_that_goes_away_ends_it_in_silence(self, tmp_path: Path) -> None:
        big = tmp_path / "big.db"
        with open_log(big, durability="normal") as live:
            fill(live)
            from small_log import said

            live.append(KEY, *(said("user", "x" * 500) for _ in range(1200)))
        for command in ("log", "show", "replay", "export"):
            script = (
                f'"$0" -m cli.main {command} {NAME} --db "$1" | head -n 1; echo ${{PIPESTATUS[0]}}'
            )
            done = subprocess.run(
                ["bash", "-c", script, sys.executable, str(big)],
                env=environment(tmp_path),
                capture_output=True,
                timeout=60,
                check=False,
            )
            assert done.stderr == b"", command
            assert done.stdout.splitlines()[-1] == b"0", command

    def test_the_exit_code_is_that_of_the_command(self, db: Path, tmp_path: Path) -> None:
        head = "0" * 64
        script = f'"$0" -m cli.main verify --head {head} --db "$1" | true; echo ${{PIPESTATUS[0]}}'
        done = subprocess.run(
            ["bash", "-c", script, sys.executable, str(db)],
            env=environment(tmp_path),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == b"4\n"

    def test_a_closed_stdout_is_told_in_one_line(self, db: Path, tmp_path: Path) -> None:
        done = subprocess.run(
            ["bash", "-c", f'"$0" -m cli.main log {NAME} --db "$1" >&-', sys.executable, str(db)],
            env=environment(tmp_path),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 5
        assert done.stderr.startswith(b"ctxlog: ")
        assert done.stderr.count(b"\n") == 1

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    def test_a_full_disk_is_told_in_one_line(self, db: Path, tmp_path: Path) -> None:
        with open("/dev/full", "wb") as full:
            done = process(
                "log",
                NAME,
                "--db",
                db,
                home=tmp_path,
                capture_output=False,
                stdout=full,
                stderr=subprocess.PIPE,
            )
        assert done.returncode == 5
        assert b"No space left" in done.stderr
        assert done.stderr.count(b"\n") == 1


class TestSignals:
    """Ctrl-C is an answer, not an accident."""

    def test_a_watch_imports_what_is_added_until_ctrl_c(self, tmp_path: Path) -> None:
        transcript, told = tmp_path / "talk.json", tmp_path / "told.txt"
        transcript.write_text('[{"role": "user", "content": "hello"}]')
        command = ["import", transcript, "--session", "talk", "--db", tmp_path / "w.db"]
        with told.open("wb") as stream:
            running = subprocess.Popen(
                [sys.executable, "-m", "cli.main", *map(str, command), "--watch",
                 "--interval", "0.1"],
                env=environment(tmp_path),
                stdout=stream,
                stderr=stream,
                # Who runs the tests in the background has it ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip
        try:
            self.wait_for("watching 1 place", told)
            more = tmp_path / "more.json"
            more.write_text(
                transcript.read_text().replace("]", ', {"role": "user", "content": 1}]')
            )
            more.replace(transcript)
            self.wait_for("1 new event, ", told)
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=20) == 130
        finally:
            running.kill()
            running.wait()
        assert "Traceback" not in told.read_text()

    def test_an_import_that_is_stopped_says_how_to_go_on(self, tmp_path: Path) -> None:
        folder, told = tmp_path / "talks", tmp_path / "told.txt"
        folder.mkdir()
        for number in range(12):
            text = f'[{{"role": "user", "content": "talk {number}"}}]'
            (folder / f"{number}.json").write_text(text)
        # Standard input comes last and stays open: the import waits for it until it is stopped.
        db = tmp_path / "s.db"
        with told.open("wb") as stream:
            running = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "import", folder, "-", "--db", db],
                env=environment(tmp_path),
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip
        try:
            deadline = time.monotonic() + 20
            while self.sessions_in(db) < 12:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=20) == 130
        finally:
            running.kill()
            running.wait()
            assert running.stdin is not None
            running.stdin.close()
        assert told.read_text() == (
            "ctxlog: stopped: 12 new sessions so far; what is in stays, run it again to go on\n"
        )
        done = process("import", folder, "--db", db, home=tmp_path)
        assert b"12 sessions, 0 new events" in done.stdout

    def sessions_in(self, db: Path) -> int:
        if not db.exists():
            return 0
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as reader:
            try:
                return int(reader.execute("select count(*) from streams").fetchone()[0])
            except sqlite3.OperationalError:  # it is just being made
                return 0

    def wait_for(self, text: str, file: Path) -> None:
        deadline = time.monotonic() + 20
        while text not in file.read_text():
            assert time.monotonic() < deadline, file.read_text()
            time.sleep(0.02)


class TestTerminals:
    """What is sent to a terminal must fit it, and a file must not be full of colour codes."""

    def test_there_is_no_colour_outside_a_terminal(self, db: Path, tmp_path: Path) -> None:
        assert b"\x1b" not in process("log", NAME, "--db", db, home=tmp_path).stdout

    @pytest.mark.parametrize(
        ("env", "colored"),
        [
            ({}, True),
            ({"NO_COLOR": "1"}, False),
            ({"TERM": "dumb"}, False),
            ({"NO_COLOR": ""}, True),
        ],
    )
    def test_on_a_terminal_there_is_unless_asked_otherwise(
        self, db: Path, tmp_path: Path, env: dict[str, str], colored: bool
    ) -> None:
        env = {"TERM": "xterm", **env}
        assert (b"\x1b[" in self.on_a_terminal(db, tmp_path, env)) is colored

    def on_a_terminal(self, db: Path, home: Path, env: dict[str, str]) -> bytes:
        ours, theirs = os.openpty()
        process(
            "log",
            NAME,
            "--db",
            db,
            home=home,
            env=env,
            capture_output=False,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        found = b""
        try:
            while block := os.read(ours, 65536):
                found += block
        except OSError:  # Linux says so at the end of a terminal
            pass
        os.close(ours)
        return found

    def test_colour_can_be_forced_and_never_changes_the_text(
        self, db: Path, tmp_path: Path
    ) -> None:
        import re

        plain = process("log", NAME, "--db", db, home=tmp_path).stdout
        forced = process("log", NAME, "--db", db, home=tmp_path, env={"FORCE_COLOR": "1"}).stdout
        assert b"\x1b[" in forced
        assert re.sub(rb"\x1b\[\d*m", b"", forced) == plain

    @pytest.mark.parametrize("columns", [60, 80, 100])
    @pytest.mark.parametrize("command", ["sessions", "log", "log --events", "show --context"])
    def test_lines_fit(self, db: Path, columns: int, command: str) -> None:
        name, *options = command.split()
        args: list[str | Path] = [name, *([NAME] if name != "sessions" else []), *options]
        lines = run(*args, "--db", db, COLUMNS=str(columns)).stdout.splitlines()
        assert lines
        assert max(map(display_width, lines)) <= columns

    def test_the_width_is_that_of_the_terminal(self, db: Path, tmp_path: Path) -> None:
        done = process("log", NAME, "--db", db, home=tmp_path, env={"COLUMNS": "60"})
        rules = [line for line in done.stdout.decode().splitlines() if line.startswith("──")]
        assert {display_width(rule) for rule in rules} == {60}

    def test_an_ascii_locale_gets_ascii(self, db: Path, tmp_path: Path) -> None:
        env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = process("log", NAME, "--db", db, home=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
        assert b" S    4    user" in done.stdout

    @pytest.mark.parametrize(
        "args", [["log", NAME], ["sessions"], ["show", f"{NAME}@c3", "--full"], ["stats", NAME]]
    )
    def test_ascii_can_be_asked_for(self, db: Path, args: list[str]) -> None:
        result = run(*args, "--ascii", "--db", db)
        assert result.exit_code == 0
        assert result.stdout.isascii()
        assert result.stdout.count("\n") == run(*args, "--db", db).stdout.count("\n")


class TestFiles:
    """A wrong path is the usual mistake; it must harm nothing and say what it found."""

    def test_a_missing_log_is_not_made_by_looking(self, tmp_path: Path) -> None:
        done = run("sessions", "--db", tmp_path / "none.db")
        assert done.exit_code == 5
        assert " import PATH` or `" in done.stderr
        assert " record -- CMD` makes one" in done.stderr
        assert list(tmp_path.iterdir()) == []

    def test_another_programs_database_is_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        with sqlite3.connect(path) as other:
            other.execute("create table t (x)")
        other.close()
        before = path.read_bytes()
        for args in (["sessions"], ["import", str(tmp_path)], ["demo"]):
            done = run(*args, "--db", path, HOME=str(tmp_path))
            assert done.exit_code == 5
            assert "not a ctxlog database" in done.stderr
        assert path.read_bytes() == before

    def test_a_folder_is_no_log(self, tmp_path: Path) -> None:
        assert run("sessions", "--db", tmp_path).exit_code == 5

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_log_that_may_not_be_read(self, db: Path, tmp_path: Path) -> None:
        db.chmod(0)
        done = process("sessions", "--db", db, home=tmp_path)
        assert done.returncode == 5
        assert done.stderr.count(b"\n") == 1

    def test_noise_is_no_log(self, tmp_path: Path) -> None:
        (tmp_path / "noise.db").write_bytes(os.urandom(5000))
        assert run("log", "x", "--db", tmp_path / "noise.db").exit_code == 5

    def test_the_log_of_a_project_is_found_from_below(self, tmp_path: Path) -> None:
        (tmp_path / ".ctxlog").mkdir()
        small_log(tmp_path).rename(tmp_path / ".ctxlog" / "ctxlog.db")
        below = tmp_path / "a" / "b"
        below.mkdir(parents=True)
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "sessions"],
            env=environment(tmp_path),
            cwd=below,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert b"Refunds" in done.stdout

    def test_reading_does_not_wait_for_a_writer(self, db: Path, tmp_path: Path) -> None:
        writer = sqlite3.connect(db, isolation_level=None)
        writer.execute("begin immediate")
        start = time.monotonic()
        done = process("log", str(KEY), "--db", db, home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert time.monotonic() - start < 25
        writer.execute("rollback")
        writer.close()
