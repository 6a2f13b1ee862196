"""A real request, split into the entries that can be items, and put together again.

An entry holds the native message (or the native tool result) of one item. Where a provider sends
several items as one message (Anthropic's tool results), they share a group, so that the request can
be rebuilt to the last key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from eventlog.errors import InputRefused


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """One item-like piece of a request."""

    kind: Literal["system", "message", "tool_result"]
    role: str
    """system, developer, user, assistant or tool, as an item's role."""
    message: Mapping[str, Any]
    """The native message, or of a tool result the native block, item or ``tool`` message."""
    place: str = "messages"
    """The field of the request that it stands in."""
    group: int | None = None
    """The number of the message that it was sent in, when that message holds several entries."""
    blocks: tuple[int, ...] = ()
    """In a group: at which places of that message's content its blocks stand."""
    frame: Mapping[str, Any] | None = None
    """In a group: the message without its content; null where that does not stand last."""

    def behind(self, messages: int) -> RequestEntry:
        """The entry of a request in which so many messages stand before its own."""
        if self.group is None or not messages:
            return self
        return replace(self, group=self.group + messages)


def message_list(request: Mapping[str, Any], field: str) -> Sequence[Mapping[str, Any]]:
    """The messages of a request; raises InputRefused when they are not a list of objects."""
    found = request.get(field)
    if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
        raise InputRefused(f"{field!r} of the request is not a list of messages")
    return found


def parameters_of(request: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Everything in a request that is neither a message nor a tool; ``tools: null`` is one."""
    without = {*fields, "tools"} if request.get("tools") is not None else {*fields}
    return {key: value for key, value in request.items() if key not in without}


def with_rest(
    fields: Mapping[str, Any],
    tools: Any,
    parameters: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The request of its messages, tools and parameters, as they are."""
    request = {**(parameters or {}), **fields}
    if tools is not None:
        request["tools"] = list(tools) if isinstance(tools, tuple) else tools
    return request
