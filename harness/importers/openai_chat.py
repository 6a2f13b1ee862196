"""Conversations of OpenAI chat messages: arrays, objects with ``messages``, one or one a line.

The format has no ids, no times and no usage. Source: the chat completions reference and the
fine-tuning file format of OpenAI.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from eventlog.events import Source
from eventlog.messages import Dialect
from harness.importers.arrays import Conversation, origin_of, read_arrays
from harness.importers.conversations import is_conversation
from harness.importers.exchange_records import is_request_log
from harness.importers.exchanges import exchange_dialect
from harness.importers.job import Job
from harness.importers.records import beginning_of
from harness.importers.request_log import read_request_log

FORMAT = "openai-chat"
DIALECT: Final = "openai_chat"

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SOURCES: dict[str, Source] = {"user": "human", "system": "injected", "developer": "injected"}


def recognizes(value: Any) -> bool:
    """Whether a value is a conversation: an array of messages, an object with one, or an array of
    conversations; or requests with what came back. Without a message it is one too, of nothing."""
    if exchange_dialect(value):
        return True
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list):
        return False
    if not value:
        return True
    first = value[0]
    if isinstance(first, list) or (isinstance(first, dict) and "messages" in first):
        return recognizes(first)
    if not isinstance(first, dict) or ("parts" in first and "content" not in first):
        return False  # Gemini's messages have parts
    role = first.get("role")
    return isinstance(role, str) and role in _ROLES


def begins(text: str, cut: bool) -> bool:
    """Whether a text begins as messages do, or as a request with what came back."""
    if text[:1] not in ("[", "{"):
        return False
    return ('"role"' in text and '"content"' in text) or bool(exchange_dialect(beginning_of(text)))


def may_be(value: Any) -> bool:
    """Whether a value may be a conversation, or a request with what came back."""
    return is_conversation(value) or bool(exchange_dialect(value))


def read(job: Job) -> None:
    """Import every conversation of a file, an array of messages or a log of requests."""
    if is_request_log(job.source):
        read_request_log(job, FORMAT)
    else:
        read_arrays(job, ChatConversation)


class ChatConversation(Conversation):
    """One conversation of OpenAI chat messages."""

    format: ClassVar[str] = FORMAT
    dialect: ClassVar[Dialect] = DIALECT
    apart: ClassVar[tuple[str, ...]] = ("messages", "tools", "functions")

    def definitions(self) -> Any:
        """The tools, or the functions of older files."""
        return self.fields.get("tools") or self.fields.get("functions")

    def message(self, message: Any, number: int) -> None:
        """Hand over one message."""
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("tool", "function"):
            self.writer.pause()  # not between a call and its result: they are one append
        if role == "assistant":
            self.add(message, self.answer(message, number, _calls(message)))
        elif role in ("tool", "function"):
            self._result(message, number)
        elif isinstance(role, str) and role in _SOURCES:
            self.add(message, [self.appended(message, _SOURCES[role], origin_of(number))])
        else:
            self.unrecognized(message, number)

    def _result(self, message: dict[str, Any], number: int) -> None:
        call_id = message.get("tool_call_id")
        call_id = call_id if isinstance(call_id, str) else ""
        name = message.get("name")
        name = name if isinstance(name, str) else self.names.get(call_id, "")
        pair = f"result:{call_id or 'function ' + name}"
        self.add(message, [self.result(message, call_id, name, origin_of(number, "", pair))])


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
