"""mini-swe-agent trajectories: the messages are the view, there is nothing else.

A message is stored as it is sent, without ``extra``, which says what was made of it: actions, the
provider's response with its usage, costs and times, the raw output. Nothing was ever taken out of
the context, so a call was made with all that stands before it; but no request is on disk, and the
calls are rebuilt and not exact. Versions 1 (text) and 1.1 (tool calls), and the answers of OpenAI's
Responses. Source: ``agents/default.py``, ``models`` and ``run/utils/save.py`` of mini-swe-agent.
"""

from __future__ import annotations

from typing import Any

from eventlog import Json
from eventlog.events import (
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    Origin,
    OriginRecord,
    Source,
    ToolResultRecorded,
    Usage,
)
from eventlog.jsonvalue import dumps
from eventlog.messages import Dialect, calls, parts
from harness.endpoint import usage_of
from harness.importers.conversations import glimpse, read_document
from harness.importers.job import Job
from harness.importers.run_documents import RunDocument, names
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, label_time
from harness.usage import tokens_of, uncached
from projections.items import OBSERVATION

FORMAT = "mini-swe-agent"
IMPORTER_VERSION = 1
_BESIDE = frozenset({"extra", "timestamp"})
"""What is never sent."""


def recognizes(value: Any) -> bool:
    """Whether a value is a trajectory of mini-swe-agent."""
    return may_be(value) and _is_named(value)


def _is_named(value: dict[str, Any]) -> bool:
    named, info = value.get("trajectory_format"), value.get("info")
    if isinstance(named, str):
        return named.startswith(FORMAT)
    return isinstance(info, dict) and ("mini_version" in info or "model_stats" in info)


def begins(text: str, cut: bool) -> bool:
    """Whether a text begins as one does: with what is said of the run, before its messages."""
    found, torn = glimpse(text)
    return (torn == "messages" or "messages" in found) and _is_named(found)


def may_be(value: Any) -> bool:
    """Whether a value may be a trajectory."""
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def read(job: Job) -> None:
    """Import the run of a file."""
    record = read_document(job.source)
    if job.waits(record):
        return
    if record.fault or not may_be(record.value):
        job.report.error = f"{job.source.name}: {record.fault or 'no trajectory'}"
        return
    (name,) = names(job, 1)
    writer = job.open_writer(name, FORMAT, name)
    Run(job, writer, record.value).write(name)
    writer.finish()


class Run:
    """One run, handed to its stream's writer."""

    def __init__(self, job: Job, writer: StreamWriter, value: dict[str, Any]) -> None:
        self._writer = writer
        self._run = RunDocument(job, writer, FORMAT, writer.add)
        self._value = value
        self._messages: list[Any] = value["messages"]
        self._model = _model(value.get("info"))
        self._is_text = not any(_has_calls(message) for message in self._messages)
        self._names: dict[str, str] = {}
        self._open: str | None = None
        """In text: the answer whose action was not answered yet."""
        self._answered = False

    def write(self, name: str) -> None:
        """Hand over all of it."""
        kept = {k: v for k, v in self._value.items() if k not in ("messages", "info")}
        self._run.start(name, 1, {k: v for k, v in kept.items() if v is not None}, IMPORTER_VERSION)
        for line, message in enumerate(self._messages, 1):
            self._message(message, line)
        self._run.end(self._value.get("info"))

    def _message(self, value: Any, line: int) -> None:
        role = _role(value)
        if role == "assistant":
            self._writer.pause()
            events = self._answer(value, line)
        elif role == "tool":
            events = [self._planned(value, self._result(value, line))]
        elif role in ("system", "developer", "user"):
            events = [self._planned(value, self._said(value, line, role))]
        else:  # ``exit`` is where the run ended, and no message
            kind = "known" if role == "exit" else "unknown"
            events = [self._run.kept(value, line, _origin(line, {}), kind)]
        self._run.add(self._run.unit([value], events))

    def _planned(self, value: dict[str, Any], event: Event) -> Planned:
        return Planned(Slot(), lambda: event, _time(value))

    def _said(self, value: dict[str, Any], line: int, role: str) -> Event:
        source, label = self._speaker(value, role)
        pairs = []
        if self._open is not None and role == "user":
            pairs, self._open = [f"result:{self._open}"], None
        return MessageAppended(
            dialect="openai_chat",
            source=source,
            label=label,
            message=Json(_sent(value)),
            origin=_origin(line, _rest(value), *pairs),
        )

    def _speaker(self, value: dict[str, Any], role: str) -> tuple[Source, str]:
        if role != "user":
            return "injected", ""
        extra = value.get("extra")
        why = extra.get("interrupt_type") if isinstance(extra, dict) else None
        if isinstance(why, str) and why:
            return ("human", "") if why.startswith("User") else ("injected", why)
        if not self._answered:
            return "human", ""
        return "injected", OBSERVATION

    def _result(self, value: dict[str, Any], line: int) -> Event:
        extra = value.get("extra")
        native = _sent(value)
        is_chat = value.get("role") == "tool"
        call_id = value.get("tool_call_id" if is_chat else "call_id")
        call_id = call_id if isinstance(call_id, str) else ""
        return ToolResultRecorded(
            tool_call_id=call_id,
            name=self._names.get(call_id, ""),
            dialect="openai_chat" if is_chat else "openai_responses",
            is_error=isinstance(extra, dict) and bool(extra.get("exception_info")),
            native=Json(native),
            origin=_origin(line, _rest(value), f"result:{call_id}"),
        )

    def _answer(self, value: dict[str, Any], line: int) -> list[Planned]:
        self._answered = True
        dialect: Dialect = "openai_chat"
        message = _sent(value)
        if value.get("role") != "assistant":
            dialect, message = "openai_responses", {"items": value["output"]}
        found = calls(dialect, message)
        self._names.update((call.id, call.name) for call in found)
        keys = [call.id for call in found]
        if self._is_text:
            self._open = f"#{line}"
            keys = [self._open]
        rest, response = _rest(value), _response(value)
        here = _origin(line, {})
        origin = _origin(line, rest, *(f"call:{key}" for key in keys), answer=f"#{line}")
        called = Slot()
        model = response.get("model")

        def call() -> Event:
            asked = model if isinstance(model, str) else self._model
            return ModelCalled(model=asked, dialect=dialect, origin=here)

        def said() -> Event:
            return MessageAppended(
                dialect=dialect,
                source="model",
                call=called.position,
                message=Json(message),
                origin=origin,
            )

        def ended() -> Event:
            return ModelResponded(
                call=called.position,
                response_id=_text(response.get("id")),
                finish_reason=_finish(response),
                usage=_usage(response.get("usage")),
                origin=here,
            )

        time = _time(value)
        return [
            Planned(called, call, time),
            Planned(Slot(), said, time),
            Planned(Slot(), ended, time),
        ]


# -- one message ----------------------------------------------------------------------------------


def _role(value: Any) -> str:
    """Of a message; of the two forms that OpenAI's Responses have instead, what they stand for."""
    if not isinstance(value, dict):
        return ""
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        return "assistant"
    if value.get("type") == "function_call_output":
        return "tool"
    role = value.get("role")
    return role if isinstance(role, str) else ""


def _has_calls(value: Any) -> bool:
    role = _role(value)
    if role == "assistant" and value.get("role") != "assistant":
        return True
    if role != "assistant":
        return role == "tool"
    return any(part.kind == "call" for part in parts("openai_chat", value))


def _sent(value: dict[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in value.items() if name not in _BESIDE}


def _response(value: dict[str, Any]) -> dict[str, Any]:
    """The provider's response, where it is kept."""
    if value.get("object") == "response":
        return value
    extra = value.get("extra")
    response = extra.get("response") if isinstance(extra, dict) else None
    return response if isinstance(response, dict) else {}


def _rest(value: dict[str, Any]) -> dict[str, Any]:
    """What is said beside the message, without the copy of the message in the response."""
    rest = {name: value[name] for name in _BESIDE if value.get(name) is not None}
    if _role(value) == "assistant" and value.get("role") != "assistant":
        known = ("output", "usage", "extra")
        return rest | {"response": {k: v for k, v in value.items() if k not in known}}
    extra, response = rest.get("extra"), _response(value)
    if isinstance(extra, dict) and response:
        kept = {k: v for k, v in response.items() if k != "usage" or _usage(v) is None}
        if isinstance(choices := kept.get("choices"), list):
            kept["choices"] = [_without_copy(choice, value) for choice in choices]
        rest["extra"] = {**extra, "response": kept}
    return rest


def _without_copy(choice: Any, value: dict[str, Any]) -> Any:
    said = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(said, dict):
        return choice
    kept = {k: v for k, v in choice.items() if k != "message"}
    more = {k: v for k, v in said.items() if k not in value or value[k] != v}
    return kept | {"message": more} if more else kept


def _usage(given: Any) -> Usage | None:
    """The usage of an answer. What was written to a cache is a part of the prompt, too."""
    if not isinstance(given, dict):
        return None
    if "input_tokens" in given and "prompt_tokens" not in given:
        names = (("prompt", "input"), ("completion", "output"))
        given = {
            **given,
            **{f"{new}_tokens": given.get(f"{old}_tokens") for new, old in names},
            **{f"{new}_tokens_details": given.get(f"{old}_tokens_details") for new, old in names},
        }
    found = usage_of(given)
    written = tokens_of(given.get("cache_creation_input_tokens"))
    if found is None or written is None:
        return found
    written = written if found.input is None else min(written, found.input)
    update = {"input": uncached(found.input, written), "cache_write": written}
    return found.model_copy(update=update)


def _finish(response: dict[str, Any]) -> str:
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return _text(first.get("finish_reason")) if isinstance(first, dict) else ""


def _time(value: dict[str, Any]) -> str | None:
    extra = value.get("extra")
    time = extra.get("timestamp") if isinstance(extra, dict) else None
    time = value.get("timestamp") if time is None else time
    if isinstance(time, int | float) and not isinstance(time, bool):
        return label_time(dumps(time))
    return label_time(time)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _model(info: Any) -> str:
    for name in ("config", "model", "model_name"):
        info = info.get(name) if isinstance(info, dict) else None
    return _text(info)


def _origin(line: int, rest: dict[str, Any], *pairs: str, answer: str = "") -> Origin:
    record = OriginRecord(line=line, type="message", message=answer, pairs=pairs)
    return Origin(records=(record,), rest=Json(rest) if rest else None)
