"""Messages of a conversation as a plain JSON file, in OpenAI's chat form.

    [{"role": "system", "content": …}, …]
    {"session_id": …, "messages": […], "metadata": {…}}

What is imported is a new session of one's own, to be gone on with: it begins with its system
message. A transcript of another agent, which is to be looked at, is for the importers.

Source of the form: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from eventlog import messages
from eventlog.errors import InputRefused
from eventlog.events import Event, MessageAppended, SessionStarted, Source, ToolResultRecorded
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import Appended, StreamKey
from harness.brought_in import BroughtIn, json_of, origin_of, refused
from projections.dialects import openai_chat
from projections.live import Live

DIALECT: Final = "openai_chat"

_SOURCES: Mapping[str, Source] = {
    "system": "injected",
    "developer": "injected",
    "user": "human",
    "assistant": "model",
}
_RESULTS = frozenset({"tool", "function"})
_ROLES = (*_SOURCES, *sorted(_RESULTS))
_FIELDS = frozenset({"session_id", "messages", "metadata"})
_TOLD = 5
"""Warnings of one kind that are told one by one."""


# -- out ------------------------------------------------------------------------------------------


def export_messages(
    live: Live, stream: StreamKey | str, at: int | None = None
) -> list[dict[str, Any]]:
    """The context as folded, after position ``at`` or now, as messages.

    Messages of that form go as they are; where there are others, all are written in it, as a
    request would be. Raises StreamNotFound, PositionNotFound, CriticalUnknown.
    """
    items = live.items(stream, at)
    if all(item.dialect == DIALECT for item in items):
        return [dict(item.message) for item in items]
    return [dict(message) for message in openai_chat.render(items)["messages"]]


def export_session(live: Live, stream: StreamKey | str, at: int | None = None) -> dict[str, Any]:
    """The same messages with the session's id and its metadata. Raises as ``export_messages``."""
    key = live.log.stream(stream).key
    metadata: Any = None
    for event in live.log.read(key, to=at, types=["session_started"]):
        metadata = event.data.get("metadata")
    found = export_messages(live, key, at)
    return {"session_id": key.session, "messages": found, "metadata": metadata or {}}


# -- in -------------------------------------------------------------------------------------------


def read_messages(value: Any) -> BroughtIn:
    """The session that a list of messages begins.

    Raises InputRefused where it is no list, or an empty one; where the first is no system message;
    and for a message that is no object, or has another role or content. A tool call without a
    result, and a result without a call, are warnings.
    """
    started = SessionStarted()
    return BroughtIn("messages", "", (started, *_events(value)), tuple(unpaired(value)))


def read_session(value: Any) -> BroughtIn:
    """The session that an object with ``session_id``, ``messages`` and ``metadata`` begins.

    Raises InputRefused as ``read_messages`` does, and for an id that is no text or metadata that
    is no object.
    """
    if not isinstance(value, dict):
        raise InputRefused('a session is an object with "session_id", "messages" and "metadata"')
    name, metadata = value.get("session_id"), value.get("metadata")
    if not isinstance(name, str) or not name:
        raise InputRefused('"session_id" is no text, or there is none')
    if metadata is not None and not isinstance(metadata, dict):
        raise InputRefused('"metadata" is no object')
    found = tuple(_events(value.get("messages")))
    started = SessionStarted(
        metadata=json_of(metadata, "metadata") if metadata else None, foreign_session_id=name
    )
    left = sorted(value.keys() - _FIELDS)
    warnings = [f"left out: {', '.join(name[:40] for name in left[:_TOLD])}"] if left else []
    warnings += unpaired(value["messages"])
    return BroughtIn("session", name, (started, *found), tuple(warnings))


def import_messages(live: Live, value: Any, key: StreamKey | str) -> Appended:
    """Begin a new session with a list of messages, in one append.

    Raises InputRefused, and WrongExpectedVersion where the session exists.
    """
    return read_messages(value).append(live, key)


def import_session(live: Live, value: Any, key: StreamKey | str) -> Appended:
    """Begin a new session with what an object holds, in one append. Raises as above."""
    return read_session(value).append(live, key)


def _events(value: Any) -> Iterator[Event]:
    if not isinstance(value, list):
        raise InputRefused('"messages" is no list')
    if not value:
        raise InputRefused("there is no message in it")
    names: dict[str, str] = {}
    for number, message in enumerate(value, 1):
        where = f"message {number}"
        fault = _fault(message)
        if fault:
            raise refused(where, fault)
        role = message["role"]
        if number == 1 and role not in SYSTEM_ROLES:
            raise refused(where, f"the first is a system message, and this one is of {role}")
        native = json_of(message, where)
        if role not in _RESULTS:
            names.update((call.id, call.name) for call in messages.calls(DIALECT, message))
            yield MessageAppended(
                dialect=DIALECT, source=_SOURCES[role], message=native, origin=origin_of(number)
            )
            continue
        call = message.get("tool_call_id") or ""
        name = message.get("name") or names.get(call, "")
        yield ToolResultRecorded(
            tool_call_id=call,
            name=name,
            dialect=DIALECT,
            native=native,
            origin=origin_of(number),
        )


def _fault(message: Any) -> str:
    """Why a value is no message; empty where it is one."""
    if not isinstance(message, dict):
        return "it is no object"
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        told = f"{role[:40]!r}" if isinstance(role, str) else "none that is text"
        return f"its role is {told}; known are {', '.join(_ROLES)}"
    if not isinstance(message.get("content"), str | list | None):
        return "its content is no text and no list of parts"
    calls = message.get("tool_calls")
    if calls is not None and not _objects(calls):
        return "its tool_calls are no list of objects"
    for field in ("tool_call_id", "name"):
        if not isinstance(message.get(field), str | None):
            return f"its {field} is no text"
    return ""


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def unpaired(conversation: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each call without a result behind it, and for each result without a call."""
    waiting: dict[str, list[int]] = {}
    found: list[tuple[int, str]] = []
    for number, message in enumerate(conversation, 1):
        for call in messages.calls(DIALECT, message):
            waiting.setdefault(call.id, []).append(number)
        for result in messages.results(DIALECT, message):
            if not waiting.get(result.call_id):
                found.append((number, "a result without a call"))
            else:
                waiting[result.call_id].pop(0)
    found += [(n, "a call without a result") for numbers in waiting.values() for n in numbers]
    lines = [f"message {number}: {what}" for number, what in sorted(found)]
    if len(lines) > _TOLD:
        lines = [
            *lines[:_TOLD],
            f"and {len(lines) - _TOLD} more calls or results without the other",
        ]
    return lines
