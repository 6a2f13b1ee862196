"""A response of OpenAI's Responses API as it was streamed.

The last event holds the whole response. Where it is missing, the response is put together from what
had come: the items that were done as they are, the others piece by piece. Source: OpenAI's
reference of streaming events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog.errors import EventInvalid
from eventlog.jsonvalue import loads, value_fault
from harness.exchange.answers import text_of
from harness.exchange.streams import Streamed, stream_data

_PIECES: dict[str, tuple[str, str]] = {
    "response.output_text.delta": ("content", "text"),
    "response.refusal.delta": ("content", "refusal"),
    "response.reasoning_text.delta": ("content", "text"),
    "response.reasoning_summary_text.delta": ("summary", "text"),
    "response.function_call_arguments.delta": ("", "arguments"),
    "response.mcp_call_arguments.delta": ("", "arguments"),
    "response.custom_tool_call_input.delta": ("", "input"),
    "response.code_interpreter_call_code.delta": ("", "code"),
}
"""By the type of a delta: the list of parts that it is for, if any, and the field that goes on."""

_PARTS = {
    "response.content_part.added": "content",
    "response.reasoning_summary_part.added": "summary",
}
"""By the type of the event: the list in which a part begins."""

_KINDS = {
    ("content", "refusal"): "refusal",
    ("content", "text"): "output_text",
    ("summary", "text"): "summary_text",
}
"""Of a part of which the beginning was not told."""


def read_events(text: str) -> Streamed:
    """Put the response of a stream together. Raises nothing, whatever the text is."""
    found, output = Streamed(), _Output()
    for piece in stream_data(text):
        try:
            event = loads(piece)
        except EventInvalid:
            event = None
        if value_fault(event, piece.encode("utf-8", "surrogatepass")):
            event = None
        kind = text_of(event.get("type")) if isinstance(event, dict) else ""
        if not isinstance(event, dict) or not kind.startswith(("response.", "error")):
            found.unread.append(piece)
            continue
        _take(found, output, kind, event)
    items = [] if found.complete else output.items()
    if items and found.message is not None:
        found.message = {**found.message, "output": items}
    return found


def _take(found: Streamed, output: _Output, kind: str, event: Mapping[str, Any]) -> None:
    response = event.get("response")
    if kind == "error":
        found.error = {k: v for k, v in event.items() if k != "type" and v is not None}
    elif isinstance(response, dict):
        found.message = response
        if kind in ("response.completed", "response.incomplete"):
            found.complete = True
        elif kind == "response.failed":
            error = response.get("error")
            found.error = error if isinstance(error, dict) else {"message": "it failed"}
    else:
        output.take(kind, event)


class _Output:
    """The items of a response, as far as they came."""

    def __init__(self) -> None:
        self._done: dict[int, Any] = {}
        self._begun: dict[int, dict[str, Any]] = {}
        self._parts: dict[tuple[int, str, int], dict[str, Any]] = {}
        """By item, list and place."""
        self._pieces: dict[tuple[int, str, int, str], list[str]] = {}
        """The same and the field: what its text is made of."""

    def take(self, kind: str, event: Mapping[str, Any]) -> None:
        """The next event; what is none of these says nothing of what came."""
        at = event.get("output_index")
        if type(at) is not int:
            return
        if kind == "response.output_item.done":
            self._done[at] = event.get("item")
        elif kind == "response.output_item.added" and isinstance(event.get("item"), dict):
            self._begun[at] = dict(event["item"])
        elif kind in _PARTS and isinstance(event.get("part"), dict):
            listed = _PARTS[kind]
            self._parts[at, listed, _place(event, listed)] = dict(event["part"])
        elif kind in _PIECES and isinstance(event.get("delta"), str):
            listed, name = _PIECES[kind]
            pieces = self._pieces.setdefault((at, listed, _place(event, listed), name), [])
            pieces.append(event["delta"])

    def items(self) -> list[Any]:
        """They, in their order."""
        begun = {at: dict(item) for at, item in self._begun.items() if at not in self._done}
        parts = {key: dict(part) for key, part in self._parts.items() if key[0] in begun}
        for (at, listed, place, name), pieces in self._pieces.items():
            if at not in begun:
                continue
            into = begun[at]
            if listed:
                made = {"type": _KINDS[listed, name]}
                into = parts.setdefault((at, listed, place), made)
            into[name] = text_of(into.get(name)) + "".join(pieces)
        for (at, listed, _), part in sorted(parts.items(), key=lambda each: each[0]):
            given = begun[at].get(listed)
            begun[at][listed] = [*(given if isinstance(given, list) else ()), part]
        return [item for _, item in sorted({**begun, **self._done}.items())]


def _place(event: Mapping[str, Any], listed: str) -> int:
    place = event.get("summary_index" if listed == "summary" else "content_index")
    return place if type(place) is int else 0
