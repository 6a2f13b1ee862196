"""A session of 40 MB on the command line: how long each command takes, and how much memory.

The transcript is made: rounds of a question, a call, its result and an answer, with a compaction at
every hundredth. Each command is a process of its own; its memory is the largest that the system saw
of it (``ru_maxrss``), beside that of ``--version``, which does nothing. The limit of a time is
reading the file once as JSON lines, or the log's payloads as JSON; a second row gives the seconds
of processor that it took, which another program on the machine changes less. The first search fills
the index; what only reads is run on a log that has one.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.harness import Row, folder, messages
from projections import open_log

ROOT = Path(__file__).parents[1]
SIZE = 40_000_000
KEY = "local/claude-code/big"

COMMANDS: dict[str, list[str]] = {
    "sessions": ["sessions"],
    "stats": ["stats", KEY],
    "log": ["log", KEY],
    "log -n 20": ["log", KEY, "-n", "20"],
    "log --calls": ["log", KEY, "--calls"],
    "show --context": ["show", KEY, "--context"],
    "replay": ["replay", f"{KEY}@c9000"],
    "diff": ["diff", f"{KEY}@k40"],
    "diff --anchors": ["diff", f"{KEY}@k40", "--anchors"],
    "diff --prefix": ["diff", f"{KEY}@c9000", "--prefix"],
    "search": ["search", "ORD-70500"],
    "search in the session": ["search", "settled", KEY],
    "audit": ["audit", KEY],
    "audit --prefix": ["audit", KEY, "--prefix"],
    "why": ["why", KEY, "12"],
    "why at a call": ["why", KEY, "12", "--at", "c9000"],
    "recover": ["recover", KEY, "12"],
    "recover --lost": ["recover", KEY, "--lost", "k20"],
    "recover --query": ["recover", KEY, "--query", "ORD-70500"],
    "run --dry-run": ["run", KEY, "--strategy", "clear:keep=3", "--dry-run"],
    "undo --dry-run": ["undo", KEY, "k20", "--dry-run"],
    "rewind --dry-run": ["rewind", f"{KEY}@c9000", "--dry-run"],
    "sql": ["sql", "select model, sum(output) from calls_readable group by model"],
    "verify": ["verify"],
    "doctor": ["doctor"],
    "export": ["export", KEY],
    "backup": ["backup", "copy.db", "--force"],
}
"""Commands that change nothing of the session, by what the table calls them."""


class Spent(NamedTuple):
    """What a process took."""

    seconds: float
    cpu: float
    memory: float
    """In MB, at its peak."""


def run(rounds: int) -> list[Row]:
    """Few rounds: each is long."""
    rounds = min(rounds, 3)
    with folder() as place:
        transcript = place / "big.jsonl"
        write(transcript, SIZE)
        size = transcript.stat().st_size
        nothing = spent(["--version"], place).memory
        rows = [Row("peak memory of a command that does nothing", nothing, "MB")]
        imports = [_import(transcript, place, number) for number in range(rounds)]
        read = statistics.median(_reading(transcript) for _ in range(rounds))
        rows += _rows("import", imports, read, "reading the lines", nothing)
        loads = statistics.median(_payloads(place / "0.db") for _ in range(rounds))
        against = "reading the payloads"
        first = [
            spent([*COMMANDS["search"], "--db", f"{number}.db"], place) for number in range(rounds)
        ]
        rows += _rows("the first search", first, loads, against, nothing)
        for name, args in COMMANDS.items():
            took = [spent([*args, "--db", "0.db"], place) for _ in range(rounds)]
            rows += _rows(name, took, loads, against, nothing)
        return [row._replace(name=f"{size / 1e6:.0f} MB: {row.name}") for row in rows]


def _rows(name: str, took: list[Spent], limit: float, against: str, nothing: float) -> list[Row]:
    seconds = statistics.median(each.seconds for each in took)
    cpu = statistics.median(each.cpu for each in took)
    return [
        Row(name, seconds * 1e3, "ms", limit * 1e3, against, seconds / limit),
        Row(f"processor of {name}", cpu * 1e3, "ms"),
        Row(f"peak memory of {name}", max(each.memory for each in took), "MB", nothing, "nothing"),
    ]


def _import(transcript: Path, place: Path, number: int) -> Spent:
    return spent(["import", str(transcript), "--session", "big", "--db", f"{number}.db"], place)


def spent(args: list[str], place: Path) -> Spent:
    """What one command took, run in a folder, which is its home."""
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "cli.main", *args],
        cwd=place,
        env={**os.environ, "HOME": str(place), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode > 1:
        raise SystemExit(f"ctxlog {' '.join(args)}: {said.decode(errors='replace')}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(
        time.perf_counter() - began,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * unit / 1e6,
    )


def _reading(transcript: Path) -> float:
    began = time.perf_counter()
    with transcript.open(encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)
    return time.perf_counter() - began


def _payloads(db: Path) -> float:
    with open_log(db) as live:
        began = time.perf_counter()
        for event in live.log.read(KEY):
            assert isinstance(event.data, dict)
        return time.perf_counter() - began


def write(path: Path, size: int) -> None:
    """A transcript of about that many bytes."""
    choose = random.Random(7)
    texts = [str(message["content"]) for message in messages(400, seed=3)]
    number, last, written = 0, None, 0
    with path.open("w", encoding="utf-8") as out:

        def put(kind: str, content: object, **fields: object) -> None:
            nonlocal number, last, written
            number += 1
            seconds = number * 5
            moment = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            record = {
                "type": kind,
                "uuid": f"u{number}",
                "parentUuid": last,
                "isSidechain": False,
                "sessionId": "big",
                "cwd": "/srv/shop",
                "version": "2.1.17",
                "timestamp": f"2026-03-{1 + seconds // 86_400 % 28:02}T{moment}.000Z",
                **fields,
            }
            if content is not None:
                record["message"] = content
            last = f"u{number}"
            line = json.dumps(record, ensure_ascii=False) + "\n"
            written += len(line.encode())
            out.write(line)

        def answer(*blocks: object) -> None:
            usage = {"input_tokens": 3, "output_tokens": 60, "cache_read_input_tokens": 9_000}
            message = {"id": f"m{number}", "role": "assistant", "model": "claude-kiln-1"}
            put("assistant", {**message, "content": blocks, "usage": usage})

        round_ = 0
        while written < size:
            round_ += 1
            order = f"ORD-{70_000 + round_}"
            ask = f"Look up {order} in src/shop/part_{round_ % 97}.py. {choose.choice(texts)[:900]}"
            put("user", {"role": "user", "content": ask})
            for step in range(3):
                tool = f"t{round_}.{step}"
                given = {"command": f"grep -n {order} src/shop/part_{round_ % 97}.py"}
                answer({"type": "tool_use", "id": tool, "name": "Bash", "input": given})
                found = f"{order}: {choose.choice(texts)}"
                block = {"type": "tool_result", "tool_use_id": tool, "content": found}
                put("user", {"role": "user", "content": [block]})
            answer({"type": "text", "text": f"{order} is settled. {choose.choice(texts)[:600]}"})
            if round_ % 100 == 0:
                data = {"trigger": "auto", "preTokens": 150_000}
                put("system", None, subtype="compact_boundary", compactMetadata=data)
                summary = f"Summary up to {order}. {choose.choice(texts)[:2000]}"
                put("user", {"role": "user", "content": summary}, isCompactSummary=True)
