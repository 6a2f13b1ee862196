"""The cache marks of a request of Anthropic, of which it may have four.

Source: Anthropic Messages API, its page on prompt caching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CACHE_MARKS = 4


def within_marks(request: dict[str, Any]) -> dict[str, Any]:
    """The request with no more than four cache marks: the latest ones."""
    excess = _count(request) - _CACHE_MARKS
    if excess <= 0:
        return request
    changed = dict(request)
    messages = []
    for message in request["messages"]:
        blocks, excess = _unmarked(message["content"], excess)
        messages.append({**message, "content": blocks})
    changed["messages"] = messages
    for field in ("system", "tools"):
        if field in changed:
            changed[field], excess = _unmarked(changed[field], excess)
    return changed


def _count(request: Mapping[str, Any]) -> int:
    lists = [m["content"] for m in request["messages"]]
    lists += [request.get("system"), request.get("tools")]
    return sum(_marks(blocks) for blocks in lists)


def _marks(blocks: Any) -> int:
    if not isinstance(blocks, list):
        return 0
    dicts = [block for block in blocks if isinstance(block, Mapping)]
    return sum((b.get("cache_control") is not None) + _marks(b.get("content")) for b in dicts)


def _unmarked(blocks: Any, excess: int) -> tuple[Any, int]:
    if not isinstance(blocks, list) or excess <= 0:
        return blocks, excess
    found: list[Any] = []
    for block in blocks:
        changed = block
        if isinstance(block, Mapping) and excess > 0:
            inner, excess = _unmarked(block.get("content"), excess)
            changed = {**block, "content": inner} if isinstance(inner, list) else dict(block)
            if excess > 0 and changed.get("cache_control") is not None:
                del changed["cache_control"]
                excess -= 1
        found.append(changed)
    return found, excess
