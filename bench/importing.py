"""Importing a transcript against reading its lines and inserting them, and against doing it again.

The transcript is the bundled session, repeated with ids of its own each time.
"""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from bench.harness import Row, compared, folder, interleaved
from harness.importers import import_path
from projections import open_log

SOURCE = Path(__file__).parents[1] / "cli" / "demo" / "refund-rounding.jsonl"
COPIES = 30


def run(rounds: int) -> list[Row]:
    with folder() as place:
        transcript = place / "session.jsonl"
        _write(transcript)
        size = transcript.stat().st_size
        number = iter(range(10_000))

        def ours() -> float:
            path = place / f"{next(number)}.db"
            with open_log(path) as live:
                began = time.perf_counter()
                report = import_path(live.log, transcript)
                spent = time.perf_counter() - began
            assert report.new > 1000
            assert not report.errors
            path.unlink()
            return spent

        def raw() -> float:
            path = place / f"{next(number)}.db"
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute("pragma journal_mode=wal").fetchone()
                db.execute("create table lines (id integer primary key, payload text not null)")
                began = time.perf_counter()
                with transcript.open(encoding="utf-8") as lines:
                    batch = []
                    for line in lines:
                        json.loads(line)
                        batch.append((line,))
                        if len(batch) == 500:
                            _insert(db, batch)
                            batch = []
                    _insert(db, batch)
                spent = time.perf_counter() - began
            path.unlink()
            return spent

        base = "loads + insert"
        times = interleaved({"ctxlog": ours, base: raw}, rounds)
        row = compared(f"import of {size / 1e6:.0f} MB, per MB", times, base=base, per=1, aim=3)
        return [row._replace(value=row.value / size * 1e6, base=(row.base or 0) / size * 1e6)]


def _insert(db: sqlite3.Connection, batch: list[tuple[str]]) -> None:
    db.execute("begin immediate")
    db.executemany("insert into lines (payload) values (?)", batch)
    db.execute("commit")


def _write(path: Path) -> None:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as out:
        for copy in range(COPIES):
            for line in lines:
                for field in ('"uuid":"', '"parentUuid":"', '"id":"', '"tool_use_id":"'):
                    line = line.replace(field, f"{field}{copy}-")
                out.write(line + "\n")
