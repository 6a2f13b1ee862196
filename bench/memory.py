"""The memory of a comparison, as a multiple of the session's text.

A session of tool calls is read from its log and ten strategies without a model are run over it,
then compared with all metrics. What Python allocates is counted from the moment at which the log is
open, at its peak; the text is what was said, called and returned, in UTF-8. Messages have the sizes
of ``bench.harness.messages`` (log-normal, median 700 bytes), and none is cut.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.harness import Row, folder

_CHILD = """
import gc, json, sys, tracemalloc
from bench.whatif import KEY, SPECS
from projections import open_log
from projections.compare import compare
from projections.recording import recording
from projections.strategies import parse
from projections.tokens import counter
from projections.whatif import Runner

def peak(work):
    tracemalloc.reset_peak()
    work()
    return tracemalloc.get_traced_memory()[1] - started

with open_log(sys.argv[2]) as live:  # once before it counts: what is loaded late, and kept
    compare([recording(live.log.read(KEY), counter())], SPECS, counter())
with open_log(sys.argv[1]) as live:
    gc.collect()
    tracemalloc.start()
    started = tracemalloc.get_traced_memory()[0]
    session = recording(live.log.read(KEY), counter())
    read = tracemalloc.get_traced_memory()[1] - started
    items = [step.item for step in session.steps if step.item is not None]
    text = sum(len(item.text.encode()) for item in items)
    ran = max(peak(Runner(session, parse(spec), counter()).run) for spec in SPECS)
    compared = peak(lambda: compare([session], SPECS, counter()))
print(json.dumps([text, read, ran, compared]))
"""


def run(rounds: int) -> list[Row]:
    from bench.whatif import session

    rows: list[Row] = []
    with folder() as place:
        session(place / "first.db", 100, whole=True)
        for count in (1_000, 10_000):
            path = place / f"{count}.db"
            session(path, count, whole=True)
            text, read, ran, compared = _measured(path, place / "first.db")
            for name, size in (("reading", read), ("what-ifs", ran), ("compare", compared)):
                row = Row(f"peak memory of {name}, {count:,} messages", size / 1e6, "MB")
                rows.append(
                    row._replace(base=text / 1e6, against="text", ratio=size / text, aim=3.0)
                )
    return rows


def _measured(path: Path, first: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), str(first)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    found: list[float] = json.loads(done.stdout)
    return found
