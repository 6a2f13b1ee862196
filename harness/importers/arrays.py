"""A conversation kept as an array of messages, handed to its stream: what all dialects share.

Such a file has no ids and mostly no times and no usage. A conversation is one stream, named by a
hash of the file's path and its number in the file; each of its messages is a record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from eventlog import Json
from eventlog.events import (
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    Origin,
    OriginRecord,
    RecordUnrecognized,
    SessionStarted,
    Source,
    ToolResultRecorded,
    ToolsDeclared,
)
from eventlog.jsonvalue import dumps
from eventlog.messages import Dialect
from harness.importers.conversations import (
    conversation_name,
    is_conversation,
    read_conversations,
)
from harness.importers.job import Job
from harness.importers.records import Record
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit

IMPORTER_VERSION = 1


def read_arrays(job: Job, kind: type[Conversation]) -> None:
    """Import every conversation of a file as one of that kind."""
    given, report = job.options.session, job.report
    place = os.path.realpath(job.path) if job.path is not None else ""
    for number, found in enumerate(read_conversations(job.source), 1):
        record = found.record
        if job.waits(record):
            continue
        if record.fault or not is_conversation(found.value):
            fault = record.fault or "no conversation"
            report.notes.append(f"line {record.line}, byte {record.offset}: {fault}")
            report.error = report.error or f"{job.source.name}: line {record.line}: {fault}"
            continue
        name = conversation_name(place, number)
        if given:
            name = given if number == 1 else f"{given}.{number}"
        writer = job.open_writer(name, kind.format, name)
        kind(writer, found.value, record, job.file).write(name, number, found.counted)
        writer.finish()


class Conversation:
    """One conversation. What a message of it is says the dialect's own class."""

    format: ClassVar[str]
    dialect: ClassVar[Dialect]
    apart: ClassVar[tuple[str, ...]] = ("messages", "tools")
    """Fields of the object around the messages that are no metadata of the session."""

    def __init__(self, writer: StreamWriter, value: Any, record: Record, file: str) -> None:
        self.writer = writer
        self.fields: dict[str, Any] = value if isinstance(value, dict) else {}
        messages = value.get("messages") if isinstance(value, dict) else value
        self.messages: list[Any] = messages if isinstance(messages, list) else []
        self.names: dict[str, str] = {}
        """Call id to the name of its tool."""
        self._file = file
        self._record = record
        self._tools: Slot | None = None

    def write(self, foreign_id: str, number: int, counted: bool) -> None:
        """Hand over all of it. ``counted``: the conversation, not each message, is a record of the
        file."""
        kept = {k: v for k, v in self.fields.items() if k not in self.apart and v is not None}
        place = OriginRecord(
            line=self._record.line,
            part=self._record.part,
            type="conversation",
            pairs=("conversation",),
        )
        started = SessionStarted(
            metadata=Json({**kept, "file": self._file, "conversation": number}),
            ownership="observed",
            format=self.format,
            importer_version=IMPORTER_VERSION,
            foreign_session_id=foreign_id,
            origin=Origin(records=(place,) if counted else ()),
        )
        self.writer.add(Unit((), [Planned(Slot(), lambda: started)]))
        definitions = self.definitions()
        if definitions:
            self._declare(definitions)
        self.begin()
        for index, message in enumerate(self.messages, 1):
            self.message(message, index)

    # -- what a dialect says --------------------------------------------------------------------

    def definitions(self) -> Any:
        """The tools that the object around the messages declares."""
        return self.fields.get("tools")

    def begin(self) -> None:
        """Hand over what stands in front of the messages."""

    def message(self, message: Any, number: int) -> None:
        """Hand over one message."""
        raise NotImplementedError

    # -- what it is handed over with ------------------------------------------------------------

    def add(self, value: Any, events: list[Planned]) -> None:
        """A unit of the events that one value of the file becomes."""
        raw = dumps(value).encode()
        stamp = self.writer.identity.stamp(raw)
        self.writer.add(Unit((stamp,), events, len(raw)))

    def appended(
        self,
        message: dict[str, Any],
        source: Source,
        origin: Origin,
        call: Slot | None = None,
    ) -> Planned:
        """A message that enters the context; ``call`` is where the call stands that it answers."""

        def build() -> Event:
            return MessageAppended(
                dialect=self.dialect,
                source=source,
                call=call.position if call is not None else None,
                message=Json(message),
                origin=origin,
            )

        return Planned(Slot(), build)

    def answer(
        self,
        message: dict[str, Any],
        number: int,
        calls: Sequence[tuple[str, str, str]],
        *,
        model: str = "",
        end: Callable[[int, Origin], Event] | None = None,
        rest: dict[str, Any] | None = None,
    ) -> list[Planned]:
        """The events of an answer: the call, the message, the end.

        ``calls`` are (id, name, what it is paired by) of the tool calls in it, ``end`` makes the
        last event of the call's position, and ``rest`` is what no event holds.
        """
        call, tools = Slot(), self._tools
        self.names.update((call_id, name) for call_id, name, _ in calls)
        pairs = tuple(f"call:{key}" for _, _, key in calls)
        origin = origin_of(number, f"#{number}", *pairs, rest=rest)

        def called() -> Event:
            position = tools.position if tools is not None else None
            return ModelCalled(
                model=model, dialect=self.dialect, tools=position, origin=origin_of(number)
            )

        def ended() -> Event:
            if end is not None:
                return end(call.position, origin_of(number))
            return ModelResponded(call=call.position, origin=origin_of(number))

        return [
            Planned(call, called),
            self.appended(message, "model", origin, call),
            Planned(Slot(), ended),
        ]

    def result(
        self,
        native: dict[str, Any],
        call_id: str,
        name: str,
        origin: Origin,
        is_error: bool = False,
    ) -> Planned:
        """A tool result in its own dialect's form."""

        def build() -> Event:
            return ToolResultRecorded(
                tool_call_id=call_id,
                name=name or self.names.get(call_id, ""),
                dialect=self.dialect,
                is_error=is_error,
                native=Json(native),
                origin=origin,
            )

        return Planned(Slot(), build)

    def unrecognized(self, message: Any, number: int) -> None:
        """Hand over what is no message of the dialect, kept whole."""

        def build() -> Event:
            return RecordUnrecognized(
                file=self._file,
                line=self._record.line,
                offset=self._record.offset,
                raw=dumps(message),
                origin=origin_of(number),
            )

        self.add(message, [Planned(Slot(), build)])

    def _declare(self, definitions: Any) -> None:
        self._tools = Slot()
        declared = ToolsDeclared(
            dialect=self.dialect, definitions=Json(definitions), origin=Origin(records=())
        )
        self.add(definitions, [Planned(self._tools, lambda: declared)])


def origin_of(
    number: int, answer: str = "", *pairs: str, rest: dict[str, Any] | None = None
) -> Origin:
    """Where a message stands in its conversation, and what it adds to the file's own count."""
    record = OriginRecord(line=number, type="message", message=answer, pairs=pairs)
    return Origin(records=(record,), rest=Json(rest) if rest else None)
