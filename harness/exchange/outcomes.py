"""How a call ended, read off what came back.

A body may be JSON, the text of it, or the text of a stream, in the dialect of the request. Whatever
it is, it says one of three things: an answer, a failure, or nothing that anybody recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.events import Event, MessageAppended, ModelFailed, NewMessage, Origin
from eventlog.jsonvalue import Json, dumps, loads, value_fault
from eventlog.messages import Dialect
from harness.exchange import anthropic_answers, openai_answers, responses_answers
from harness.exchange.answers import Answer, text_of
from harness.exchange.anthropic_stream import read_stream
from harness.exchange.responses_stream import read_events
from harness.exchange.streams import Streamed, is_stream

_READERS = {
    "openai_chat": openai_answers.read_chunks,
    "openai_responses": read_events,
    "anthropic": read_stream,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that ended without an answer."""

    error: str
    status: int | None = None
    detail: Any = None
    partial: Mapping[str, Any] | None = None
    """What had come of an answer, as a client would send it back; None where nothing had."""

    def kept(self, dialect: Dialect) -> NewMessage | None:
        """That, as an event holds it."""
        if self.partial is None:
            return None
        return NewMessage(dialect=dialect, message=Json(self.partial), source="model")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. With neither answer nor failure nobody knows."""

    answer: Answer | None = None
    failure: Failure | None = None
    unread: list[str] = field(default_factory=list)
    """Pieces of a streamed answer that are no part of a message."""


def outcome_of(dialect: Dialect, body: Any, status: int | None) -> Outcome:
    """The end of a call. Raises nothing, whatever the body is."""
    if isinstance(body, str):
        body = body.removeprefix("\ufeff")  # a mark of the byte order, which clients leave out, too
    if isinstance(body, str) and is_stream(body):
        return _streamed(dialect, _READERS[dialect](body), status)
    body = parsed(body)
    if isinstance(body, dict):
        answer = answer_of(dialect, body)
        if answer is not None:
            return Outcome(answer)
    if body not in (None, "") or (status is not None and status >= 400):
        return Outcome(failure=_failure(body, status))
    return Outcome()


def events_of(outcome: Outcome, dialect: Dialect) -> list[Event]:
    """What is appended at the end of a call; the position of the call is still to be put in."""
    answer, failure = outcome.answer, outcome.failure
    if answer is None:
        found = failure
        error = found.error if found is not None else "nothing came back"
        detail = Json(found.detail) if found is not None and found.detail is not None else None
        status = found.status if found is not None else None
        partial = found.kept(dialect) if found is not None else None
        return [ModelFailed(call=1, error=error, status=status, detail=detail, partial=partial)]
    rest = {**answer.rest, **({"unread": outcome.unread} if outcome.unread else {})}
    origin = Origin(records=(), rest=Json(rest)) if rest else None
    said = MessageAppended(
        dialect=dialect, source="model", call=1, message=Json(answer.message), origin=origin
    )
    ended = answer.responded(1).model_copy(update={"server_edited": answer.edits})
    return [said, ended] if answer.is_said else [ended]


def answer_of(dialect: Dialect, body: Mapping[str, Any]) -> Answer | None:
    """The answer that a body is, whole; None where it is none. Some recorders translate between
    Anthropic's and OpenAI's chat, so that the answer may be in the other dialect."""
    if dialect == "openai_responses":
        return responses_answers.answer_of(body) if responses_answers.is_answer(body) else None
    if anthropic_answers.is_response(body):
        return anthropic_answers.answer_of(body)
    return openai_answers.answer_of(body) if openai_answers.is_completion(body) else None


def parsed(given: Any) -> Any:
    """The value of a text that is JSON; anything else as it is."""
    if not isinstance(given, str):
        return given
    try:
        value = loads(given)
    except EventInvalid:
        return given
    return given if value_fault(value, given.encode("utf-8", "surrogatepass")) else value


def _streamed(dialect: Dialect, found: Streamed, status: int | None) -> Outcome:
    message = found.message
    if message is not None:
        try:
            dumps(message)
        except EventInvalid as fault:
            cannot = f"the streamed answer cannot be kept: {fault}"
            return Outcome(failure=Failure(cannot, status), unread=found.unread)
    if found.complete and message is not None and found.error is None:
        if dialect == "anthropic":
            message = {"role": "assistant", **message}
            return Outcome(anthropic_answers.answer_of(message), unread=found.unread)
        answer = answer_of(dialect, message) or Answer({}, is_said=False)
        return Outcome(answer, unread=found.unread)
    error = found.error or {}
    said = [text_of(error.get("type")), text_of(error.get("message"))]
    cut = "the stream ended before the answer did"
    partial = _partial(dialect, message or {})
    if message is not None and partial is not None:
        message = _without(dialect, message)
    detail = {"message": message, "error": found.error}
    failure = Failure(
        ": ".join(filter(None, said)) or cut,
        status,
        {k: v for k, v in detail.items() if v is not None} or None,
        partial,
    )
    return Outcome(failure=failure, unread=found.unread)


def _partial(dialect: Dialect, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The answer in a message that did not come to its end; None where nothing of it came."""
    if dialect == "anthropic":
        found = anthropic_answers.answer_of({**message, "role": "assistant"})
    elif dialect == "openai_responses":
        found = responses_answers.answer_of({"output": [], **message})
    else:
        found = openai_answers.answer_of({"choices": [], **message})
    return found.message if _says(found.message) else None


def _says(value: Any) -> bool:
    """Whether a word of it came: a block that was only opened says nothing."""
    if isinstance(value, Mapping):
        return any(_says(child) for name, child in value.items() if name not in _FRAME)
    return any(map(_says, value)) if isinstance(value, list) else bool(value)


_FRAME = frozenset({"call_id", "id", "index", "role", "status", "type"})


def _without(dialect: Dialect, message: Mapping[str, Any]) -> dict[str, Any]:
    """What else came with it: ids, usage, and choices beyond the first."""
    left_out = {"anthropic": "content", "openai_responses": "output"}.get(dialect, "choices")
    rest = {k: v for k, v in message.items() if k != left_out}
    others = message.get("choices", ())[1:] if left_out == "choices" else ()
    return {**rest, "choices": others} if others else rest


def _failure(body: Any, status: int | None) -> Failure:
    error = body.get("error") if isinstance(body, dict) else None
    said = [error] if isinstance(error, str) else []
    if isinstance(error, dict):
        said = [text_of(error.get("type")), text_of(error.get("message"))]
    text = ": ".join(filter(None, said))
    if not text:
        text = f"HTTP {status}" if (status or 0) >= 400 else "the response is no message"
    return Failure(text, status, body)
