"""Call ids, made unique: the first call of an id keeps it, a later one is named after its item."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eventlog import messages
from eventlog.messages import Part
from projections.items import Item
from projections.pairing import renamed_suffix
from projections.reading import calls_of, results_of


def is_legacy(item: Item, part: Part) -> bool:
    """Whether a call is a ``function_call`` of old chat completions, which has no id."""
    native = part.native if isinstance(part.native, Mapping) else {}
    return item.dialect == "openai_chat" and not ({"id", "function", "custom"} & native.keys())


def unique_ids(item: Item, used: set[str]) -> list[str]:
    """The ids that the calls of an item get, given those in use, to which they are added."""
    calls = calls_of(item)
    own = {part.id for part in calls}
    found: list[str] = []
    for part in calls:
        if not part.id and is_legacy(item, part):
            found.append("")
            continue
        name = part.id
        if not name or name in used:
            name = (part.id or "call") + renamed_suffix(item)
            while name in used or name in own:
                name += "_"
        used.add(name)
        found.append(name)
    return found


def with_ids(item: Item, ids: Sequence[str]) -> tuple[Item, bool]:
    """The item with these ids in its calls, or in its results when it makes no call.

    Says also whether renaming old ids to new ones describes the change completely.
    """
    parts = calls_of(item) or results_of(item)
    changes = {part.id: new for part, new in zip(parts, ids, strict=True) if part.id != new}
    if not changes:
        return item, True
    message: Mapping[str, Any] = item.message
    for old, new in changes.items():
        message = messages.rename_call(item.dialect, message, old, new)
    renamed = replace(item, message=message)
    if [part.id for part in calls_of(renamed) or results_of(renamed)] == list(ids):
        return renamed, True
    queues: dict[int, deque[Any]] = {}
    for part, new in zip(parts, ids, strict=True):
        changed = part.native if part.id == new else _named(item.dialect, part, new)
        queues.setdefault(id(part.native), deque()).append(changed)
    return replace(item, message=_substitute(item.message, queues)), False


def _named(dialect: str, part: Part, new: str) -> dict[str, Any]:
    native = dict(part.native)
    if dialect == "openai_chat" and native.get("role") == "function":
        # The result of a call without an id: with one it is a tool's.
        native = {"role": "tool", **{k: native[k] for k in native if k not in ("role", "name")}}
    return {**native, _key(dialect, part): new}


def _key(dialect: str, part: Part) -> str:
    if dialect == "openai_responses":
        return "call_id"
    if dialect == "anthropic":
        return "id" if part.kind == "call" else "tool_use_id"
    return "id" if part.kind == "call" else "tool_call_id"


def _substitute(value: Any, queues: dict[int, deque[Any]]) -> Any:
    waiting = queues.get(id(value))
    if waiting:
        return waiting.popleft()
    if isinstance(value, Mapping):
        return {key: _substitute(inner, queues) for key, inner in value.items()}
    if isinstance(value, list):
        return [_substitute(inner, queues) for inner in value]
    return value
