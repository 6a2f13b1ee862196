"""Writers that acknowledge what they appended, and what must hold after their death."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from given import said, texts
from own_chain import recompute

from eventlog import EventLog, StreamKey
from eventlog.errors import CtxlogError, WrongExpectedVersion

Say = Callable[[str, str], None]
STREAMS = tuple(StreamKey("ann", "coder", f"s{n}") for n in range(3))


class Ack(NamedTuple):
    """An append that returned: a stream, the positions, and the first text."""

    stream: int
    first: int
    last: int
    text: str


def append_for_ever(path: Path, writer: str, seed: int, acknowledge: Callable[[Ack], None]) -> None:
    """Appends of 1 to 5 events of all sizes to shared streams, acknowledged one by one."""
    choose = random.Random(seed)
    with EventLog(path, durability="normal") as log:
        number = 0
        while True:
            number += 1
            stream = choose.randrange(len(STREAMS))
            text = f"{writer}.{number} " + "x" * choose.choice([0, 50, 700, 5_000, 60_000])
            more = [said(f"{text[:20]}+{n}") for n in range(choose.randrange(5))]
            done = log.append(STREAMS[stream], said(text), *more)
            acknowledge(Ack(stream, done.first, done.last, text[:20]))


def killed_writers(path: Path, count: int, after: float, seed: int) -> list[Ack]:
    """Fork writers, SIGKILL them all at once after a time, and give what they acknowledged."""
    source, sink = os.pipe()
    pids = []
    for number in range(count):
        pid = os.fork()
        if pid == 0:
            try:
                os.close(source)
                append_for_ever(path, f"w{number}", seed + number, lambda ack: _tell(sink, ack))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        pids.append(pid)
    os.close(sink)
    time.sleep(after)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    with open(source, encoding="utf-8") as told:
        lines = told.read().split("\n")[:-1]
    for pid in pids:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    return [read_ack(line) for line in lines]


def _tell(sink: int, ack: Ack) -> None:
    os.write(sink, f"{ack.stream} {ack.first} {ack.last} {ack.text}\n".encode())


def read_ack(line: str) -> Ack:
    """The acknowledgement of one line."""
    stream, first, last, text = line.split(" ", 3)
    return Ack(int(stream), int(first), int(last), text)


def problems(path: Path, acknowledged: list[Ack]) -> list[str]:
    """What was lost or broken. Opens the log once more, as the next process would, and appends."""
    if not path.exists() or not path.stat().st_size:
        return [f"{len(acknowledged)} acknowledged, and no log"] if acknowledged else []
    found = []
    try:
        with EventLog(path, durability="normal", lock_timeout=5) as log:
            for number, stream in enumerate(STREAMS):
                there = texts(log.read(stream)) if log.exists(stream) else []
                for ack in (a for a in acknowledged if a.stream == number):
                    if len(there) < ack.last or there[ack.first - 1][:20] != ack.text:
                        found.append(f"lost: {ack}")
                log.append(stream, said("the next one"), expected_version=len(there))
    except CtxlogError as error:
        found.append(f"{type(error).__name__}: {error}")
    return found + recompute(path)


def append_with_retries(path: Path, writer: int, count: int) -> tuple[int, list[float]]:
    """Appends at an expected version, again after a lost race: the lost ones, and each wait."""
    choose, lost, waits = random.Random(writer), 0, []
    with EventLog(path, durability="normal") as log:
        for number in range(count):
            stream = choose.choice(STREAMS)
            while True:
                version = log.version(stream)
                began = time.perf_counter()
                try:
                    log.append(stream, said(f"{writer}.{number}"), expected_version=version)
                except WrongExpectedVersion:
                    lost += 1
                    continue
                waits.append(time.perf_counter() - began)
                break
    return lost, waits


def six_events(path: Path) -> None:
    """The script that is killed at each system call: a new log, appends, checkpoints, a fork."""
    with EventLog(path, durability="full") as log:
        for number in range(3):
            done = log.append(STREAMS[0], said(f"a{number}"))
            _tell(1, Ack(0, done.first, done.last, f"a{number}"))
        log._ready().execute("pragma wal_checkpoint(truncate)").fetchall()
        done = log.append(STREAMS[1], said("b0 " + "x" * 20_000), said("b1"))
        _tell(1, Ack(1, done.first, done.last, "b0 " + "x" * 17))
        log.fork(STREAMS[2]._replace(session="fork"), STREAMS[0], at=2)
        done = log.append(STREAMS[0], said("a3"))
        _tell(1, Ack(0, done.first, done.last, "a3"))


if __name__ == "__main__":
    six_events(Path(sys.argv[1]))
