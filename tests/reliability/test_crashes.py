"""Processes that die, and processes that race: what was acknowledged is there, once."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crashes import STREAMS, Ack, Say, append_with_retries, killed_writers, problems, read_ack
from given import REPOSITORY, plain, texts
from own_chain import recompute

from eventlog import EventLog


class TestKill:
    """Without it a crash of an agent costs the last things that it was told were recorded."""

    @pytest.mark.parametrize(
        ("trials", "writers"),
        [
            pytest.param(20, 1, id="20 trials"),
            pytest.param(10, 3, id="10 trials of 3 writers"),
            pytest.param(200, 1, id="200 trials", marks=pytest.mark.slow),
            pytest.param(60, 4, id="60 trials of 4 writers", marks=pytest.mark.slow),
        ],
    )
    def test_a_killed_writer_loses_nothing_that_it_acknowledged(
        self, tmp_path: Path, trials: int, writers: int, say: Say
    ) -> None:
        acknowledged = 0
        for trial in range(trials):
            path = tmp_path / f"{trial // 5}.db"  # five deaths in a row on the same log
            acks = killed_writers(
                path, writers, random.Random(trial).uniform(0.002, 0.060), seed=trial * 10
            )
            acknowledged += len(acks)
            assert problems(path, acks) == [], f"trial {trial}"
            if trial % 5 == 4:
                path.unlink()
        assert acknowledged > trials
        say(f"kill -9, {writers} writers, {trials} trials", f"{acknowledged} acknowledged, 0 lost")

    def test_the_check_itself_sees_a_loss(self, tmp_path: Path) -> None:
        """The control: without the newest row, or with another text, the same check complains."""
        path = tmp_path / "log.db"
        acks: list[Ack] = []
        while len(acks) < 2:
            acks += killed_writers(path, 1, 0.05, seed=1)
        with plain(path) as db:
            db.execute("drop trigger events_delete")
            db.execute("delete from events where sequence = (select max(sequence) from events)")
        last = max(acks, key=lambda ack: ack.last)
        missing = Ack(last.stream, last.last + 1, last.last + 1, "never")
        assert any(p.startswith("lost") for p in problems(path, [*acks, missing]))


class TestRace:
    """Without it two agents in one folder overwrite each other's turns, or wait for ever."""

    @pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.slow)])
    def test_four_writers_on_three_streams_lose_no_event(
        self, tmp_path: Path, count: int, say: Say
    ) -> None:
        path, writers = tmp_path / "log.db", 4
        EventLog(path).close()
        children = []
        for writer in range(writers):
            source, sink = os.pipe()
            pid = os.fork()
            if pid == 0:
                try:
                    told = pickle.dumps(append_with_retries(path, writer, count))
                except BaseException as error:
                    told = pickle.dumps(repr(error))
                with open(sink, "wb") as out:
                    out.write(told)
                os._exit(0)
            os.close(sink)
            children.append((pid, source))
        lost, waits = 0, []
        for pid, source in children:
            with open(source, "rb") as told_file:
                result = pickle.loads(told_file.read())
            os.waitpid(pid, 0)
            assert isinstance(result, tuple), result
            lost, waits = lost + result[0], waits + result[1]
        with EventLog(path, read_only=True) as log:
            there = {stream: texts(log.read(stream)) for stream in STREAMS}
        everything = [text for stream in there.values() for text in stream]
        assert sorted(everything) == sorted(
            f"{w}.{n}" for w in range(writers) for n in range(count)
        )
        for stream in there.values():
            for writer in range(writers):
                own = [int(t.split(".")[1]) for t in stream if t.startswith(f"{writer}.")]
                assert own == sorted(own)
        assert recompute(path) == []
        waits.sort()
        assert waits[-1] < 10
        worst = f"p99 {waits[len(waits) * 99 // 100] * 1e3:.1f} ms, worst {waits[-1] * 1e3:.0f} ms"
        say(f"{writers} writers x {count}, 3 streams", f"{lost} lost races, 0 lost, {worst}")


@pytest.mark.slow
class TestKillAtEverySystemCall:
    """Without it only the moments that chance picks are tried, and the narrow ones never are."""

    CALLS = "pwrite64,fdatasync,fsync,ftruncate,unlink,flock"

    def test_each_leaves_a_log_that_opens(self, tmp_path: Path, say: Say) -> None:
        strace = shutil.which("strace")
        if strace is None:
            pytest.skip("strace is not installed")
        points = 0
        for call in self.CALLS.split(","):
            for number in range(1, 400):
                path = tmp_path / f"{call}-{number}.db"
                done = self.run(strace, path, call, number)
                if done.returncode != 0 and "ptrace" in done.stderr:
                    pytest.skip(f"strace cannot trace here: {done.stderr.splitlines()[0]}")
                acks = [read_ack(line) for line in done.stdout.splitlines() if line]
                assert problems(path, acks) == [], f"{call} {number}"
                if done.returncode == 0:
                    break
                points += 1
            else:
                pytest.fail(f"{call}: the script never ran to its end")
        assert points > 50
        say("kill at every system call", f"{points} points, 0 lost")

    def run(
        self, strace: str, path: Path, call: str, number: int
    ) -> subprocess.CompletedProcess[str]:
        script = Path(__file__).with_name("crashes.py")
        folders = [REPOSITORY, REPOSITORY / "tests" / "eventlog", script.parent]
        injected = ["-e", f"inject={call}:signal=SIGKILL:when={number}"]
        tracing = [strace, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", *injected]
        return subprocess.run(
            [*tracing, sys.executable, str(script), str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
            capture_output=True,
            text=True,
            timeout=60,
        )
