"""A session of OpenHands V0: a folder of numbered event files, or one file with all of them.

``sessions/<id>/events/<n>.json`` (``users/<user>/conversations/<id>/`` on a server); an exported
trajectory; a run of an evaluation. The session is named by its id, which is the folder's name; an
event's id is its number.

Source: ``openhands/storage/locations.py``, ``openhands/events/event_store.py`` of OpenHands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.importers.conversations import whole_document
from harness.importers.folder import Folder
from harness.importers.job import Job, session_name
from harness.importers.openhands_messages import text_of
from harness.importers.openhands_runs import Run, counted, read_runs, run_name, run_of, start_of
from harness.importers.openhands_v0_chain import Chain
from harness.importers.openhands_v0_messages import fields

FORMAT = "openhands-v0"
METADATA = "metadata.json"
BESIDE = frozenset({METADATA, "init.json", "agent_state.pkl", "event_cache"})

_NAME = re.compile(r"(0|[1-9]\d{0,11})\.json", re.ASCII)
_KEPT = (
    "created_at",
    "git_provider",
    "llm_model",
    "selected_branch",
    "selected_repository",
    "trigger",
)


def number_of(name: str) -> int | None:
    """The number of the event that a file of this name holds."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def recognizes_first(value: Any) -> bool:
    """Whether the first file of a folder with such names is an event: numbers name much else."""
    return is_event(value)


def recognizes(value: Any) -> bool:
    """Whether a value is an array of events, or a run of an evaluation that holds one."""
    events = run_of(value)
    return events is not None and any(map(is_event, events[:1]))


def is_event(value: Any) -> bool:
    """Whether a value is one event: an action or an observation."""
    if not isinstance(value, dict):
        return False
    acts = isinstance(value.get("action"), str) and isinstance(value.get("args"), dict)
    observes = isinstance(value.get("observation"), str) and "content" in value
    return acts or observes


def is_record(value: Any) -> bool:
    """Whether a value by itself is visibly an event: actions and arguments are common words."""
    return is_event(value) and "timestamp" in value and "source" in value


def begins(text: str, cut: bool) -> bool:
    """Whether a text that goes on begins as an array of events does, or as a run of them."""
    is_run = text[:1] == "[" or '"history"' in text
    return cut and is_run and '"action"' in text and '"args"' in text


def may_be(value: Any) -> bool:
    """Whether a value may be a run."""
    return run_of(value) is not None


def read(job: Job) -> None:
    """Import a session, or every run of a file."""
    if job.folder is None:
        for number, run in enumerate(read_runs(job), 1):
            _read_run(job, run, number)
        return
    metadata = _metadata(job, job.folder)
    file = job.folder.root.resolve().name
    own = text_of(metadata.get("conversation_id")) or file
    writer = job.open_writer(job.options.session or session_name(own), FORMAT, own)
    kept = {key: metadata[key] for key in _KEPT if metadata.get(key) not in (None, "")}
    started = start_of(FORMAT, own, text_of(metadata.get("title")), kept, file)
    chain = Chain(writer, text_of(metadata.get("llm_model")), {}, started)
    for piece in job.folder.pieces():
        if not job.waits(piece.record, piece.name):
            chain.take(piece.name, piece.record)
            job.relieve()
    job.finish()


def _metadata(job: Job, folder: Folder) -> Mapping[str, Any]:
    data = folder.beside(METADATA)
    if data is None:
        return {}
    record = whole_document(data)
    if record.fault or not isinstance(record.value, dict):
        job.report.notes.append(f"{METADATA}: {record.fault or 'not an object'}; left out")
    return fields(record.value)


def _read_run(job: Job, run: Run, number: int) -> None:
    name = run_name(job, number)
    writer = job.open_writer(name, FORMAT, name)
    metadata = {**run.metadata, "conversation": number}
    given = fields(run.metadata.get("metadata"))
    model = text_of(fields(given.get("llm_config")).get("model"))
    started = start_of(FORMAT, name, run.title, metadata, job.file, counted(run.record))
    chain = Chain(writer, model, fields(given.get("condenser_config")), started)
    chain.is_paired = run.is_paired
    for index, event in enumerate(run.events, 1):
        chain.take(job.file, run.piece(index, event))
    writer.finish()
