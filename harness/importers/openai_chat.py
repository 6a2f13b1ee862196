"""Conversations of OpenAI chat messages: arrays, objects with ``messages``, one or one a line.

The format has no ids, no times and no usage. A conversation is one stream, named by a hash of the
file's path and its number in the file; each of its messages is a record. Source: the chat
completions reference and the fine-tuning file format of OpenAI.
"""

from __future__ import annotations

import os
from typing import Any, Final

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
from harness.importers.conversations import (
    conversation_name,
    is_conversation,
    read_conversations,
)
from harness.importers.job import Job
from harness.importers.records import Record
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit

FORMAT = "openai-chat"
IMPORTER_VERSION = 1
DIALECT: Final = "openai_chat"

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SOURCES: dict[str, Source] = {"user": "human", "system": "injected", "developer": "injected"}


def recognizes(value: Any) -> bool:
    """Whether a value is a conversation: an array of messages, an object with one, or an array of
    conversations. Without a message it is one too, of nothing."""
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list):
        return False
    if not value:
        return True
    first = value[0]
    if isinstance(first, list) or (isinstance(first, dict) and "messages" in first):
        return recognizes(first)
    role = first.get("role") if isinstance(first, dict) else None
    return isinstance(role, str) and role in _ROLES and not has_blocks_of_anthropic(value)


def has_blocks_of_anthropic(messages: list[Any]) -> bool:
    """Whether tools are called and answered in content blocks, as OpenAI's messages never do."""
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result"):
                return True
    return False


def begins(text: str, cut: bool) -> bool:
    """Whether a text begins as messages do."""
    return text[:1] in ("[", "{") and '"role"' in text and '"content"' in text


def may_be(value: Any) -> bool:
    """Whether a value may be a conversation."""
    return is_conversation(value)


def read(job: Job) -> None:
    """Import every conversation of a file."""
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
        writer = job.open_writer(name, FORMAT, name)
        Conversation(writer, found.value, record, job.file).write(name, number, found.counted)
        writer.finish()


class Conversation:
    """One conversation, handed to its stream's writer."""

    def __init__(self, writer: StreamWriter, value: Any, record: Record, file: str) -> None:
        self._writer = writer
        self._file = file
        self._record = record
        self._fields = value if isinstance(value, dict) else {}
        messages = value.get("messages") if isinstance(value, dict) else value
        self._messages: list[Any] = messages if isinstance(messages, list) else []
        self._names: dict[str, str] = {}
        self._tools: Slot | None = None

    def write(self, foreign_id: str, number: int, counted: bool) -> None:
        """Hand over all of it. ``counted``: the conversation, not each message, is a record of the
        file."""
        skipped = ("messages", "tools", "functions")
        metadata = {k: v for k, v in self._fields.items() if k not in skipped and v is not None}
        place = OriginRecord(
            line=self._record.line,
            part=self._record.part,
            type="conversation",
            pairs=("conversation",),
        )
        started = SessionStarted(
            metadata=Json({**metadata, "file": self._file, "conversation": number}),
            ownership="observed",
            format=FORMAT,
            importer_version=IMPORTER_VERSION,
            foreign_session_id=foreign_id,
            origin=Origin(records=(place,) if counted else ()),
        )
        self._writer.add(Unit((), [Planned(Slot(), lambda: started)]))
        definitions = self._fields.get("tools") or self._fields.get("functions")
        if definitions:
            self._declare(definitions)
        for index, message in enumerate(self._messages, 1):
            self._message(message, index)

    def _declare(self, definitions: Any) -> None:
        self._tools = Slot()
        declared = ToolsDeclared(
            dialect=DIALECT, definitions=Json(definitions), origin=Origin(records=())
        )
        self._add(definitions, [Planned(self._tools, lambda: declared)])

    def _add(self, value: Any, events: list[Planned]) -> None:
        raw = dumps(value).encode()
        stamp = self._writer.identity.stamp(raw)
        self._writer.add(Unit((stamp,), events, len(raw)))

    def _message(self, message: Any, number: int) -> None:
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("tool", "function"):
            self._writer.pause()  # not between a call and its result: they are one append
        if role == "assistant":
            self._answer(message, number)
        elif role in ("tool", "function"):
            self._result(message, number)
        elif isinstance(role, str) and role in _SOURCES:
            source = _SOURCES[role]
            self._add(
                message, [Planned(Slot(), lambda: _appended(message, source, _origin(number)))]
            )
        else:
            self._unrecognized(message, number)

    def _answer(self, message: dict[str, Any], number: int) -> None:
        call, tools = Slot(), self._tools
        pairs = []
        for call_id, name, key in _calls(message):
            self._names[call_id] = name
            pairs.append(f"call:{key}")
        origin = _origin(number, f"#{number}", *pairs)

        def called() -> Event:
            position = tools.position if tools is not None else None
            return ModelCalled(model="", dialect=DIALECT, tools=position, origin=_origin(number))

        def ended() -> Event:
            return ModelResponded(call=call.position, origin=_origin(number))

        self._add(
            message,
            [
                Planned(call, called),
                Planned(Slot(), lambda: _appended(message, "model", origin, call)),
                Planned(Slot(), ended),
            ],
        )

    def _result(self, message: dict[str, Any], number: int) -> None:
        call_id = message.get("tool_call_id")
        call_id = call_id if isinstance(call_id, str) else ""
        name = message.get("name")
        name = name if isinstance(name, str) else self._names.get(call_id, "")
        pair = f"result:{call_id or 'function ' + name}"

        def build() -> Event:
            return ToolResultRecorded(
                tool_call_id=call_id,
                name=name,
                dialect=DIALECT,
                native=Json(message),
                origin=_origin(number, "", pair),
            )

        self._add(message, [Planned(Slot(), build)])

    def _unrecognized(self, message: Any, number: int) -> None:
        def build() -> Event:
            return RecordUnrecognized(
                file=self._file,
                line=self._record.line,
                offset=self._record.offset,
                raw=dumps(message),
                origin=_origin(number),
            )

        self._add(message, [Planned(Slot(), build)])


def _origin(number: int, answer: str = "", *pairs: str) -> Origin:
    return Origin(records=(OriginRecord(line=number, type="message", message=answer, pairs=pairs),))


def _appended(
    message: dict[str, Any], source: Source, origin: Origin, call: Slot | None = None
) -> Event:
    return MessageAppended(
        dialect=DIALECT,
        source=source,
        call=call.position if call is not None else None,
        message=Json(message),
        origin=origin,
    )


def _calls(message: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(id, name, what the call is paired by) of each call; the old form has a name only."""
    found = []
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict):
            inner = call.get("function")
            name = inner.get("name") if isinstance(inner, dict) else ""
            name, call_id = (v if isinstance(v, str) else "" for v in (name, call.get("id")))
            found.append((call_id, name, call_id or f"function {name}"))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        name = legacy.get("name")
        name = name if isinstance(name, str) else ""
        found.append(("", name, f"function {name}"))
    return found
