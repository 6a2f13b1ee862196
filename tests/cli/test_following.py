"""``log --follow`` as a real process, while others write to the log."""

from __future__ import annotations

import fcntl
import json
import os
import queue
import select
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from running import environment, run
from small_log import EVENTS, FORK, KEY, said, small_log

from eventlog import StreamKey
from eventlog.events import SessionStarted, SessionTitled
from projections import Live, open_log

PATIENCE = 60
"""Seconds after which a line that did not come never will."""


class Followed:
    """A process that follows, and what it writes, line by line."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.running = running
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.running.stdout is not None
        for line in self.running.stdout:
            self._lines.put(line.decode().rstrip("\n"))

    def line(self) -> str:
        """The next line."""
        return self._lines.get(timeout=PATIENCE)

    def until(self, text: str) -> list[str]:
        """The lines up to one that holds a text."""
        found = [self.line()]
        while text not in found[-1]:
            found.append(self.line())
        return found

    def rows(self, count: int) -> list[dict[str, Any]]:
        """The next rows, of ``--json``."""
        answers = [json.loads(self.line()) for _ in range(count)]
        assert all((a["ctxlog"], a["command"]) == (1, "log") for a in answers)
        return [answer["data"] for answer in answers]

    def told(self) -> str:
        """The next line that it says on the other stream."""
        assert self.running.stderr is not None
        assert select.select([self.running.stderr], [], [], PATIENCE)[0]
        return self.running.stderr.readline().decode().rstrip("\n")

    def ends(self) -> tuple[int, bytes]:
        """Its exit code, and what it said."""
        assert self.running.stderr is not None
        return self.running.wait(timeout=PATIENCE), self.running.stderr.read()


@contextmanager
def following(*args: str | Path, home: Path) -> Iterator[Followed]:
    running = subprocess.Popen(
        [sys.executable, "-m", "cli.main", "log", "--follow", *map(str, args)],
        env=environment(home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Who runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        yield Followed(running)
    finally:
        running.kill()
        running.wait()
        for stream in (running.stdout, running.stderr):
            assert stream is not None
            stream.close()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture
def live(db: Path) -> Iterator[Live]:
    with open_log(db, durability="normal") as found:
        yield found


class TestRows:
    """Whoever watches an agent must see each thing it does, once and in order."""

    def test_the_last_rows_then_each_as_it_is_appended(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        whole = run("log", KEY.session, "--db", db).stdout.splitlines()
        with following(KEY.session, "--db", db, home=tmp_path) as followed:
            before = [followed.line() for _ in range(10)]
            assert [line.split()[:2] for line in before] == [
                line.split()[:2] for line in whole[-10:]
            ]
            for number in range(3):
                live.append(KEY, said("user", f"and then {number}"))
                assert f"and then {number}" in followed.line()

    def test_as_json_each_is_one_line_and_none_is_lost(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        with following(KEY.session, "-n", "1", "--json", "--db", db, home=tmp_path) as followed:
            (first,) = followed.rows(1)
            start = live.log.version(KEY)
            assert first["key"] == str(KEY)
            for number in range(300):
                live.append(KEY, said("user", f"n{number}"))
            rows = followed.rows(300)
        assert [row["position"] for row in rows] == list(range(start + 1, start + 301))
        assert [row["preview"] for row in rows] == [f"n{number}" for number in range(300)]

    def test_only_what_was_asked_for(self, db: Path, live: Live, tmp_path: Path) -> None:
        live.append(KEY, SessionTitled(title="before"), said("user", "not asked for"))
        args = (KEY.session, "-n", "1", "--type", "session_titled", "--db", db)
        with following(*args, home=tmp_path) as followed:
            assert "before" in followed.line()
            live.append(KEY, said("user", "not asked for"), SessionTitled(title="after"))
            assert "after" in followed.line()

    def test_hostile_text_is_safe(self, db: Path, live: Live, tmp_path: Path) -> None:
        from hostile_transcripts import TEXTS
        from test_hostile import FORBIDDEN

        with following("-n", "1", "--db", db, home=tmp_path) as followed:
            followed.until("<==")
            key = StreamKey("o[bold]", "a[red]", "evil [link=x]/../etc/passwd \u3164")
            live.append(key, said("user", "".join(TEXTS.values())), said("user", "the end"))
            seen = followed.until("the end")
        assert not any(FORBIDDEN.search(line) for line in seen)


class TestSessions:
    """A recorder goes on in streams beside the session when two calls overlap."""

    def test_what_goes_on_from_it_or_begins_in_it_is_followed_too(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        def named(name: str) -> StreamKey:
            return StreamKey(KEY.user, KEY.agent, name)

        with following(KEY.session, "-n", "1", "--db", db, home=tmp_path) as followed:
            followed.line()
            live.append(named("unrelated"), said("user", "of another one"))
            live.append(named(f"{KEY.session}.2"), said("user", "asked beside"))
            assert followed.until("asked beside")[0] == f"==> {KEY}.2 <=="
            live.log.fork(named(f"{KEY.session}~2"), KEY, 5)
            live.append(named(f"{KEY.session}~2"), said("user", "in a fork"))
            assert followed.until("in a fork")[0] == f"==> {KEY}~2 <=="
            live.append(
                named("agent"), SessionStarted(parent_session=str(KEY)), said("user", "below")
            )
            assert followed.until("below")[0] == f"==> {named('agent')} <=="
            live.append(FORK, said("user", "in an old fork"))
            assert followed.until("in an old fork")[0] == f"==> {FORK} <=="
            live.append(KEY, said("user", "back again"))
            assert followed.until("back again")[0] == f"==> {KEY} <=="

    def test_all_of_them_also_those_that_begin_later(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        with following("-n", "2", "--json", "--db", db, home=tmp_path) as followed:
            old = followed.rows(2)
            every = json.loads(run("log", "retry", "--db", db, "--json").stdout)["data"]["rows"]
            assert old[-1]["position"] == every[-1]["position"]
            for name in ("one", "two"):
                live.append(StreamKey("u", "a", name), said("user", f"in {name}"))
            assert [row["key"] for row in followed.rows(2)] == ["u/a/one", "u/a/two"]

    def test_the_last_one(self, db: Path, live: Live, tmp_path: Path) -> None:
        live.append(StreamKey("u", "a", "newest"), said("user", "is newest"))
        with following("last", "--db", db, home=tmp_path) as followed:
            assert "is newest" in followed.line()


class TestWaiting:
    """Who watches an agent may begin before it does."""

    @pytest.mark.parametrize("is_empty", [False, True])
    def test_a_log_that_is_made_later_is_shown_from_its_beginning(
        self, is_empty: bool, tmp_path: Path
    ) -> None:
        db = tmp_path / "later.db"
        if is_empty:  # as SQLite leaves it for a moment
            db.touch()
        with following(KEY.session, "-n", "1", "--db", db, home=tmp_path) as followed:
            assert followed.told() == f"waiting for a log at {db}"
            with open_log(db) as live:
                live.append(StreamKey("u", "a", "other"), said("user", "of another one"))
                assert followed.told() == f"waiting for session {KEY.session}"
                live.append(KEY, *EVENTS)
                live.append(KEY, said("user", "and then"))
            seen = followed.until("and then")
            whole = run("log", KEY.session, "--db", db).stdout.splitlines()
        assert seen[0] == f"==> {KEY} <=="
        rows = [line.split()[:2] for line in whole]
        assert [line.split()[:2] for line in seen[1:]] == rows[-len(seen) + 1 :]
        assert "You mend refunds." in seen[1]

    def test_every_session_of_a_log_that_is_made_later(self, tmp_path: Path) -> None:
        db = tmp_path / "later.db"
        with following("--json", "-n", "1", "--db", db, home=tmp_path) as followed:
            assert followed.told() == f"waiting for a log at {db}"
            with open_log(db) as live:
                for name in ("one", "two"):
                    key = StreamKey("u", "a", name)
                    live.append(key, said("user", "first"), said("user", "second"))
            rows = followed.rows(4)
        assert [(row["key"], row["preview"]) for row in rows] == [
            (f"u/a/{name}", text) for name in ("one", "two") for text in ("first", "second")
        ]

    def test_a_session_and_what_began_in_it_at_once(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        home, agent = StreamKey("u", "a", "monday"), StreamKey("u", "a", "agent")
        with following("monday", "--json", "--db", db, home=tmp_path) as followed:
            assert followed.told() == "waiting for session monday"
            followed.running.send_signal(signal.SIGSTOP)  # the look that finds one finds both
            live.append(home, *(said("user", f"n{number}") for number in range(15)))
            live.append(agent, SessionStarted(parent_session=str(home)), said("user", "below"))
            followed.running.send_signal(signal.SIGCONT)
            live.append(home, said("user", "the end"))
            rows = followed.rows(17)
        assert [row["preview"] for row in rows if row["key"] == str(home)] == [
            *(f"n{number}" for number in range(15)),
            "the end",
        ]
        assert "below" in [row["preview"] for row in rows if row["key"] == str(agent)]

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("refundz", "; near it: refunds-0001 (Refunds)"),
            ("twin", "; so far it names several: u/a/twin, v/a/twin"),
        ],
    )
    def test_what_may_have_been_meant_is_told(
        self, name: str, why: str, db: Path, live: Live, tmp_path: Path
    ) -> None:
        for user in ("u", "v"):
            live.append(StreamKey(user, "a", "twin"), said("user", "x"))
        with following(name, "--db", db, home=tmp_path) as followed:
            assert followed.told() == f"waiting for session {name}{why}"
            followed.running.send_signal(signal.SIGINT)
            assert followed.ends() == (130, b"")

    def test_it_waits_without_a_word_where_none_is_wanted(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        with following("monday", "-q", "--db", db, home=tmp_path) as followed:
            with pytest.raises(subprocess.TimeoutExpired):
                followed.running.wait(timeout=2)
            live.append(StreamKey("u", "a", "monday"), said("user", "is there"))
            followed.until("is there")
            followed.running.send_signal(signal.SIGINT)
            assert followed.ends() == (130, b"")

    def test_a_file_that_is_gone_meanwhile_is_told(self, db: Path, tmp_path: Path) -> None:
        with following("monday", "--db", db, home=tmp_path) as followed:
            followed.told()
            os.replace(db, tmp_path / "moved.db")
            code, told = followed.ends()
        assert (code, told.count(b"\n")) == (5, 1)

    def test_another_file_is_no_log_that_may_come(self, tmp_path: Path) -> None:
        other = tmp_path / "other.db"
        other.write_bytes(b"x" * 5000)
        result = run("log", "--follow", "--db", other)
        assert result.exit_code == 5
        assert "not a ctxlog database" in result.stderr

    def test_only_who_follows_waits(self, db: Path) -> None:
        assert run("log", "monday", "--db", db).exit_code == 3


class TestItsEnd:
    """It is stopped all day, and must leave nothing behind."""

    def test_ctrl_c(self, db: Path, tmp_path: Path) -> None:
        with following(KEY.session, "-n", "1", "--db", db, home=tmp_path) as followed:
            followed.line()
            followed.running.send_signal(signal.SIGINT)
            assert followed.ends() == (130, b"")

    def test_a_reader_that_goes_away_ends_it_though_nothing_more_comes(
        self, db: Path, tmp_path: Path
    ) -> None:
        script = (
            f'"$0" -m cli.main log -f {KEY.session} --db "$1" | head -n 1; echo ${{PIPESTATUS[0]}}'
        )
        done = subprocess.run(
            ["bash", "-c", script, sys.executable, str(db)],
            env=environment(tmp_path),
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.stderr == b""
        assert done.stdout.splitlines()[-1] == b"0"

    @pytest.mark.parametrize("is_replaced", [True, False])
    def test_a_file_that_is_gone_is_told(self, is_replaced: bool, db: Path, tmp_path: Path) -> None:
        with following(KEY.session, "-n", "1", "--db", db, home=tmp_path) as followed:
            followed.line()
            os.replace(db, tmp_path / "moved.db")
            if is_replaced:
                small_log(tmp_path)
            code, told = followed.ends()
        assert code == 5
        assert told.count(b"\n") == 1

    @pytest.mark.parametrize(
        ("args", "why"),
        [
            ([], "or follow all of them"),
            ([KEY.session, "-f", "--at", "c1"], "without --at"),
            ([KEY.session, "-f", "--range", "1-2"], "without --at and --range"),
            ([KEY.session, "-n", "0"], "goes with --follow"),
            ([f"{KEY.session}@c1", "-f"], "whole sessions are followed"),
        ],
    )
    def test_what_cannot_be_asked_is_one_line(self, args: list[str], why: str, db: Path) -> None:
        result = run("log", *args, "--db", db)
        assert result.exit_code == 2
        assert why in result.stderr
        assert result.stderr.count("\n") == 1


class TestWriters:
    """A watcher must not cost those who are watched anything."""

    def test_what_is_written_can_move_into_the_file(
        self, db: Path, live: Live, tmp_path: Path
    ) -> None:
        """A reader that keeps its place in the write-ahead log keeps all of it from moving, and the
        file beside the log grows for as long as somebody looks."""
        with following(KEY.session, "-n", "1", "--json", "--db", db, home=tmp_path) as followed:
            followed.rows(1)
            for number in range(300):
                live.append(KEY, said("user", f"{number} " + "x" * 8000))
            last = live.log.version(KEY)
            while followed.rows(1)[0]["position"] != last:
                pass
            assert Path(f"{db}-wal").stat().st_size
            with closing(sqlite3.connect(db, timeout=PATIENCE)) as other:
                moved = other.execute("pragma wal_checkpoint(truncate)").fetchone()
            assert moved[0] == 0
            assert Path(f"{db}-wal").stat().st_size == 0
            live.append(KEY, said("user", "it goes on"))
            assert followed.rows(1)[0]["preview"] == "it goes on"

    def test_a_log_that_somebody_writes_to_is_followed_at_once(
        self, db: Path, tmp_path: Path
    ) -> None:
        with closing(sqlite3.connect(db)) as writer, open(f"{db}.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            writer.execute("begin immediate")
            with following(KEY.session, "-n", "1", "--db", db, home=tmp_path) as followed:
                followed.line()
                writer.rollback()
                fcntl.flock(lock, fcntl.LOCK_UN)
                with open_log(db) as live:
                    live.append(KEY, said("user", "it went on"))
                assert "it went on" in followed.line()
