"""OpenHands' transcripts that are one file: an exported trajectory, or the runs of an evaluation.

A trajectory is an array of events, as the web interface exports it. An evaluation writes one run a
line (``output.jsonl``), an object with a ``history`` of events, whatever its other fields are; the
earliest wrote ``[[action, observation], …]`` there. Source: ``openhands/events/serialization`` and
``evaluation/utils/shared.py`` of OpenHands; OpenHands/benchmarks for the runs of V1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eventlog import Json
from eventlog.events import Origin, OriginRecord, SessionStarted
from eventlog.jsonvalue import dumps
from harness.importers.conversations import conversation_name, is_lines, read_document
from harness.importers.job import Job
from harness.importers.records import Record, read_records

IMPORTER_VERSION = 1

_KEPT = ("instance_id", "instruction", "metadata", "metrics", "error", "test_result", "attempt")


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its events, and what the file says of it besides."""

    events: list[Any]
    record: Record | None
    """The record that holds it whole; None for an array of events, whose events are the records."""
    title: str
    metadata: Mapping[str, Any]
    is_paired: bool = False
    """Whether each observation stands behind the action that it answers, whatever it names."""

    def piece(self, number: int, event: Any) -> Record:
        """One of its events as a record of its own."""
        raw = dumps(event).encode("utf-8", "surrogatepass")
        fault = "" if isinstance(event, dict) else "not an object"
        return Record(number, 0, 0, raw, event if not fault else None, fault)


def run_of(value: Any) -> list[Any] | None:
    """The events of a run, in whatever way it holds them; None for what holds none."""
    if isinstance(value, dict):
        value = value.get("history")
    if not isinstance(value, list):
        return None
    return [event for pair in value for event in pair] if _is_paired(value) else value


def _is_paired(history: Any) -> bool:
    pairs = history if isinstance(history, list) else []
    return bool(pairs) and all(isinstance(each, list) and len(each) == 2 for each in pairs)


def read_runs(job: Job) -> Iterator[Run]:
    """The runs of a file; what is none is told. Raises DocumentTooLarge."""
    source = job.source
    records = read_records(source) if is_lines(source) else iter([read_document(source)])
    for record in records:
        if job.waits(record):
            continue
        values = [record.value]
        if isinstance(record.value, list) and _has_runs(record.value):
            values = record.value
        for value in values:
            events = run_of(value)
            if record.fault or events is None:
                fault = record.fault or "no run with a history"
                report = job.report
                report.notes.append(f"line {record.line}, byte {record.offset}: {fault}")
                report.error = report.error or f"{source.name}: line {record.line}: {fault}"
                continue
            fields = value if isinstance(value, dict) else {}
            title = fields.get("instance_id")
            yield Run(
                events,
                record if fields else None,
                title if isinstance(title, str) else "",
                {k: fields[k] for k in _KEPT if fields.get(k) not in (None, {}, "")},
                _is_paired(fields.get("history", value)),
            )


def run_name(job: Job, number: int) -> str:
    """The session name of the n-th run of a file: no id in it is one of a single run."""
    given = job.options.session
    if given:
        return given if number == 1 else f"{given}.{number}"
    place = os.path.realpath(job.path) if job.path is not None else ""
    return conversation_name(place, number)


def _has_runs(values: list[Any]) -> bool:
    return all(isinstance(each, dict) and isinstance(each.get("history"), list) for each in values)


def counted(record: Record | None) -> tuple[OriginRecord, ...]:
    """The origin of a session that one record holds whole; its events are no records then."""
    if record is None:
        return ()
    place = ("conversation",)
    return (OriginRecord(line=record.line, part=record.part, type="run", pairs=place),)


def start_of(
    format: str,
    foreign_id: str,
    title: str,
    metadata: Mapping[str, Any],
    file: str,
    records: tuple[OriginRecord, ...] = (),
) -> SessionStarted:
    """How a session of either format begins."""
    return SessionStarted(
        title=title,
        metadata=Json({**metadata, "file": file}),
        ownership="observed",
        format=format,
        importer_version=IMPORTER_VERSION,
        foreign_session_id=foreign_id,
        origin=Origin(records=records),
    )
