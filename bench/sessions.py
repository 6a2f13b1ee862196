"""Sessions: ten thousand are listed as fast as ten, and one is opened as fast among them.

What is timed is the whole process, as a person waits for it. The limit of a list is the start of
the program, ``ctxlog --version``, and below that ``python -c pass``. Rows of the processor's time
are what another program on the machine changes less. The first list of a log folds all of it; one
after a message folds that, unless the writer kept the rows up; every other one is a glance.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from bench.big import spent
from bench.harness import Row, compared, folder, interleaved
from eventlog import StreamKey
from eventlog.events import (
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    SessionStarted,
    Usage,
)
from harness.agent_sessions import Sessions
from projections import open_log
from projections.sessions import keep_up

ROOT = Path(__file__).parents[1]
SIZES = (10, 1_000, 10_000)
ONE = StreamKey("local", "chat", "the-one")
AIM = 150
"""Milliseconds of a list."""


def run(rounds: int) -> list[Row]:
    with folder() as place:
        paths = {size: place / f"{size}.db" for size in SIZES}
        first = {size: _filled(path, size) for size, path in paths.items()}
        return [
            *_listed(paths, rounds),
            *_processor(paths, rounds),
            *_opened(paths, rounds),
            *(
                Row(f"first list of {size:,} sessions, all folded", seconds * 1e3, "ms")
                for size, seconds in first.items()
            ),
        ]


def _said(text: str, role: str = "user", call: int | None = None) -> MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": source,
            "call": call,
            "message": {"role": role, "content": text},
        }
    )


def _talk(number: int) -> tuple[Event, ...]:
    return (
        SessionStarted(),
        _said("Be brief.", "system"),
        _said(f"What became of part {number % 97} of the build, number {number}?"),
        ModelCalled(model="m", dialect="openai_chat"),
        _said("It is built, and all of its tests pass.", "assistant", 4),
        ModelResponded(call=4, usage=Usage(input=120, output=11)),
        _said("Thank you."),
    )


def _filled(path: Path, size: int) -> float:
    """Make a log of so many sessions; the seconds that its first list takes, in this process."""
    with open_log(path, durability="normal") as live:
        sessions = Sessions(live)
        live.append(ONE, *_talk(0))
        for number in range(1, size):
            live.append(sessions.key(f"{number:05x}-talk"), *_talk(number))
        began = time.perf_counter()
        sessions.list()
        return time.perf_counter() - began


def _process(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT, capture_output=True)


def _ctxlog(*arguments: str) -> None:
    _process("-m", "cli.main", *arguments)


def _listed(paths: dict[int, Path], rounds: int) -> list[Row]:
    largest = SIZES[-1]

    def after_a_message(*, kept_up: bool) -> float:
        with open_log(paths[largest], durability="normal") as live:
            live.append(ONE, _said("And now?"))
            if kept_up:
                keep_up(live)
        began = time.perf_counter()
        _ctxlog("sessions", "--db", str(paths[largest]))
        return time.perf_counter() - began

    cases = {
        "python": partial(_process, "-c", "pass"),
        "version": partial(_ctxlog, "--version"),
        **{str(n): partial(_ctxlog, "sessions", "--db", str(path)) for n, path in paths.items()},
        "kept": partial(after_a_message, kept_up=True),
        "news": partial(after_a_message, kept_up=False),
    }
    times = interleaved(cases, rounds)
    rows = []
    for size in SIZES:
        name = f"ctxlog sessions, {size:,} sessions"
        row = _in_ms(compared(name, times, ours=str(size), base="python"))
        rows.append(row._replace(ratio=None, aim=AIM))
        rows.append(_in_ms(compared(name, times, ours=str(size), base="version")))
    for case, what in (("kept", "rows kept up"), ("news", "rows left behind")):
        name = f"the same of {largest:,} after a message, {what}"
        rows.append(_in_ms(compared(name, times, ours=case, base="version")))
    return rows


def _processor(paths: dict[int, Path], rounds: int) -> list[Row]:
    rows = []
    for size in SIZES:
        arguments = ["sessions", "--db", str(paths[size])]
        cpu = min(spent(arguments, paths[size].parent).cpu for _ in range(rounds))
        name = f"processor of ctxlog sessions, {size:,} sessions"
        rows.append(Row(name, cpu * 1e3, "ms", aim=AIM))
    return rows


def _in_ms(row: Row) -> Row:
    names = {"python": "python -c pass", "version": "ctxlog --version"}
    return row._replace(
        value=row.value / 1000,
        base=(row.base or 0) / 1000,
        unit="ms",
        against=names.get(row.against, row.against),
    )


def _opened(paths: dict[int, Path], rounds: int) -> list[Row]:
    """One session among others: as a process, and in a program that opens the log for it."""
    smallest, rows = str(SIZES[0]), []
    for what, arguments in (
        ("ctxlog show S@3", ("show", "the-one@3")),
        ("ctxlog log -n 5 last", ("log", "-n", "5", "last")),
    ):
        cases = {str(n): partial(_ctxlog, *arguments, "--db", str(p)) for n, p in paths.items()}
        times = interleaved(cases, rounds)
        for size in SIZES[1:]:
            row = compared(f"{what}, {size:,} sessions", times, ours=str(size), base=smallest)
            rows.append(_in_ms(row)._replace(against="of 10", aim=1.1))
    times = interleaved({str(size): partial(_open, path) for size, path in paths.items()}, rounds)
    for size in SIZES[1:]:
        name = f"open_log, one context, {size:,} sessions"
        row = compared(name, times, ours=str(size), base=smallest)
        rows.append(_in_ms(row)._replace(against="of 10", aim=1.25))
    return rows


def _open(path: Path) -> float:
    """Open a log, find one session, and read its context: the median of some."""
    spent = []
    for _ in range(9):
        began = time.perf_counter()
        with open_log(path) as live:
            key = Sessions(live).find(ONE.session)
            assert len(live.messages(key)) >= 4
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)
