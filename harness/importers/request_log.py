"""A log of requests: each holds the whole conversation once more, as the model saw it.

So every call is recorded with its manifest and digest, and what the agent did to its context is
read off the difference between two requests. Each conversation is a stream of its own: see
``threads``. What is no request (a token count, a record that cannot be read) is kept whole in the
stream of the request before it. Keys never reach the log: see ``withheld``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from eventlog import Json, StreamKey, messages
from eventlog.errors import EventInvalid, InputRefused
from eventlog.events import (
    Event,
    Origin,
    RecordUnrecognized,
    SessionStarted,
)
from eventlog.jsonvalue import dumps, loads
from harness.exchange.answers import text_of, texts_of
from harness.exchange.asks import ask_of
from harness.exchange.secret_text import Withheld
from harness.exchange.thread import Thread
from harness.exchange.threads import How, Threads, opening_of
from harness.exchange.withheld import record_without_secrets
from harness.importers.arrays import IMPORTER_VERSION
from harness.importers.conversations import conversation_name
from harness.importers.exchange_events import Marks, ended, json_of, rewound
from harness.importers.exchange_records import read_exchange_records
from harness.importers.exchanges import BODIES, Exchange, exchange_of
from harness.importers.job import Job, session_name
from harness.importers.records import Record
from harness.importers.stream_writer import StreamWriter
from harness.importers.true_requests import TrueRequests
from harness.importers.units import Planned, Slot, Unit
from projections.observe import Request
from projections.proof import request_of

RELIEVE_BYTES = 4 * 1024 * 1024
"""Of records, between two looks at how much waits to be appended."""

MAX_HELD_BYTES = 64 * 1024 * 1024
"""Of records before the first request."""


class NoRequest(InputRefused):
    """A log in which nothing is a request to a model."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name}: no record in it holds a request with messages")


def read_request_log(job: Job, format: str) -> None:
    """Import every conversation of a log. Raises NoRequest."""
    log, size = RequestLog(job, format), 0
    for record in read_exchange_records(job.source):
        if job.waits(record):
            continue
        log.feed(record)
        size += len(record.raw)
        if size > RELIEVE_BYTES:  # not at each record: it looks at every stream of the file
            job.relieve()
            size = 0
    log.finish()
    job.finish()


@dataclass(slots=True)
class _Stream:
    """One conversation."""

    writer: StreamWriter
    requests: TrueRequests
    start: Slot
    task: str
    """What another conversation's model told a tool to ask here; empty for any other."""
    names: dict[str, str] = field(default_factory=dict)
    """Call id to the name of its tool."""


class RequestLog:
    """Reads one log: feed it the records, then ``finish``."""

    def __init__(self, job: Job, format: str) -> None:
        self._job, self._format = job, format
        self._place = os.path.realpath(job.path) if job.path is not None else ""
        self._threads = Threads()
        self._streams: dict[tuple[str, int], _Stream] = {}
        self._last: _Stream | None = None
        self._held: list[Record] = []
        self._held_bytes = 0
        self._prompts: dict[str, tuple[StreamKey, str]] = {}
        """What a model told a tool to ask, and the call."""

    def feed(self, record: Record) -> None:
        """The next record of the file. Raises NoRequest when there were too many without one."""
        exchange = exchange_of(record.value) if not record.fault else None
        request = None
        if exchange is not None:
            request = _request(exchange)
        if exchange is not None and request is not None:
            self._take(record, exchange, request)
        elif self._last is not None:
            self._unrecognized(self._last, record, exchange is not None)
        else:
            self._held.append(record)
            self._held_bytes += len(record.raw)
            if self._held_bytes > MAX_HELD_BYTES:
                raise NoRequest(self._job.source.name)

    def finish(self) -> None:
        """The file ends. Raises NoRequest when it holds none, and waits for none."""
        if self._last is None and not self._job.report.pending:
            raise NoRequest(self._job.source.name)
        self._job.report.pending += len(self._held)

    # -- streams --------------------------------------------------------------------------------

    def _task(self, request: Request) -> str:
        """What a model told a tool to ask, where a request begins with it."""
        said = [text.strip() for text in texts_of(opening_of(request))]
        return next((text for text in said if text in self._prompts), "")

    def _open(self, thread: Thread, task: str) -> _Stream:
        name, foreign_id = self._names(thread)
        writer = self._job.open_writer(name, self._format, foreign_id)
        parent, call_id = "", ""
        if task:
            key, call_id = self._prompts[task]
            parent = str(key)
        elif thread.group and thread.number != 1 and (thread.group, 1) in self._streams:
            parent = self._streams[thread.group, 1].writer.report.key
        metadata: dict[str, Any] = {"file": self._job.file}
        if thread.group:
            metadata["session"] = thread.group
        started = SessionStarted(
            metadata=Json(metadata),
            ownership="observed",
            parent_session=parent,
            parent_call=call_id,
            format=self._format,
            importer_version=IMPORTER_VERSION,
            foreign_session_id=foreign_id,
            origin=Origin(records=()),
        )
        requests = TrueRequests(self._job.log, writer)
        stream = _Stream(writer, requests, Slot(), task)
        requests.add(Unit((), [Planned(stream.start, lambda: started)]))
        self._streams[thread.group, thread.number] = stream
        return stream

    def _names(self, thread: Thread) -> tuple[str, str]:
        """The session name of a conversation, and its foreign id."""
        given, number = self._job.options.session, thread.number
        own = session_name(thread.group) if thread.group else ""
        if not own and not given:
            name = conversation_name(self._place, number)
            return name, name
        foreign = f"{thread.group}.{number}" if number > 1 else thread.group
        base = own
        if given:
            groups = list(dict.fromkeys([*(group for group, _ in self._streams), thread.group]))
            base = given if groups[0] == thread.group else f"{given}.{own or 'other'}"
        return (f"{base}.{number}" if number > 1 else base), foreign or given

    # -- records --------------------------------------------------------------------------------

    def _take(self, record: Record, exchange: Exchange, request: Request) -> None:
        task = self._task(request)
        request = replace(request, said=self._threads.said())
        thread, how = self._threads.place(ask_of(request), is_task=bool(task))
        stream = self._streams.get((thread.group, thread.number))
        if stream is None:
            stream = self._open(thread, task)
        self._last = stream
        held, self._held = self._held, []
        for each in held:
            self._unrecognized(stream, each, exchange_of(each.value) is not None)
        self._call(stream, record, exchange, request, how)
        if exchange.outcome.answer is not None:
            answer = exchange.outcome.answer.message
            self._threads.answered(thread, exchange.dialect, answer)
            self._note_prompts(stream, exchange)
        stream.writer.pause()

    def _call(
        self, stream: _Stream, record: Record, exchange: Exchange, request: Request, how: How
    ) -> None:
        place = Marks(record, stream.names, stream.task, exchange.dialect)
        identity = stream.writer.identity
        if how == "again":
            to = stream.start
            planned = Planned(Slot(), lambda: rewound(to, place), exchange.asked_at)
            stamp = identity.stamp(b"ctxlog/again\n" + record.raw)
            stream.requests.add(Unit((stamp,), [planned]))
        seen = stream.requests.see(request, place.dressed)
        call = Slot()
        origin = Origin(records=(place.record(),), rest=json_of(exchange.rest))
        edits = exchange.outcome.answer.edits if exchange.outcome.answer is not None else ()
        called = seen.call(call, origin, edits, is_whole=exchange.is_whole)
        for index, planned in enumerate(seen.changes):
            planned.build = partial(place.counted, planned.build, index)
        for planned in (*seen.changes, called):
            planned.occurred_at = exchange.asked_at
        events = [*seen.changes, called, *ended(exchange, call, place)]
        unit = Unit((identity.stamp(record.raw),), events, len(record.raw))
        self._add(stream, unit, exchange.withheld)

    def _add(self, stream: _Stream, unit: Unit, withheld: Withheld) -> None:
        stream.requests.add(unit)
        if unit.events[0].salt is not None:  # it is new
            self._job.withheld.update(withheld)

    def _note_prompts(self, stream: _Stream, exchange: Exchange) -> None:
        message = exchange.outcome.answer.message if exchange.outcome.answer is not None else {}
        for call in messages.calls(exchange.dialect, message):
            try:
                given = loads(call.arguments)
            except EventInvalid:
                continue
            prompt = text_of(given.get("prompt")).strip() if isinstance(given, dict) else ""
            if prompt and call.id:
                self._prompts[prompt] = StreamKey.parse(stream.writer.report.key), call.id

    def _unrecognized(self, stream: _Stream, record: Record, is_known: bool) -> None:
        rest: dict[str, Any] = {}
        withheld = Withheld()
        if record.fault:
            raw = record.text
            rest = {"reason": record.fault, **({"torn": True} if record.torn else {})}
            stream.writer.report.unreadable += 1
        else:
            raw = dumps(record_without_secrets(record.value, BODIES, withheld))
        place = () if record.fault else (Marks(record, stream.names).record(),)

        def build() -> Event:
            return RecordUnrecognized(
                file=self._job.file,
                line=record.line,
                offset=record.offset,
                kind="unreadable" if record.fault else "known" if is_known else "unknown",
                raw=raw,
                origin=Origin(records=place, rest=json_of(rest)),
            )

        stamp = stream.writer.identity.stamp(record.raw)
        unit = Unit((stamp,), [Planned(Slot(), build)], len(raw), unreadable=bool(record.fault))
        self._add(stream, unit, withheld)
        stream.writer.pause()


def _request(exchange: Exchange) -> Request | None:
    """The request, split into entries; None where it is none that a model is asked with."""
    tools = exchange.body.get("tools")
    listed = tools is None or (
        isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
    )
    if not exchange.is_call or not listed:
        return None
    try:
        request = request_of(exchange.dialect, exchange.body)
    except InputRefused:
        return None
    return replace(request, model=exchange.model, belongs=True) if request.entries else None
