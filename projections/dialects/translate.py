"""What the three dialects do alike when an item is written in a dialect that is not its own.

Rules that hold for all of them:

* A message of the same dialect passes as it is. It is written anew, from its parts, only where the
  provider would refuse it (a blank block, a name with a dot, an id that is no id there).
* Thinking never crosses: signed, it is bound to its provider; unsigned, no provider takes it back.
* Arguments that are no JSON object stand whole under ``_raw`` where an object is demanded.
* What cannot be said in the other dialect becomes a short note in brackets.
* A lone surrogate becomes U+FFFD in the request; the log keeps it.

Sources: OpenAI API reference (chat completions, responses), Anthropic Messages API.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from eventlog import jsonvalue, messages
from eventlog.errors import EventInvalid
from eventlog.messages import Part
from projections.items import Item

RAW_ARGUMENTS = "_raw"
"""The key under which arguments stand that are no JSON object."""

UNNAMED_TOOL = "unknown_tool"

SCREENSHOT = "computer_screenshot"
"""What a ``computer_call`` gives instead of text: an object with the picture in it."""

SENDABLE_ID = re.compile("[^\ud800-\udfff]+")
"""An id that any OpenAI dialect takes."""
ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPORTABLE = re.compile(r"[^a-zA-Z0-9_-]")
_ERROR_PREFIX = "Error: "


def clean(value: Any) -> Any:
    """The value with U+FFFD for lone surrogates; the very same object where there are none."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        changed = {clean(key): clean(inner) for key, inner in value.items()}
        same = all(
            a is b and c is d
            for (a, c), (b, d) in zip(value.items(), changed.items(), strict=False)
        )
        return value if same and len(changed) == len(value) else changed
    if isinstance(value, list | tuple):
        items = [clean(inner) for inner in value]
        return value if all(a is b for a, b in zip(value, items, strict=True)) else items
    return value


class CallIds:
    """The call ids of one request: kept where the provider takes them, else made portable.

    An id depends on the ids before it and on its item, never on what comes later, so a longer
    context keeps the bytes of a shorter one.
    """

    def __init__(self, allowed: re.Pattern[str]) -> None:
        self._allowed = allowed
        self._sent: dict[str, str] = {}
        self._used: set[str] = set()
        self._legacy = ""

    def of_call(self, item: Item, part: Part) -> str:
        """The id of a call; a legacy function call, which has none, is named after its item."""
        if part.id:
            return self._of(part.id)
        self._legacy = self._fresh(f"call_{item.id}")
        return self._legacy

    def of_result(self, part: Part) -> str:
        """The id of the call that a result answers."""
        return self._of(part.id) if part.id else self._legacy or self._of("call_unknown")

    def _of(self, raw: str) -> str:
        if raw not in self._sent:
            fits = self._allowed.fullmatch(raw) and raw not in self._used
            self._sent[raw] = raw if fits else self._fresh(f"{raw[:40]}_{_digest(raw)}")
            self._used.add(self._sent[raw])
        return self._sent[raw]

    def _fresh(self, seed: str) -> str:
        name = _UNPORTABLE.sub("_", seed)
        while name in self._used:
            name += "_"
        self._used.add(name)
        return name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def tool_name(name: str, limit: int = 64) -> str:
    """The name where the provider takes it, else the nearest that it takes."""
    if name and len(name) <= limit and not _UNPORTABLE.search(name):
        return name
    return _UNPORTABLE.sub("_", name)[:limit] or UNNAMED_TOOL


def arguments_object(text: str) -> dict[str, Any]:
    """Call arguments as an object; text that is no exact object stands whole under ``_raw``."""
    try:
        value = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_refuse, parse_float=_finite
        )
        if isinstance(value, dict):
            jsonvalue.dumps(value)
            return value
    except (ValueError, RecursionError, EventInvalid):
        pass
    return {RAW_ARGUMENTS: text}


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("out of range")
    return number


def note(part: Part) -> str:
    """What stands in a request for a part that the dialect cannot say; never blank."""
    name = part.name.strip() or ("media" if part.kind == "media" else "unknown content")
    text = part.text.strip()
    if text and not part.name:
        return text
    return f"[{name}] {text}" if text else f"[{name}]"


def inner_parts(dialect: str, part: Part) -> tuple[Part, ...]:
    """What a tool result is made of: its text, or its blocks."""
    native = part.native if isinstance(part.native, Mapping) else {}
    value = native["output"] if "output" in native else native.get("content")
    if isinstance(value, list):
        reader = dialect if dialect == "anthropic" else "openai_chat"
        return messages.parts(reader, {"role": "user", "content": value})
    if isinstance(value, Mapping) and value.get("type") == SCREENSHOT:
        return (Part("media", "", name=SCREENSHOT, native=value),)
    return (Part("text", part.text),) if part.text else ()


def result_text(dialect: str, part: Part) -> str:
    """A tool result as text alone: what is no text is noted, an error is called one."""
    found = [p.text if p.kind == "text" else note(p) for p in inner_parts(dialect, part)]
    text = "\n".join(found)
    if part.is_error and not text.lower().startswith("error"):
        return _ERROR_PREFIX + text
    return text


class Tool(NamedTuple):
    """A function that a model may call."""

    name: str
    description: str
    schema: Mapping[str, Any]


def read_tool(native: Mapping[str, Any]) -> Tool | None:
    """The function of a native tool definition; None for a tool that the provider runs itself."""
    inner = native.get("function") if native.get("type") == "function" else native
    if not isinstance(inner, Mapping):
        inner = native
    if "input_schema" in native or native.get("type") in ("function", "custom", None):
        schema = inner.get("parameters") or inner.get("input_schema")
        name, description = inner.get("name"), inner.get("description")
        if isinstance(name, str) and name:
            return Tool(
                name,
                description if isinstance(description, str) else "",
                schema if isinstance(schema, Mapping) else {"type": "object", "properties": {}},
            )
    return None


def tool_objects(tools: Any) -> list[Mapping[str, Any]]:
    """Of what was declared as tools, whatever it is, those that are objects."""
    return [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []


def tools_of(
    tools: Any,
    native: Callable[[Mapping[str, Any]], bool],
    write: Callable[[Tool], dict[str, Any]],
) -> list[Mapping[str, Any]]:
    """The tools in a dialect: its own pass, functions are translated, others' hosted ones leave,
    and so does what is no tool: what a file declares may be anything."""
    found: list[Mapping[str, Any]] = []
    for tool in tool_objects(tools):
        if native(tool):
            found.append(tool)
            continue
        read = read_tool(tool)
        if read is not None:
            found.append(write(read))
    return found


def body(
    parameters: Mapping[str, Any] | None,
    fields: Mapping[str, Any],
    tools: Sequence[Mapping[str, Any]],
    cleaned: Cleaned,
) -> dict[str, Any]:
    """The request: parameters, then what the context says; nothing that is empty."""
    given = {key: value for key, value in (parameters or {}).items() if key not in fields}
    return cleaned({**given, **fields, **({"tools": list(tools)} if tools else {})})


Cleaned = Callable[[dict[str, Any]], dict[str, Any]]
"""What ``cleaned`` does; for many requests, each mostly the one before it, it can be done at less
cost."""


def cleaned(request: dict[str, Any]) -> dict[str, Any]:
    """The request with U+FFFD for lone surrogates; itself where there are none."""
    return request if _is_clean(request) else dict(clean(request))


def _is_clean(value: Any) -> bool:
    """Whether there is no lone surrogate in it: a quick look, where the whole of a long
    conversation is looked at for each request."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return False
    return True
