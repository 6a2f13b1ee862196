"""Reports for tests to look at: made in this process, each once for a file of tests."""

from __future__ import annotations

from pathlib import Path

from demo_log import demo_log

from cli.naming import short_names
from cli.report.report import report
from cli.report.written import write
from eventlog import StreamKey
from projections import Live, open_log


def reported(log: Path, folder: Path, *keys: StreamKey) -> str:
    """The address of a report of sessions; without keys of all that are there."""
    file = folder / f"{log.stem}.html"
    with open_log(log) as live:
        chosen = list(keys) or _all(live)
        made = report(live, chosen, short_names(live, map(str, chosen)))
        write(made, str(file), force=True)
    return file.as_uri()


def _all(live: Live) -> list[StreamKey]:
    return [info.key for info in live.log.streams()]


def demo_report(folder: Path) -> str:
    """The bundled session: 44 calls, one compaction, placeholders."""
    return reported(demo_log(folder), folder)
