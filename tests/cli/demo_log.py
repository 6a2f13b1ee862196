"""The bundled session in a log of its own: imported once, and a copy for each test."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from running import ROOT, run

from eventlog import EventLog

DEMO = ROOT / "cli" / "demo" / "refund-rounding.jsonl"


@functools.cache
def _imported() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "d.db"
        assert run("import", DEMO, "--db", path).exit_code == 0
        with EventLog(path) as log:
            log.query("pragma wal_checkpoint(truncate)").fetchall()
        return path.read_bytes()


def demo_log(folder: Path) -> Path:
    """A log with the session, to do anything with."""
    path = folder / "d.db"
    path.write_bytes(_imported())
    return path
