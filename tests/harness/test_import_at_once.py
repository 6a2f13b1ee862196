"""Several processes import one file at once, while its agent writes it, cuts it or replaces it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_lines import SESSION, Transcript, text
from imported import run, shape

from eventlog import EventLog
from eventlog.integrity import verify
from harness.importers import Options, import_path
from projections import open_log

KEY = f"local/claude-code/{SESSION}"
ROOT = Path(__file__).parents[2]

IMPORT = """
import sys
from harness.importers import import_path
import harness.importers.stream_writer as writer
from projections import open_log
writer.BATCH = 7
db, path = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with open_log(db) as live:
    report = import_path(live.log, path)
print(report.new, *report.errors, *(fork for s in report.sessions for fork in s.forks))
"""


def transcript(turns: int) -> bytes:
    lines = Transcript()
    for number in range(turns):
        lines.user(f"q{number}")
        lines.answer(f"m{number}", text(f"a{number} " * 9))
        lines.turn_ends()
    return lines.bytes()


def appended(path: Path, whole: bytes) -> None:
    for at in range(len(whole) // 3, len(whole), 9_001):
        with path.open("ab") as stream:
            stream.write(whole[at : at + 9_001])
        time.sleep(0.002)


def replaced(path: Path, whole: bytes) -> None:
    for part in range(1, 16):
        new = path.with_suffix(".new")
        new.write_bytes(whole[: len(whole) * part // 15])
        os.replace(new, path)
        time.sleep(0.01)


def cut(path: Path, whole: bytes) -> None:
    for _ in range(8):
        os.truncate(path, len(whole) // 4)
        time.sleep(0.01)
        with path.open("ab") as stream:
            stream.write(whole[len(whole) // 4 :])
        time.sleep(0.01)


def untouched(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)


@pytest.mark.parametrize("writes", [untouched, appended, replaced, cut])
def test_each_event_stands_once_and_nobody_fails(
    tmp_path: Path, writes: Callable[[Path, bytes], None]
) -> None:
    whole = transcript(150)
    path, db = tmp_path / "s.jsonl", tmp_path / "log.db"
    path.write_bytes(whole[: len(whole) // 3] if writes is not untouched else whole)
    command = [sys.executable, "-c", IMPORT, str(db), str(path)]
    started = [
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for each in started:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in started:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    writes(path, whole)
    said = [each.communicate(timeout=60)[0].split() for each in started]
    assert [len(words) for words in said] == [1, 1, 1], said  # no error, and no fork
    path.write_bytes(whole)
    with open_log(db) as live:
        last = import_path(live.log, path, Options(final=True))
        assert last.errors == []
        assert sum(int(words[0]) for words in said) + last.new == live.log.version(KEY)
        assert import_path(live.log, path, Options(final=True)).new == 0
        assert verify(live.log).problems == ()
        found = shape(live.log)
    with EventLog(tmp_path / "alone.db") as log:
        run(log, path, final=True)
        assert shape(log) == found


@pytest.mark.parametrize("names", ["{}/s.jsonl", "{}/{}.jsonl"])
def test_who_is_slower_by_a_part_of_its_events_starts_again(tmp_path: Path, names: str) -> None:
    """Its first events are known by then and the others are not: it is no error of the file."""
    paths = [tmp_path / names.format(turns, turns) for turns in (1, 2, 4)]
    for turns, path in zip((1, 2, 4), paths, strict=True):
        path.parent.mkdir()
        path.write_bytes(transcript(turns))
    with EventLog(tmp_path / "log.db") as log, EventLog(tmp_path / "log.db") as other:
        first = run(other, paths[0], final=True).new
        quicker: list[int] = []
        append = log.append

        def slower(*args: Any, **options: Any) -> Any:
            if not quicker:
                quicker.append(run(other, paths[1], final=True).new)
            return append(*args, **options)

        log.append = slower  # type: ignore[method-assign]
        report = run(log, paths[2], final=True)
        assert quicker[0] > 0
        assert (report.known, report.new) == (first + quicker[0], log.version(KEY) - report.known)
        assert [session.forks for session in report.sessions] == [[]]


def test_who_never_wins_says_that_another_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.importers.importing.ATTEMPTS", 3)
    path = tmp_path / "s.jsonl"
    path.write_bytes(transcript(2))
    with EventLog(tmp_path / "log.db") as log, EventLog(tmp_path / "log.db") as other:
        turns, calls = itertools.count(3), itertools.count()

        def in_between(_: object) -> None:
            if next(calls) % 2:
                return
            longer = tmp_path / "longer.jsonl"
            longer.write_bytes(transcript(next(turns)))
            import_path(other, longer)
            path.write_bytes(transcript(next(turns)))

        report = import_path(log, path, Options(progress=in_between))
        (error,) = report.errors
        assert error.startswith("s.jsonl: another process imports the same (")
        assert error.endswith("; import it again")
        assert run(log, path, final=True).errors == []
        assert verify(log).problems == ()
