"""A rollout of the Codex CLI: one file, one thread, one stream.

The first ``session_meta`` is the thread's own; a fork and a sub-agent may hold copies of others
behind it, with the history that they begin with. Both are streams of their own, whose start names
the thread that they come from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.events import Origin, SessionStarted
from harness.importers.codex_events import Maker
from harness.importers.codex_header import METADATA, is_subagent, parent_of
from harness.importers.codex_records import LINE_TYPES, Row, is_bare_head
from harness.importers.codex_speakers import text_of
from harness.importers.codex_thread import Thread
from harness.importers.job import Job, session_name
from harness.importers.records import Record, read_records
from harness.importers.stream_writer import StreamWriter

FORMAT = "codex"
IMPORTER_VERSION = 1
MAX_HELD = 1_000
"""Unreadable records that are held until the thread has a name; then it is named after the file."""

MAX_SPAWNED = 10_000
"""Characters; what says that an agent was started is shorter."""

_ROLLOUT = re.compile(r"rollout-.*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.ASCII)
_HEAD = re.compile(r'\{"timestamp":"[^"]{,64}",(?:"ordinal":\d{,20},)?"type":"([a-z_]{,40})"')


def recognizes(value: Any) -> bool:
    """Whether a record is one of Codex's."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if isinstance(kind, str) and kind in LINE_TYPES:
        return isinstance(value.get("payload"), dict)
    return is_bare_head(value)


def begins(text: str, cut: bool) -> bool:
    """Whether a first record that is longer than what was read of it is one of Codex's."""
    found = _HEAD.match(text) if cut and "\n" not in text else None
    return found is not None and found[1] in LINE_TYPES


def may_be(value: Any) -> bool:
    """Whether a record has what theirs have."""
    if not isinstance(value, dict):
        return False
    return ("type" in value and "payload" in value) or is_bare_head(value)


def read(job: Job) -> None:
    """Import a rollout."""
    file = CodexFile(job)
    for record in read_records(job.source):
        if not job.waits(record):
            file.feed(record)
            job.relieve()
    file.finish()
    job.finish()


class CodexFile:
    """Reads one file: feed it the records, then ``finish``."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._links: dict[str, str] = job.shared.setdefault(FORMAT, {})
        """By thread: the call that started it."""
        self._thread: Thread | None = None
        self._held: list[Record] = []

    def feed(self, record: Record) -> None:
        """The next record of the file."""
        if self._thread is None:
            self._held.append(record)
            if record.fault and len(self._held) < MAX_HELD:
                return
            self._thread = self._start(record)
            held, self._held = self._held, []
            for each in held:
                self._thread.take(each)
            return
        self._thread.take(record)

    def finish(self) -> None:
        """The file ends. What is open stays pending, unless it is to be final."""
        final = self._job.options.final
        if self._thread is None and self._held and final:
            self._thread = self._start(self._held[0])
            for record in self._held:
                self._thread.take(record)
            self._held = []
        self._job.report.pending += len(self._held)
        if self._thread is not None:
            self._thread.finish(final)

    def _start(self, record: Record) -> Thread:
        meta = _header(record)
        thread_id = text_of(meta.get("id")) or self._named()
        name = self._job.options.session or session_name(thread_id)
        writer = self._job.open_writer(name, FORMAT, thread_id)
        parent = parent_of(meta)
        metadata = {key: meta[key] for key in METADATA if meta.get(key) is not None}
        subagent = is_subagent(meta)
        if parent and not subagent:
            metadata["forked"] = True
        started = SessionStarted(
            metadata=Json({**metadata, "file": self._job.file}),
            ownership="observed",
            parent_session=self._parent(writer, parent, thread_id),
            parent_call=self._links.get(thread_id, "") if parent else "",
            format=FORMAT,
            importer_version=IMPORTER_VERSION,
            foreign_session_id=thread_id,
            origin=Origin(records=()),
        )
        self._tell_base(writer, meta)
        maker = Maker(self._job.file, subagent)
        return Thread(writer, maker, started, thread_id, self._note)

    def _named(self) -> str:
        """The thread's id by the name of its file, for a file without its beginning."""
        path = self._job.path
        if path is None:
            return self._job.options.session
        found = _ROLLOUT.search(path.name)
        return found[1] if found else path.stem

    def _parent(self, writer: StreamWriter, parent: str, own: str) -> str:
        if not parent or parent == own:
            return ""
        return str(writer.key._replace(session=session_name(parent)))

    def _tell_base(self, writer: StreamWriter, meta: Mapping[str, Any]) -> None:
        base = meta.get("history_base")
        if isinstance(base, dict):
            where = text_of(base.get("thread_id")) or "another thread"
            note = f"it goes on from {where}, whose history is not in this file"
            writer.report.notes.append(note)

    def _note(self, row: Row, tool: str) -> None:
        """Remember which call started which thread, for the file of that thread."""
        thread = ""
        if row.item == "collab_agent_spawn_end":
            thread = text_of(row.payload.get("new_thread_id"))
        elif row.kind == "result" and tool == "spawn_agent":
            thread = _started_agent(text_of(row.payload.get("output")))
        if thread and row.call_id:
            self._links.setdefault(thread, row.call_id)


def _started_agent(output: str) -> str:
    try:
        found = json.loads(output) if len(output) < MAX_SPAWNED else None
    except (ValueError, RecursionError):
        return ""
    return text_of(found.get("agent_id")) if isinstance(found, dict) else ""


def _header(record: Record) -> Mapping[str, Any]:
    value = record.value if isinstance(record.value, dict) else {}
    if is_bare_head(value):
        return value
    payload = value.get("payload") if value.get("type") == "session_meta" else None
    return payload if isinstance(payload, dict) else {}
