"""Imports into a fresh log, and what of the result tests compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_lines import SESSION, Transcript

from eventlog import EventLog, RecordedEvent
from harness.importers import ImportReport, Options, import_path
from projections.context import fold

KEY = f"local/claude-code/{SESSION}"


def run(log: EventLog, path: Path, **options: object) -> ImportReport:
    report = import_path(log, path, Options(**options))  # type: ignore[arg-type]
    assert report.errors == []
    return report


def events(log: EventLog, key: str) -> list[RecordedEvent]:
    return list(log.read(key))


def shape(log: EventLog) -> list[tuple[object, ...]]:
    """Everything in the log except ids and recording times, stream by stream."""
    found: list[tuple[object, ...]] = []
    for info in sorted(log.streams(), key=lambda info: str(info.key)):
        for e in log.read(info.key):
            found.append((str(e.stream), e.position, e.type, e.occurred_at, e.payload))
    return found


def imported(log: EventLog, tmp_path: Path, transcript: Transcript) -> list[RecordedEvent]:
    run(log, transcript.write(tmp_path / "session.jsonl"), final=True)
    return events(log, KEY)


def of_type(found: list[RecordedEvent], kind: str) -> list[dict[str, Any]]:
    return [e.data for e in found if e.type == kind]


def standing(log: EventLog, key: str = KEY) -> list[str]:
    view = fold(log.read(key))
    assert view.notes == []
    return view.labels()
