"""A chat completion of OpenAI's API, whole or streamed.

Source: OpenAI's reference of chat completions and of their chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads, value_fault
from harness.endpoint import usage_of
from harness.exchange.answers import Answer, text_of
from harness.exchange.streams import Streamed, stream_data

_SAID = frozenset({"id", "model", "object", "choices", "usage"})


def is_completion(value: Any) -> bool:
    """Whether it is a completion with a message in it."""
    return isinstance(value, Mapping) and _message(_first(value)) is not None


def answer_of(completion: Mapping[str, Any]) -> Answer:
    """A completion as the API returned it; choices beyond the first are alternatives.

    Its message is as it came: most clients send it back so, and then it is no other form of it.
    """
    choice = _first(completion)
    message = _message(choice) or {}
    rest = {k: v for k, v in completion.items() if k not in _SAID and v is not None}
    own = {k: v for k, v in choice.items() if k not in ("index", "message", "finish_reason")}
    own = {k: v for k, v in own.items() if v is not None}
    return Answer(
        message,
        is_said=any(v for k, v in message.items() if k != "role"),
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
    choices: dict[int, _Choice] = {}
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
        done = [choice.finished() for _, choice in sorted(choices.items())]
        found.message |= {"object": "chat.completion", "choices": done}
        found.complete = bool(done) and all(choice.get("finish_reason") for choice in done)
    return found


class _Choice:
    """One choice of a completion, as far as it came."""

    def __init__(self, index: int) -> None:
        self._fields: dict[str, Any] = {"index": index}
        self._message: dict[str, Any] = {"role": "assistant"}
        self._calls: dict[int, dict[str, Any]] = {}
        self._places: dict[int, int] = {}
        """By index: which call is meant by it, where several came under the same."""

    def take(self, piece: Mapping[str, Any]) -> None:
        """The next piece of it."""
        delta = piece.get("delta") or {}
        more = {k: v for k, v in piece.items() if k not in ("index", "delta") and v is not None}
        self._fields |= more
        listed = delta.get("tool_calls")
        for call in listed if isinstance(listed, list) else ():
            if isinstance(call, dict):
                index = call.get("index")
                place = index if isinstance(index, int) else len(self._calls)
                if _is_another(call, self._calls.get(self._places.get(place, place), {})):
                    self._places[place] = max(self._calls) + 1
                known = self._calls.setdefault(self._places.get(place, place), {})
                _join(known, {k: v for k, v in call.items() if k != "index"})
        _join(self._message, {k: v for k, v in delta.items() if k != "tool_calls"})

    def finished(self) -> dict[str, Any]:
        """The choice with its message."""
        message = self._message
        if self._calls:
            calls = [call for _, call in sorted(self._calls.items())]
            message = {**message, "tool_calls": calls}
        return {**self._fields, "message": message}


def _is_another(piece: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    """Whether a piece begins another call: some servers give all calls of a batch the index 0."""
    function = piece.get("function")
    name = function.get("name") if isinstance(function, dict) else None
    return bool(name and piece.get("id") and known.get("id") not in (None, "", piece["id"]))


def _take(chunk: dict[str, Any], choices: dict[int, _Choice]) -> bool:
    listed = chunk.get("choices")
    if not isinstance(listed, list):
        return False
    for each in listed:
        index = each.get("index", 0) if isinstance(each, dict) else None
        if not isinstance(index, int) or not isinstance(each.get("delta"), dict | None):
            return False
        choices.setdefault(index, _Choice(index)).take(each)
    return True


def _join(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """What a delta adds: texts go on, objects are joined; anything else is as it came last."""
    for name, value in delta.items():
        if isinstance(value, dict) and isinstance(into.get(name, {}), dict):
            _join(into.setdefault(name, {}), value)
        elif isinstance(value, str) and isinstance(into.get(name), str) and name not in _WHOLE:
            into[name] += value
        elif value is not None or name not in into:
            into[name] = value


_WHOLE = frozenset({"role", "type", "id"})
