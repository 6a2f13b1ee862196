"""The texts of items and events that can be searched. Pure.

Of an item that is every part that a person or a model can have read: what was said, thought, called
and returned. Arguments and results are often JSON, in which a line end is the two characters
``\\n`` and sticks to the word behind it: where escapes stand, the text that they stand for is
searched as well, a line a value.

Binary parts, signatures and what is encrypted are not searched. Nor are records that an importer
did not understand: they are in no context. Nor is what an agent keeps beside the conversation
(tasks, permissions, files, what a prompt was rendered from): what a model saw of it stands in an
item. What is remembered of a person is searched in the stream in which that stands. What was erased
has no text.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

from eventlog.errors import EventInvalid
from eventlog.messages import SYSTEM_ROLES, Part
from eventlog.recorded import RecordedEvent
from projections.context import ITEM_TYPES, is_known
from projections.items import Item
from projections.partial import partial_of
from projections.runs import Origin, Standing

Area = Literal[
    "text", "reasoning", "input", "output", "system", "summary", "tools", "title", "error", "memory"
]
"""What a text is: said, thought, a tool's input or output, a system prompt, what a compaction put
in, the definitions of tools, a title, why a call failed, or what is remembered of a person."""

AREAS: tuple[Area, ...] = get_args(Area)

CARRIERS = frozenset({"placeholder_substituted", "message_revised", "repair_applied"})
"""Events that carry another rendition of an earlier item."""

MEMORIES = frozenset({"remembered", "memory_revised", "profile_updated"})
"""Events that say what is known of a person."""

NOTES = frozenset(
    {"tools_declared", "session_started", "session_titled", "model_failed", *MEMORIES}
)
"""Events that are no item and hold a text."""

HOLDING = frozenset({*ITEM_TYPES, *CARRIERS, *NOTES, "context_compacted"})
"""Every event type in which something is searched."""

_REMEMBERED = ("text", "subject", "values", "entities", "relations", "experience", "summary")
"""Fields of those that hold what is known."""

_SEALS = frozenset({"type", "id", "data", "signature", "encrypted_content", "encrypted_index"})


class Text(NamedTuple):
    """One text, and what it is."""

    area: Area
    text: str
    tool: str = ""
    """Of an input or output: the tool's name, where the part says it."""
    call_id: str = ""


def carried(event: RecordedEvent) -> list[Standing]:
    """The items, and renditions of items, that an event brings; none of what was erased."""
    kind, position = event.type, event.position
    if event.erased or kind not in HOLDING or not is_known(kind, event.schema_version):
        return []
    if kind in ITEM_TYPES:
        return [(position, 0)]
    data = event.data
    found: list[Standing] = []
    if kind == "context_compacted":
        found = [(f"{position}.{n}", 0) for n in range(len(data.get("messages", ())))]
    elif kind == "repair_applied":
        found = [(f"{position}.{n}", 0) for n in range(len(data.get("inserted", ())))]
        found += [(item, position) for item in _named(r["item"] for r in data.get("renamed", ()))]
    elif kind in CARRIERS:
        found = [(item, position) for item in _named([data["item"]])]
    return found


def _named(items: Iterable[str]) -> list[Origin]:
    return list(dict.fromkeys(int(item) if item.isdecimal() else item for item in items))


def item_texts(item: Item) -> Iterator[Text]:
    """The texts of an item in its rendition; none where it was erased or has a hostile shape."""
    if item.form == "redacted":
        return
    try:
        parts = item.parts
    except (AttributeError, LookupError, TypeError, ValueError):
        return
    for part in parts:
        area = _area(item, part)
        tool = part.name if part.kind == "call" else ""
        if part.kind == "result":
            tool = part.name or item.tool_name
        texts = _others(part.native) if part.kind == "other" and not part.text else [part.text]
        for text in texts:
            unescaped = _unescaped(text) if area in ("input", "output") else ""
            for each in (unescaped, text):
                if each:
                    said = f"{tool} {each}" if part.kind == "call" and tool else each
                    yield Text(area, said, tool, part.id)
        if part.kind in ("call", "result") and part.id:
            yield Text(area, part.id, tool, part.id)


def _area(item: Item, part: Part) -> Area:
    if part.kind == "call":
        return "input"
    if part.kind == "result":
        return "output"
    if part.kind == "thinking":
        return "reasoning"
    if part.kind == "other":
        return "input" if part.name.endswith(("_call", "_use")) else "output"
    if item.kind == "summary":
        return "summary"
    return "system" if item.role in SYSTEM_ROLES else "text"


def note_texts(event: RecordedEvent) -> Iterator[Text]:
    """The texts of an event that is no item; of a failed call also what had come of its answer."""
    if event.erased or event.type not in NOTES or not is_known(event.type, event.schema_version):
        return
    data = event.data
    if event.type == "tools_declared":
        for definition in _list(data.get("definitions")):
            inner = definition.get("function") if isinstance(definition, Mapping) else None
            named = inner if isinstance(inner, Mapping) else definition
            name = named.get("name") if isinstance(named, Mapping) else ""
            text = "\n".join(lines(definition))
            yield Text("tools", text, name if isinstance(name, str) else "")
        return
    if event.type in MEMORIES:
        known = {name: data[name] for name in _REMEMBERED if data.get(name)}
        text = str(known.pop("text", ""))
        yield Text("memory", "\n".join(filter(None, [text, *lines(known)])))
        return
    area: Area = "error" if event.type == "model_failed" else "title"
    said = data.get(area)
    if isinstance(said, str) and said:
        yield Text(area, said)
    partial = partial_of(event)
    if partial is not None:
        yield from item_texts(partial)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def safe(texts: Iterator[Text]) -> list[Text]:
    """The texts, or those up to where a damaged payload shows itself: ``verify`` tells of it."""
    found: list[Text] = []
    with contextlib.suppress(AttributeError, EventInvalid, LookupError, TypeError, ValueError):
        found.extend(texts)
    return found


# -- JSON ---------------------------------------------------------------------------------------


def _unescaped(text: str) -> str:
    """What stands in a JSON text with escapes, a line a value; nothing where it is no such text."""
    if "\\" not in text or text.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, strict=False)
    except (ValueError, RecursionError):
        return ""
    return "\n".join(lines(value))


def _others(native: Any) -> list[str]:
    """The texts of a block that no dialect of ours knows."""
    return ["\n".join(lines(native, _SEALS))] if isinstance(native, Mapping) else []


def lines(value: Any, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """A JSON value as ``name: value`` lines, in its order."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, Mapping):
            if name:
                yield f"{name}:"
            children = [(str(k), v) for k, v in node.items() if k not in without]
            stack += reversed(children)
        elif isinstance(node, list):
            if name:
                yield f"{name}:"
            stack += [("", child) for child in reversed(node)]
        else:
            text = node if isinstance(node, str) else json.dumps(node)
            yield f"{name}: {text}" if name else text
