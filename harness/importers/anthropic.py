"""Conversations of Anthropic messages: arrays, and objects with ``messages`` and ``system``.

Content is text or blocks; the system prompt stands outside; tool results are blocks of a user's
message, and those of parallel calls stand in one: each is an item of its own. An answer may be a
message as the API returned it, with its id, usage and reason. Source: Anthropic Messages API.

A text-only array without a system prompt beside it looks like OpenAI's and is taken as such, unless
this format is asked for.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from eventlog.events import Origin, Source
from eventlog.messages import Dialect
from harness.exchange.answers import paired, text_of
from harness.exchange.anthropic_answers import answer_of, is_response
from harness.importers.arrays import Conversation, origin_of, read_arrays
from harness.importers.conversations import is_conversation
from harness.importers.exchange_records import is_request_log
from harness.importers.exchanges import exchange_dialect, is_foreign
from harness.importers.job import Job
from harness.importers.records import beginning_of
from harness.importers.request_log import read_request_log
from harness.importers.units import Planned

FORMAT = "anthropic"
DIALECT: Final = "anthropic"

_BLOCKS = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "document",
    }
)
"""Kinds of content that OpenAI's messages never have."""

_FIELDS = frozenset({"anthropic_version", "anthropic_beta", "stop_sequences", "thinking"})
"""Of a request, beside its messages."""


def recognizes(value: Any) -> bool:
    """Whether a value is visibly a conversation of Anthropic messages, or an array of such."""
    if exchange_dialect(value) == DIALECT:
        return True
    if isinstance(value, dict):
        messages = value.get("messages")
        if not isinstance(messages, list) or any(map(is_foreign, messages)):
            return False
        return _has_fields(value) or _has_blocks(messages)
    if not isinstance(value, list):
        return False
    return _has_blocks(value) or any(
        recognizes(each) for each in value if is_conversation(each) and each is not value
    )


def _has_fields(request: dict[str, Any]) -> bool:
    if isinstance(request.get("system"), str | list) or not _FIELDS.isdisjoint(request):
        return True
    tools = request.get("tools")
    return isinstance(tools, list) and any(
        isinstance(tool, dict) and "input_schema" in tool for tool in tools
    )


def _has_blocks(messages: list[Any]) -> bool:
    if any(map(is_foreign, messages)):
        return False
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if is_response(message) and isinstance(content, list):
            return True
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and _is_own(block):
                return True
    return False


def _is_own(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    if isinstance(kind, str) and kind in _BLOCKS:
        return True
    return "cache_control" in block or (kind == "image" and isinstance(block.get("source"), dict))


def begins(text: str, cut: bool) -> bool:
    """Whether a text begins as such messages do, or as a request with what came back."""
    return text[:1] in ("[", "{") and recognizes(beginning_of(text))


def may_be(value: Any) -> bool:
    """Whether a value may be a conversation, or a request with what came back."""
    return is_conversation(value) or bool(exchange_dialect(value))


def read(job: Job) -> None:
    """Import every conversation of a file, an array of messages or a log of requests."""
    if is_request_log(job.source):
        read_request_log(job, FORMAT)
    else:
        read_arrays(job, AnthropicConversation)


class AnthropicConversation(Conversation):
    """One conversation of Anthropic messages."""

    format: ClassVar[str] = FORMAT
    dialect: ClassVar[Dialect] = DIALECT
    apart: ClassVar[tuple[str, ...]] = ("messages", "tools", "system")

    def begin(self) -> None:
        """The system prompt, which stands beside the messages."""
        system = self.fields.get("system")
        if system is None:
            return
        message = {"role": "system", "content": system}
        self.add(message, [self.appended(message, "injected", Origin(records=()))])

    def message(self, message: Any, number: int) -> None:
        """Hand over one message."""
        content = message.get("content") if isinstance(message, dict) else None
        role = message.get("role") if isinstance(content, str | list) else None
        blocks = content if isinstance(content, list) else []
        if role == "user" and any(map(_is_result, blocks)):
            self.add(message, self._results(message, number))
            return
        self.writer.pause()  # not between calls and their results: they are one append
        if role == "assistant":
            self._answer(message, number)
        elif role in ("user", "system"):
            source: Source = "human" if role == "user" else "injected"
            self.add(message, [self.appended(message, source, origin_of(number))])
        else:
            self.unrecognized(message, number)

    def _answer(self, message: dict[str, Any], number: int) -> None:
        calls = paired(DIALECT, message, str(number))
        model = text_of(self.fields.get("model"))
        if not is_response(message):
            self.add(message, self.answer(message, number, calls, model=model))
            return
        answer = answer_of(message)
        events = self.answer(
            answer.message,
            number,
            calls,
            model=answer.model or model,
            end=answer.responded,
            rest=dict(answer.rest),
        )
        self.add(message, events)

    def _results(self, message: dict[str, Any], number: int) -> list[Planned]:
        """The results of a message and what is said beside them, in their order."""
        made: list[Planned] = []
        said: list[Any] = []

        def say() -> None:
            if said:
                beside_them = {**message, "content": list(said)}
                said.clear()
                made.append(self.appended(beside_them, "human", origin_of(number)))

        for block in message["content"]:
            if _is_result(block):
                say()
                call_id = text_of(block.get("tool_use_id"))
                origin = origin_of(number, "", f"result:{call_id or f'@{number}'}")
                failed = bool(block.get("is_error"))
                made.append(self.result(block, call_id, "", origin, failed))
            else:
                said.append(block)
        say()
        return made


def _is_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"
