"""The arguments of tool calls, emptied: the calls stay, with their names and ids.

A call whose arguments were dropped altogether would leave only narration, which a model imitates
(fast-jev-compaction#65). So the skeleton of the call stands, and its arguments are an object that
says where they are. Arguments are replaced whole and never sliced: they stay JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from typing import Any

from projections.items import Item


def emptied(item: Item, ids: Set[str]) -> dict[str, Any]:
    """A copy of the message in which the calls with these ids have no arguments any more."""
    note = {"cleared": f"the arguments are in item {item.id} of the log"}
    message = dict(item.message)
    key = {"anthropic": "content", "openai_responses": "items"}.get(item.dialect, "tool_calls")
    if item.dialect == "openai_responses" and key not in message:
        return _call(item.dialect, message, ids, note)
    blocks = message.get(key)
    if isinstance(blocks, list):
        message[key] = [
            _call(item.dialect, block, ids, note) if isinstance(block, Mapping) else block
            for block in blocks
        ]
    return message


def _call(
    dialect: str, block: Mapping[str, Any], ids: Set[str], note: Mapping[str, str]
) -> dict[str, Any]:
    changed = dict(block)
    if dialect == "anthropic":
        if block.get("type") == "tool_use" and block.get("id") in ids:
            changed["input"] = dict(note)
        return changed
    if dialect == "openai_responses":
        if block.get("type") == "function_call" and block.get("call_id") in ids:
            changed["arguments"] = json.dumps(note)
        return changed
    function = block.get("function")
    if block.get("id") in ids and isinstance(function, Mapping):
        changed["function"] = {**function, "arguments": json.dumps(note)}
    return changed
