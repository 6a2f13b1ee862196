"""One transaction at a time: threads, forks, interrupts, locks held elsewhere, closing."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from given import KEY, OTHER, in_child, plain, program, said, texts
from own_chain import recompute

from eventlog import EventLog, StreamKey
from eventlog.errors import (
    Busy,
    DatabaseFault,
    InputRefused,
    LogClosed,
    WrongExpectedVersion,
)


class TestThreads:
    """Without it two threads of one agent would share a position or a cursor."""

    def test_eight_threads_append_a_hundred_each(self, log: EventLog, path: Path) -> None:
        failures: list[BaseException] = []

        def write(number: int) -> None:
            try:
                for n in range(100):
                    log.append(KEY if n % 2 else OTHER, said(f"{number}.{n}"))
                    if n % 25 == 24:
                        list(log.read(KEY))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert log.version(KEY) == log.version(OTHER) == 400
        said_texts = texts(log.read_all())
        assert sorted(said_texts) == sorted(f"{t}.{n}" for t in range(8) for n in range(100))
        for t in range(8):  # each thread's own events stand in its order
            own = [x for x in texts(log.read(KEY)) if x.startswith(f"{t}.")]
            assert own == [f"{t}.{n}" for n in range(1, 100, 2)]
        log.close()
        assert recompute(path) == []


class TestForkedChild:
    """Without it a child would write through its parent's connection and corrupt the file."""

    def test_parent_and_child_go_on_with_the_same_object(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said("parent"))

        def child() -> None:
            assert texts(log.read(KEY)) == ["parent"]
            for n in range(50):
                log.append(OTHER, said(n))
            assert log.append(KEY, said("child"), expected_version=1).first == 2

        assert in_child(child) == 0
        assert log.append(KEY, said("parent again"), expected_version=2).first == 3
        assert log.version(OTHER) == 50
        log.close()
        assert recompute(path) == []

    def test_both_may_write_at_the_same_time(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said())
        pids = []
        for child in range(2):
            pid = os.fork()
            if pid == 0:
                code = 1
                with contextlib.suppress(BaseException):
                    for n in range(50):
                        log.append(KEY, said(f"{child}.{n}"))
                    code = 0
                os._exit(code)
            pids.append(pid)
        for n in range(50):
            log.append(KEY, said(f"p.{n}"))
        assert [os.waitpid(pid, 0)[1] for pid in pids] == [0, 0]
        assert log.version(KEY) == 151
        log.close()
        assert recompute(path) == []

    def test_closing_in_the_child_leaves_the_parent_s_log_open(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        assert in_child(log.close) == 0
        log.append(KEY, said("b"))
        assert texts(log.read(KEY)) == ["a", "b"]

    def test_a_thread_that_held_the_mutex_does_not_stop_the_child(self, log: EventLog) -> None:
        log.append(KEY, said())
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with log.writing():
                inside.set()
                leave.wait(20)

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(20)

        def child() -> None:
            signal.alarm(10)
            assert log.version(KEY) == 1

        code = in_child(child)
        leave.set()
        thread.join()
        assert code == 0

    def test_a_child_of_a_thread_can_write_while_other_threads_append(self, path: Path) -> None:
        code = """
import os, sys, threading, time
from eventlog import EventLog, StreamKey
from eventlog.events import SessionTitled
log = EventLog(sys.argv[1], durability="normal", lock_timeout=5)
key, failed = StreamKey("a", "b", "c"), []
log.append(key, SessionTitled(title="first"))
done = threading.Event()
def append():
    try:
        while not done.is_set():
            log.append(key, SessionTitled(title="thread"))
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=append) for _ in range(3)]
for thread in threads:
    thread.start()
for number in range(8):
    time.sleep(0.01 + number * 0.003)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            log.append(key, SessionTitled(title="child"))
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(pid, 0)[1]:
        failed.append(f"child {number}")
done.set()
for thread in threads:
    thread.join()
sys.exit(bool(failed))
"""
        with program(code, path) as forking:
            assert forking.wait(60) == 0
        assert recompute(path) == []

    def test_an_idle_child_does_not_keep_the_lock_of_a_killed_parent(self, path: Path) -> None:
        with EventLog(path) as first:
            first.append(KEY, said())
        code = """
import os, sys, time
from eventlog import EventLog
log = EventLog(sys.argv[1])
with log.writing():
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    os.write(1, b"held\\n")
    time.sleep(60)
"""
        with program(code, path, stdout=-1, start_new_session=True) as parent:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "held\n"
            os.kill(parent.pid, signal.SIGKILL)
            parent.wait()
            try:
                with EventLog(path, lock_timeout=5) as second:
                    assert second.append(KEY, said()).first == 2
            finally:
                os.killpg(parent.pid, signal.SIGKILL)

    def test_a_child_in_another_folder_still_finds_a_relative_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with EventLog("log.db") as log:
            log.append(KEY, said())

            def child() -> None:
                os.chdir("/")
                log.append(KEY, said())

            assert in_child(child) == 0
            assert log.version(KEY) == 2


class TestBusy:
    """Without it a stopped process would stop every other one for ever."""

    def test_a_stopped_holder_costs_the_others_their_deadline_and_no_more(self, path: Path) -> None:
        code = """
import os, signal, sys
from eventlog import EventLog
with EventLog(sys.argv[1]) as log, log.writing():
    os.write(1, b"held\\n")
    os.kill(os.getpid(), signal.SIGSTOP)
"""
        with EventLog(path, lock_timeout=0.3) as log:
            log.append(KEY, said("before"))
            with program(code, path, stdout=-1) as holder:
                assert holder.stdout is not None
                assert holder.stdout.readline() == "held\n"
                os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
                began = time.monotonic()
                with pytest.raises(Busy) as caught:
                    log.append(KEY, said("refused"))
                assert 0.3 <= time.monotonic() - began < 25
                assert caught.value.seconds == 0.3
                assert texts(log.read(KEY)) == ["before"]  # reading needs no lock
                holder.send_signal(signal.SIGCONT)
                holder.wait()
            log.append(KEY, said("after"))
            assert texts(log.read(KEY)) == ["before", "after"]

    def test_the_lock_of_a_killed_holder_is_free_at_once(self, path: Path) -> None:
        code = """
import os, sys, time
from eventlog import EventLog
with EventLog(sys.argv[1]) as log, log.writing():
    os.write(1, b"held\\n")
    time.sleep(60)
"""
        with EventLog(path, lock_timeout=5) as log, program(code, path, stdout=-1) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            holder.kill()
            holder.wait()
            assert log.append(KEY, said()).first == 1

    def test_a_program_that_knows_only_sqlite_s_lock_is_waited_for_too(self, path: Path) -> None:
        with EventLog(path, lock_timeout=0.2) as log:
            log.append(KEY, said())
            with plain(path) as other:
                other.execute("begin immediate")
                with pytest.raises(Busy) as caught:
                    log.append(KEY, said())
                assert caught.value.seconds == 0.2
                other.execute("rollback")
            assert log.append(KEY, said()).first == 2

    def test_a_timeout_of_zero_asks_once(self, path: Path) -> None:
        with EventLog(path) as holder, EventLog(path, lock_timeout=0) as log:
            with holder.writing(), pytest.raises(Busy):
                log.append(KEY, said())
            log.append(KEY, said())


class TestInterrupts:
    """Without it Ctrl-C at the wrong moment leaves a transaction open, and all others wait."""

    def test_an_interrupt_before_the_commit_leaves_nothing(self, log: EventLog) -> None:
        log.append(KEY, said("a"))

        def interrupted() -> None:
            with log.writing() as db:
                db.execute("insert into redactions values (1, 1)")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        with plain(log.path) as db:
            assert db.execute("select count(*) from redactions").fetchone() == (0,)
        assert log.append(KEY, said("b"), expected_version=1).first == 2

    def test_an_interrupt_at_any_step_leaves_the_log_usable(self, path: Path) -> None:
        """A signal at call 1, 2, 3 …: refused or done, and nobody is stuck."""
        with EventLog(path, durability="normal", lock_timeout=0.2) as log:
            log.append(KEY, said("first"))
            for steps in range(1, 2000):
                version = log.version(KEY)
                interrupted = _interrupted_after(steps, lambda: log.append(KEY, said("x")))
                with EventLog(path, durability="normal", lock_timeout=0.2) as other:
                    other.append(OTHER, said("free"))
                assert log.version(KEY) - version in (0, 1)
                log.append(KEY, said("next"), expected_version=log.version(KEY))
                if not interrupted:
                    break
            else:
                pytest.fail("the append never ran to its end")
            assert steps > 50
        assert recompute(path) == []

    def test_a_process_told_to_stop_in_its_commits_loses_nothing(self, path: Path) -> None:
        code = """
import os, sys
from eventlog import EventLog
sys.path.append("tests/eventlog")
from given import KEY, said
try:
    with EventLog(sys.argv[1]) as log:
        while True:
            at = log.append(KEY, said("x")).first
            os.write(1, b"%d\\n" % at)
except KeyboardInterrupt:
    os._exit(7)
"""
        for number in (signal.SIGINT, signal.SIGTERM):
            with program(code, path, stdout=-1, stderr=-1) as writer:
                assert writer.stdout is not None
                last = [int(writer.stdout.readline()) for _ in range(20)][-1]
                writer.send_signal(number)
                out, err = writer.communicate(timeout=20)
            assert writer.returncode == (7 if number == signal.SIGINT else -signal.SIGTERM), err
            acknowledged = int(out.split()[-1]) if out.split() else last
            with EventLog(path) as log:
                assert log.version(KEY) >= acknowledged
        assert recompute(path) == []

    def test_an_append_inside_a_transaction_is_refused(self, log: EventLog) -> None:
        log.append(KEY, said())
        with log.writing(), pytest.raises(InputRefused, match="inside"):
            log.append(KEY, said())
        assert log.append(KEY, said()).first == 2


def _interrupted_after(steps: int, work: Callable[[], object]) -> bool:
    """Run with a KeyboardInterrupt where Python looks for signals: at the n-th call or return."""
    left = steps

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        if event in ("call", "c_call", "c_return"):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    try:
        sys.setprofile(profile)
        work()
        sys.setprofile(None)
    except KeyboardInterrupt:
        return True
    return False


class TestClosing:
    """Without it a closed log would be opened again in silence, or leak its descriptors."""

    def test_a_closed_log_says_so(self, log: EventLog) -> None:
        log.append(KEY, said(), said())
        reader = log.read(KEY)
        log.close()
        log.close()
        for use in (
            lambda: log.append(KEY, said()),
            lambda: log.version(KEY),
            lambda: log.read(KEY),
            lambda: next(reader),
            log.streams,
        ):
            with pytest.raises(LogClosed):
                use()

    def test_the_last_one_leaves_one_file_beside_its_lock(self, path: Path) -> None:
        with EventLog(path) as log, EventLog(path) as other:
            log.append(KEY, said())
            other.append(KEY, said())
        assert sorted(p.name for p in path.parent.iterdir()) == ["log.db", "log.db.lock"]

    def test_no_descriptor_stays_open_after_a_refused_open(self, path: Path) -> None:
        path.write_bytes(b"not a database, but long enough to look like one" * 40)
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            with pytest.raises(DatabaseFault):
                EventLog(path)
        assert len(os.listdir("/proc/self/fd")) == before

    def test_durability_is_one_of_two_words(self, path: Path) -> None:
        with pytest.raises(InputRefused):
            EventLog(path, durability="off")  # type: ignore[arg-type]
        assert not path.exists()

    @pytest.mark.parametrize(("word", "number"), [("full", 2), ("normal", 1)])
    def test_the_word_is_what_sqlite_is_told(self, path: Path, word: Any, number: int) -> None:
        with EventLog(path, durability=word) as log:
            assert log._ready().execute("pragma synchronous").fetchone() == (number,)
            assert log._ready().execute("pragma journal_mode").fetchone() == ("wal",)


class TestTwoObjects:
    """Without it two logs in one process would overwrite each other's streams."""

    def test_a_lost_race_is_reported_and_retried(self, log: EventLog, path: Path) -> None:
        with EventLog(path, durability="normal") as other:
            for n in range(20):
                at = log.version(KEY)
                other.append(KEY, said(f"other {n}"), expected_version=at)
                with pytest.raises(WrongExpectedVersion):
                    log.append(KEY, said(f"mine {n}"), expected_version=at)
                log.append(KEY, said(f"mine {n}"), expected_version=at + 1)
            assert other.version(KEY) == 40
            assert other.stream(KEY) == log.stream(KEY)

    def test_a_stream_made_by_the_other_is_not_made_again(self, log: EventLog, path: Path) -> None:
        with EventLog(path, durability="normal") as other:
            for n in range(30):
                key = StreamKey("ann", "coder", f"s{n}")
                (log if n % 2 else other).append(key, said())
                (other if n % 2 else log).append(key, said())
            assert [s.key.session for s in log.streams()] == [f"s{n}" for n in range(30)]
