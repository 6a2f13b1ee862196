"""What of a file never reaches the log: keys, and whatever may hold one.

Agents and recorders write configurations, environments and headers down, and with them the keys
that requests are paid with. So every event of an import goes through ``event_without_secrets``
before it is appended: in what it carries besides the conversation, a value is replaced by a marker
when its field is named as a secret is, or when it has the shape of a key, also in JSON inside a
text. What was said, called and returned is not touched: it is the record, and can be erased.

Of recorded requests less is kept: of headers only those named here, of addresses nothing behind the
path. Among the parameters of a request keys do stand (those of MCP servers, of headers that a
gateway is to add); a request without them is not the one that was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, get_origin

from pydantic import BaseModel

from eventlog.errors import EventInvalid
from eventlog.events import Event, RecordUnrecognized
from eventlog.jsonvalue import MAX_DEPTH, Json, depth, dumps, loads
from harness.exchange.secret_text import (
    WITHHELD,
    Withheld,
    holds_nothing,
    is_secret_name,
    may_hold_secrets,
    shaped_without_secrets,
    tell,
    text_without_secrets,
)

KEPT_HEADERS = frozenset(
    {
        "anthropic-beta",
        "anthropic-version",
        "content-type",
        "request-id",
        "retry-after",
        "user-agent",
        "x-request-id",
        "x-should-retry",
    }
)

_SPOKEN = frozenset({"content", "reasoning_content", "thinking", "tool_calls"})
"""Of an object with a role, in a record: what was said."""

_CALLED = frozenset(
    {
        *("content", "input", "arguments", "command", "parsed_cmd", "function"),
        *("output", "stdout", "stderr", "aggregated_output", "formatted_output"),
    }
)
"""Of an object that names a call, in a record: what the tool was given, and what it returned."""

_CALL_NAMES = ("call_id", "tool_call_id", "tool_use_id", "toolUseID")

_OF_RECORD = frozenset({"toolUseResult", "observation", "thought", "lastPrompt", "messages"})
"""Of a record itself, in some format: what was said and returned."""

_IN_RECORD = ("step", "message", "payload")
"""Where the fields of a record stand, where they do not stand in itself."""

_WORDS = "error"
"""What a provider said when it refused; of our events the only text that no JSON value holds."""

_OF_CONVERSATION = frozenset(
    {"message", "messages", "native", "patch", "alternatives", "inserted", "forms"}
)
"""The same of our events."""

_LABELS = ("model", "finish_reason", "trigger", "strategy", "label")
"""Texts of our events that a file says and nobody reads as a text: only a shape tells a key."""

_LEAST = 1000
"""Under this a number is no secret: a version, a count of days."""

_ADDRESS_NAME = re.compile(r"(?:^|_)ur[li]$", re.IGNORECASE)
_ADDRESS = re.compile(r"^([a-z][a-z+.-]*://)?(?:[^/?#@]*@)?([^?#]*)", re.IGNORECASE)
_PAIRED = ("name", "key", "header")
"""Of an object that names what its ``value`` is."""
_ENDS = {"{": "}", "[": "]"}

# -- events ---------------------------------------------------------------------------------------

_Model = TypeVar("_Model", bound=BaseModel)


def event_without_secrets(event: Event, withheld: Withheld) -> Event:
    """The event as it is appended; the same object where it holds no secret."""
    found = _model_without_secrets(event, withheld)
    if isinstance(found, RecordUnrecognized):
        raw = _raw_without_secrets(found.raw, withheld)
        return found if raw is found.raw else found.model_copy(update={"raw": raw})
    return found


def _model_without_secrets(model: _Model, withheld: Withheld) -> _Model:
    """Every JSON value in it but those of the conversation, whatever the event."""
    update: dict[str, Any] = {}
    for name in _fields(type(model)):
        value = getattr(model, name)
        if name in _LABELS and isinstance(value, str):
            if (shown := shaped_without_secrets(value, withheld)) != value:
                update[name] = shown
            continue
        if not isinstance(value, Json | BaseModel) and name != _WORDS:
            continue
        kept: Any = value
        if isinstance(value, BaseModel):
            kept = _model_without_secrets(value, withheld)
        elif isinstance(value, str):
            kept = text_without_secrets(value, withheld)
        elif may_hold_secrets(value.text):
            kept = _json_without_secrets(name, value, withheld)
        if kept is not value:
            update[name] = kept
    return model.model_copy(update=update) if update else model


def _json_without_secrets(name: str, value: Json, withheld: Withheld) -> Json:
    given = value.peek
    if name == "definitions":
        shown = tools_without_secrets(given, withheld)
    elif name == "rest":
        shown = _record(given, withheld)
    else:
        shown = without_secrets(given, withheld)
    return value if shown == given else Json(shown)


@cache
def _fields(model: type[BaseModel]) -> tuple[str, ...]:
    """The fields that may hold a JSON value, and the words of a failure."""
    return tuple(
        name
        for name, field in model.model_fields.items()
        if name not in _OF_CONVERSATION
        and (name == _WORDS or name in _LABELS or field.annotation not in (str, int, bool))
        and get_origin(field.annotation) not in (Literal, tuple)
    )


def _raw_without_secrets(raw: str, withheld: Withheld) -> str:
    """The text of a record: as it is, unless there is something to withhold."""
    if not may_hold_secrets(raw):
        return raw
    try:
        value = json.loads(raw, object_pairs_hook=_unique)
        if depth(value) > MAX_DEPTH:
            raise ValueError("nested too deep")
        shown = _record(value, withheld)
        return raw if shown == value else dumps(shown)
    except (ValueError, RecursionError, EventInvalid):
        return text_without_secrets(raw, withheld)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses a name that stands twice: a value would stay in the text that nobody looked at."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


# -- values ---------------------------------------------------------------------------------------


def without_secrets(value: Any, withheld: Withheld) -> Any:
    """A copy of a value in which secrets are markers: by the names of their fields, by their shape,
    and in JSON and settings inside a text. Done twice, it changes nothing more."""
    return _walked("", value, withheld)


def _record(value: Any, withheld: Withheld) -> Any:
    """The same of a record, or of what an event does not hold of one: what was said, given to a
    tool and returned by it stands there too, in objects that are known by their form.

    Not by the names of fields alone: a configuration has a ``command`` and a ``prompt`` as well.
    """
    if isinstance(value, list):
        return [_record(each, withheld) for each in value]
    return _walked("", value, withheld, _OF_RECORD)


def _said_in(value: Mapping[str, Any], is_record: bool) -> frozenset[str]:
    """Which fields of an object hold what was said, called or returned: a configuration has
    objects with a role, too, and a record has it in one place."""
    if any(isinstance(value.get(name), str) for name in _CALL_NAMES):
        return _CALLED | _SPOKEN
    if value.get("type") == "tool_use" and isinstance(value.get("id"), str):
        return _CALLED
    return _SPOKEN if is_record and isinstance(value.get("role"), str) else frozenset()


def _walked(name: str, value: Any, withheld: Withheld, said: frozenset[str] | None = None) -> Any:
    """``said``: in a record, the fields of this object that are left as they are; None where no
    conversation stands."""
    if isinstance(value, str):
        return _text(value, withheld)
    if isinstance(value, list):
        if name.lower().endswith("headers"):
            return [_header(each, withheld) for each in value]
        inner = None if said is None else frozenset[str]()
        return _flags([_walked(name, each, withheld, inner) for each in value], withheld)
    if not isinstance(value, Mapping):
        return value
    if name.lower().endswith("headers"):
        return {key: _of_header(key, each, withheld) for key, each in value.items()}
    kept: dict[str, Any] = {}
    named = next((value[n] for n in _PAIRED if isinstance(value.get(n), str)), "")
    mine = None if said is None else said | _said_in(value, bool(said))
    for field, each in value.items():
        # In a JSON Schema the names are those of parameters, and no value stands there.
        is_secret = is_secret_name(field) and name != "properties"
        if field == "token" and "logprob" in value:  # one of a model's answer
            is_secret = False
        shown = each
        if mine is not None and field in mine:
            pass
        elif is_secret or (field == "value" and is_secret_name(named)):
            shown = _hidden(field if is_secret else named, each, withheld)
        elif field.lower() == "tokens" and isinstance(each, Mapping):
            # A text is one to sign in with, a number counts those of a model.
            texts = {k: _hidden(k, v, withheld) for k, v in each.items() if isinstance(v, str)}
            shown = _walked("", {**each, **texts}, withheld)
        else:
            inner = None if mine is None else frozenset[str]()
            if said and field in _IN_RECORD:
                inner = said
            shown = _walked(field, each, withheld, inner)
        kept[_name(field, kept, withheld)] = shown
    return kept


def _name(field: str, taken: Mapping[str, Any], withheld: Withheld) -> str:
    """The name of a field, unless it is a key itself; each is another name then, too."""
    shown = shaped_without_secrets(field, withheld)
    if shown == field:
        return field
    number = 1
    while (numbered := shown if number == 1 else f"{shown} {number}") in taken:
        number += 1
    return numbered


def _hidden(name: str, value: Any, withheld: Withheld) -> Any:
    """Every text in a value replaced by the marker, and every number that may be a secret."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= _LEAST:
        tell(withheld, name)
        return WITHHELD
    if isinstance(value, str):
        if holds_nothing(value):
            return value
        tell(withheld, name)
        return WITHHELD
    if isinstance(value, Mapping):
        return {key: _hidden(name, each, withheld) for key, each in value.items()}
    if isinstance(value, list):
        return [_hidden(name, each, withheld) for each in value]
    return value


def _of_header(name: str, value: Any, withheld: Withheld) -> Any:
    return value if name.lower() in KEPT_HEADERS else _hidden(name.lower(), value, withheld)


def _header(given: Any, withheld: Withheld) -> Any:
    """One of a list of headers, as an object or as a pair."""
    if isinstance(given, Mapping) and isinstance(given.get("name"), str) and "value" in given:
        return {**given, "value": _of_header(given["name"], given["value"], withheld)}
    if isinstance(given, list) and len(given) == 2 and isinstance(given[0], str):
        return [given[0], _of_header(given[0], given[1], withheld)]
    return _walked("", given, withheld)


def _flags(values: list[Any], withheld: Withheld) -> list[Any]:
    """Arguments of a command, of which ``--api-key`` calls the next one secret."""
    for at, flag in enumerate(values[:-1]):
        if isinstance(flag, str) and flag[:1] == "-" and is_secret_name(flag) and "=" not in flag:
            values[at + 1] = _hidden(flag.lstrip("-"), values[at + 1], withheld)
    return values


def _text(text: str, withheld: Withheld) -> str:
    """A text that is no part of the conversation; JSON in it is looked into as such."""
    if not may_hold_secrets(text):
        return text
    body = text.strip()
    if body and _ENDS.get(body[0]) == body[-1]:
        try:
            value = loads(body)
            if depth(value) <= MAX_DEPTH:
                shown = without_secrets(value, withheld)
                return text if shown == value else dumps(shown)
        except (EventInvalid, RecursionError):
            pass
    return text_without_secrets(text, withheld)


def tools_without_secrets(tools: Any, withheld: Withheld) -> Any:
    """Definitions of tools: only those of MCP servers hold keys."""
    if not isinstance(tools, list):
        return tools
    return [
        _parameter("", tool, withheld)
        if isinstance(tool, Mapping) and tool.get("type") == "mcp"
        else tool
        for tool in tools
    ]


# -- recorded requests ----------------------------------------------------------------------------


def record_without_secrets(value: Any, bodies: frozenset[str], withheld: Withheld) -> Any:
    """A copy of a record without what may hold a key; the fields named as bodies are untouched."""
    if isinstance(value, list):
        return [record_without_secrets(each, bodies, withheld) for each in value]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, Any] = {}
    for name, each in value.items():
        if name in bodies:
            kept[name] = each
        elif name == "headers":
            kept[name] = _headers(each, withheld)
        elif name in ("url", "uri", "target") and isinstance(each, str):
            kept[name] = address(each)
        elif name == "queryString" or is_secret_name(name):
            tell(withheld, name)
        else:
            kept[name] = record_without_secrets(each, bodies, withheld)
    return kept


def body_without_secrets(body: dict[str, Any], withheld: Withheld) -> dict[str, Any]:
    """A request whose parameters hold no key; the same object where none held one."""
    kept = {name: _given(name, each, withheld) for name, each in body.items()}
    return body if kept == body else kept


def _given(name: str, value: Any, withheld: Withheld) -> Any:
    if name in ("messages", "system", "input", "instructions"):
        return value
    if name == "tools":
        return tools_without_secrets(value, withheld)
    return _parameter(name, value, withheld)


def _parameter(name: str, value: Any, withheld: Withheld) -> Any:
    (shown,) = without_secrets({name: _addresses(name, value, withheld)}, withheld).values()
    return shown


def _addresses(name: str, value: Any, withheld: Withheld) -> Any:
    """The value with its addresses up to the end of their paths."""
    if isinstance(value, Mapping):
        return {key: _addresses(key, each, withheld) for key, each in value.items()}
    if isinstance(value, list):
        return [_addresses(name, each, withheld) for each in value]
    if not isinstance(value, str) or not _ADDRESS_NAME.search(name):
        return value
    shown = address(value)
    if shown != value:
        tell(withheld, name)
    return shown


def address(url: str) -> str:
    """An address up to the end of its path, without a user."""
    found = _ADDRESS.match(url)
    return text_without_secrets(f"{found[1] or ''}{found[2]}", Withheld()) if found else ""


def _headers(headers: Any, withheld: Withheld) -> dict[str, Any]:
    """The headers that are kept, from an object or from a list of names and values."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, list):
        for each in headers:
            if isinstance(each, Mapping):
                pairs.append((each.get("name"), each.get("value")))
            elif isinstance(each, list) and len(each) == 2:
                pairs.append((each[0], each[1]))
    kept = {}
    for name, value in pairs:
        if isinstance(name, str) and name.lower() in KEPT_HEADERS:
            kept[name.lower()] = value
        elif isinstance(name, str):
            tell(withheld, name.lower())
    return kept
