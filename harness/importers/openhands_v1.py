"""A conversation of OpenHands' SDK (V1): a folder of event files beside ``base_state.json``.

``events/event-<n>-<id>.json``, one event each; also a JSON array of such events, or a line of an
evaluation with a ``history`` of them. The session is named by the conversation's id.

Source: ``EventLog`` and ``persistence_const`` of OpenHands/software-agent-sdk; conversations of
2025-09.
"""

from __future__ import annotations

import os
import re
from typing import Any

from harness.importers.conversations import conversation_name, whole_document
from harness.importers.folder import MAX_NOTED, Folder
from harness.importers.job import Job, session_name
from harness.importers.openhands_messages import text_of
from harness.importers.openhands_runs import Run, counted, read_runs, run_name, run_of, start_of
from harness.importers.openhands_state import configuration, readable_secrets
from harness.importers.openhands_v1_chain import Chain

FORMAT = "openhands-v1"
STATE = "base_state.json"
BESIDE = frozenset({STATE})

_NAME = re.compile(r"event-(\d{5,12})-[0-9a-fA-F-]{8,64}\.json")
_KINDS = frozenset(
    {
        "SystemPromptEvent",
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "Condensation",
        "ConversationStateUpdateEvent",
    }
)


def number_of(name: str) -> int | None:
    """The number of the event that a file of this name holds."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found and found[1].isascii() else None


def recognizes_first(value: Any) -> bool:
    """Whether a folder with such names is a conversation: the names are enough."""
    return True


def recognizes(value: Any) -> bool:
    """Whether a value is an array of events, or a run of an evaluation that holds one."""
    events = run_of(value)
    return events is not None and any(map(is_record, events[:1]))


def is_record(value: Any) -> bool:
    """Whether a value is one event of a conversation."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in _KINDS and "source" in value and "id" in value


def begins(text: str, cut: bool) -> bool:
    """Whether a text that goes on begins as an array of events does, or as a run of them."""
    is_run = text[:1] == "[" or '"history"' in text
    return cut and is_run and any(f'"{kind}"' in text for kind in _KINDS) and '"source"' in text


def may_be(value: Any) -> bool:
    """Whether a value may be a run."""
    return run_of(value) is not None


def read(job: Job) -> None:
    """Import a conversation, or every run of a file."""
    if job.folder is None:
        for number, run in enumerate(read_runs(job), 1):
            _read_run(job, run, number)
        return
    state = _state(job, job.folder)
    own = text_of(state.get("id"))
    name = session_name(own) if own else conversation_name(os.path.realpath(job.folder.root), 1)
    writer = job.open_writer(job.options.session or name, FORMAT, own or name)
    file = job.folder.root.resolve().name
    chain = Chain(writer, state, start_of(FORMAT, own or name, "", configuration(state), file))
    for piece in job.folder.pieces():
        if not job.waits(piece.record, piece.name):
            chain.take(piece.name, piece.record)
            job.relieve()
    chain.finish(job.options.final)
    job.finish()


def _state(job: Job, folder: Folder) -> dict[str, Any]:
    """The conversation's base state; nothing where there is none."""
    data = folder.beside(STATE)
    if data is None:
        return {}
    record = whole_document(data)
    if record.fault or not isinstance(record.value, dict):
        job.report.notes.append(f"{STATE}: {record.fault or 'not an object'}; left out")
        return {}
    for name in readable_secrets(record.value)[:MAX_NOTED]:
        job.report.notes.append(f"{STATE}: {name} stands there readable; it was not taken in")
    return record.value


def _read_run(job: Job, run: Run, number: int) -> None:
    name = run_name(job, number)
    writer = job.open_writer(name, FORMAT, name)
    metadata = {**run.metadata, "conversation": number}
    started = start_of(FORMAT, name, run.title, metadata, job.file, counted(run.record))
    chain = Chain(writer, {}, started)
    for index, event in enumerate(run.events, 1):
        chain.take(job.file, run.piece(index, event))
    chain.finish(True)
    writer.finish()
