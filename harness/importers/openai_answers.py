"""A chat completion of OpenAI's API, whole or streamed.

Source: OpenAI's reference of chat completions and of their chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads
from harness.endpoint import usage_of
from harness.importers.answers import Answer, text_of
from harness.importers.records import value_fault
from harness.importers.streams import Streamed, stream_data

_SAID = frozenset({"id", "model", "object", "choices", "usage"})


def is_completion(value: Any) -> bool:
    """Whether it is a completion with a message in it."""
    return isinstance(value, Mapping) and _message(_first(value)) is not None


def answer_of(completion: Mapping[str, Any]) -> Answer:
    """A completion as the API returned it; choices beyond the first are alternatives."""
    choice = _first(completion)
    message = _message(choice) or {}
    # An empty list says nothing, and only some clients send it back.
    kept = {k: v for k, v in message.items() if v != []}
    rest = {k: v for k, v in completion.items() if k not in _SAID and v is not None}
    own = {k: v for k, v in choice.items() if k not in ("index", "message", "finish_reason")}
    own = {k: v for k, v in own.items() if v is not None}
    return Answer(
        kept,
        is_said=any(v for k, v in kept.items() if k != "role"),
        id=text_of(completion.get("id")),
        model=text_of(completion.get("model")),
        finish_reason=text_of(choice.get("finish_reason")),
        usage=usage_of(completion.get("usage")),
        alternatives=tuple(Json(other) for other in completion["choices"][1:]),
        rest={**rest, "choice": own} if own else rest,
    )


def _first(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = completion.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _message(choice: Mapping[str, Any]) -> dict[str, Any] | None:
    message = choice.get("message")
    return message if isinstance(message, dict) and message.get("role") == "assistant" else None


def read_chunks(text: str) -> Streamed:
    """Put the completion of a stream together. Raises nothing, whatever the text is."""
    found = Streamed()
    choices: dict[int, dict[str, Any]] = {}
    for piece in stream_data(text):
        try:
            chunk = loads(piece)
        except EventInvalid:
            chunk = None
        if value_fault(chunk, piece.encode("utf-8", "surrogatepass")):
            chunk = None
        if isinstance(chunk, dict) and isinstance(chunk.get("error"), dict):
            found.error = chunk["error"]
        elif not isinstance(chunk, dict) or not _take(chunk, choices):
            found.unread.append(piece)
        else:
            known = {k: v for k, v in chunk.items() if k != "choices" and v is not None}
            found.message = {**(found.message or {}), **known}
    if found.message is not None:
        done = [_finished(choice) for _, choice in sorted(choices.items())]
        found.message |= {"object": "chat.completion", "choices": done}
        found.complete = bool(done) and all(choice.get("finish_reason") for choice in done)
    return found


def _take(chunk: dict[str, Any], choices: dict[int, dict[str, Any]]) -> bool:
    listed = chunk.get("choices")
    if not isinstance(listed, list):
        return False
    for each in listed:
        index = each.get("index", 0) if isinstance(each, dict) else None
        delta = each.get("delta") if isinstance(each, dict) else None
        if not isinstance(index, int) or not isinstance(delta, dict | None):
            return False
        choice = choices.setdefault(index, {"index": index, "message": {"role": "assistant"}})
        choice |= {k: v for k, v in each.items() if k not in ("index", "delta") and v is not None}
        _join(choice["message"], delta or {})
    return True


def _join(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """What a delta adds: texts go on, calls by their index; anything else is as it came last."""
    for name, value in delta.items():
        if name == "tool_calls" and isinstance(value, list):
            calls = into.setdefault("tool_calls", {})
            for call in value:
                if isinstance(call, dict) and isinstance(calls, dict):
                    index = call.get("index")
                    known = calls.setdefault(index if isinstance(index, int) else len(calls), {})
                    _join(known, {k: v for k, v in call.items() if k != "index"})
        elif isinstance(value, dict) and isinstance(into.get(name, {}), dict):
            _join(into.setdefault(name, {}), value)
        elif isinstance(value, str) and isinstance(into.get(name), str) and name not in _WHOLE:
            into[name] += value
        elif value is not None or name not in into:
            into[name] = value


_WHOLE = frozenset({"role", "type", "id"})


def _finished(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    if isinstance(message.get("tool_calls"), dict):
        calls = [call for _, call in sorted(message["tool_calls"].items())]
        choice = {**choice, "message": {**message, "tool_calls": calls}}
    return choice
