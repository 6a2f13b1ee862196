"""What a stored message and a sent one may differ in and still be the same message.

Two messages are *alike* when they are equal after normalising: null fields and, of a message, empty
lists left out, a single text part taken as a string, ``cache_control`` taken off, and what a client
adds to an answer before it sends it back: the places of streamed tool calls, and copies of JSON
that it parsed. What was normalised away is the *form* of the sent one, kept as a list of changes,
so that the request is rebuilt exactly and the message is stored once.

    ["+", path, value]   set or add        ["-", path]   take off
    ["parts", path]      the string there becomes one text part      ["text", path]   the other way
    ["order", path, names]   its fields stood in this order

The order of fields is nothing that a digest of a request speaks of; with it the bytes are the same.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping, Sequence
from typing import Any

Change = list[Any]


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no blanks, ASCII. What digests of requests are made of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def written(value: Any) -> str:
    """JSON with keys in their order: equal where the bytes that a model reads of it are."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def key(message: Mapping[str, Any]) -> str:
    """Equal for messages that are alike."""
    return canonical(normalise(message))


def identical(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON with keys in the same order: quick, and never wrong.

    Python's ``==`` takes 1, 1.0 and true for equal. False only says that a closer look is needed.
    """
    try:
        return marshal.dumps(one, 2) == marshal.dumps(other, 2)
    except ValueError:
        return False


def normalise(message: Any) -> Any:
    """A copy of a message without what may differ between two that are alike."""
    if isinstance(message, Mapping):
        message = {
            name: _as_it_came(name, each)
            for name, each in message.items()
            if each != [] and name not in _PARSED
        }
    return _normalised(message)


_PARSED = frozenset({"parsed", "parsed_arguments"})
"""What OpenAI's client puts beside a text of JSON."""


def _as_it_came(name: str, value: Any) -> Any:
    """A field of an answer without what a client adds to it."""
    if name == "tool_calls" and isinstance(value, list):
        return [_call(place, call) for place, call in enumerate(value)]
    if name == "content" and isinstance(value, list):
        return [_without_parsed(part) for part in value]
    return value


def _call(place: int, call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    return {
        name: _without_parsed(each)
        for name, each in call.items()
        if name != "index" or type(each) is not int or each != place
    }


def _without_parsed(value: Any) -> Any:
    if not isinstance(value, Mapping) or value.keys().isdisjoint(_PARSED):
        return value
    return {name: each for name, each in value.items() if name not in _PARSED}


def _normalised(value: Any) -> Any:
    if isinstance(value, Mapping):
        kept = {
            k: _normalised(v) for k, v in value.items() if v is not None and k != "cache_control"
        }
        content = kept.get("content")
        text = _single_text(content)
        if text is not None:
            kept["content"] = text
        return kept
    if isinstance(value, list | tuple):
        return [_normalised(entry) for entry in value]
    return value


def _single_text(content: Any) -> str | None:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        block = content[0]
        kind = block.get("type")
        if set(block) == {"type", "text"} and kind in ("text", "input_text", "output_text"):
            return str(block["text"])
    return None


def form(stored: Any, sent: Any) -> list[Change]:
    """The changes that make the stored message the sent one; empty when they are equal."""
    changes: list[Change] = []
    _compare(stored, sent, [], changes)
    return changes


def _compare(stored: Any, sent: Any, path: list[Any], changes: list[Change]) -> None:
    if identical(stored, sent):
        return
    if isinstance(stored, Mapping) and isinstance(sent, Mapping):
        gone, new = [], []
        for name in stored:
            if name not in sent:
                gone.append(name)
                changes.append(["-", [*path, name]])
        for name, value in sent.items():
            if name in stored:
                _compare(stored[name], value, [*path, name], changes)
            else:
                new.append(name)
                changes.append(["+", [*path, name], value])
        if [*(name for name in stored if name not in gone), *new] != list(sent):
            changes.append(["order", path, list(sent)])
        return
    if isinstance(stored, list) and isinstance(sent, list) and len(stored) == len(sent):
        for index, (old, new) in enumerate(zip(stored, sent, strict=True)):
            _compare(old, new, [*path, index], changes)
        return
    if canonical(stored) == canonical(sent):
        return
    if isinstance(stored, str) and _only_part(sent) == stored:
        changes.append(["parts", path])
        _compare({"type": "text", "text": stored}, sent[0], [*path, 0], changes)
    elif isinstance(sent, str) and _only_part(stored) == sent:
        changes.append(["text", path])
    else:
        changes.append(["+", path, sent])


def _only_part(content: Any) -> str | None:
    """The text of a list of one text part, whatever else the part holds."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        text = content[0].get("text")
        return text if isinstance(text, str) else None
    return None


def apply(stored: Any, changes: Sequence[Change]) -> Any:
    """The sent message, from the stored one and the form."""
    value = json.loads(json.dumps(stored))
    for operation, path, *given in changes:
        if not path:
            value = _changed(value, operation, given)
            continue
        node = value
        for step in path[:-1]:
            node = node[step]
        last = path[-1]
        if operation == "-":
            node.pop(last, None)
        else:
            node[last] = _changed(
                node.get(last) if isinstance(node, dict) else node[last], operation, given
            )
    return value


def _changed(value: Any, operation: str, given: Sequence[Any]) -> Any:
    if operation == "parts":
        return [{"type": "text", "text": value}]
    if operation == "text":
        return value[0]["text"]
    if operation == "order":
        named = {name: value[name] for name in given[0] if name in value}
        return {**named, **value}
    return given[0]
