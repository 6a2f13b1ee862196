"""What an item is to legality and to the dialects: who speaks, what it calls, what it answers.

An item is judged by its own message and never by a label beside it, so a message that was stored
with tool results inside it, or under a role that no provider knows, is read the same way
everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from eventlog import messages
from eventlog.messages import Part
from projections.items import Item

Role = Literal["system", "developer", "user", "assistant", "tool"]
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "assistant": "assistant",
}


def readable(item: Item) -> bool:
    """Whether the message is an object at all: a hostile record may hold a list or a number."""
    return isinstance(item.message, Mapping)


def role_of(item: Item) -> Role:
    """Who speaks: a tool where there are only results; under an unknown role, a user."""
    return item.once("_role", _role)


def _role(item: Item) -> Role:
    if item.parts and all(part.kind == "result" for part in item.parts):
        return "tool"
    if item.dialect == "openai_responses" and _is_model_output(item.message):
        return "assistant"
    role = messages.role(item.dialect, item.message)
    return _ROLES.get(role, "user")


def _is_model_output(native: Any) -> bool:
    kind = native.get("type")
    if not isinstance(kind, str):
        return "items" in native
    return kind.endswith("_call") or kind in ("reasoning", "mcp_list_tools", "mcp_approval_request")


def call_part(dialect: str, part: Part) -> Part | None:
    """The part as a call that must be answered, or None.

    Besides functions, OpenAI's Responses have calls such as ``computer_call`` that are answered by
    an output item with the same ``call_id``.
    """
    if part.kind == "call":
        return part
    native = part.native
    if dialect == "openai_responses" and part.kind == "other" and part.name.endswith("_call"):
        call_id = native.get("call_id")
        if isinstance(call_id, str):
            action = messages.shared_text(native.get("action", {}))
            return Part("call", action, id=call_id, name=part.name, native=native)
    return None


def calls_of(item: Item) -> tuple[Part, ...]:
    """The calls that the item makes; only a model makes calls."""
    return item.once("_calls", _calls)


def _calls(item: Item) -> tuple[Part, ...]:
    if role_of(item) != "assistant":
        return ()
    found = (call_part(item.dialect, part) for part in item.parts)
    return tuple(part for part in found if part is not None)


def results_of(item: Item) -> tuple[Part, ...]:
    """The results that the item carries."""
    return item.once("_results", _results)


def _results(item: Item) -> tuple[Part, ...]:
    return tuple(part for part in item.parts if part.kind == "result")


def is_system(item: Item) -> bool:
    """Whether it is a system or developer message."""
    return role_of(item) in ("system", "developer")


def says_something(item: Item, *, results: bool = True) -> bool:
    """Whether something of it stands in every dialect: text, not blank, a call, a result, media.

    Thinking alone is nothing: it is bound to what follows it. Without ``results``: whether it says
    something even where its results answer no call, and are left out.
    """
    return any(
        part.text.strip()
        if part.kind == "text"
        else part.kind in ("media", "other") or (results and part.kind == "result")
        for part in item.parts
    ) or bool(calls_of(item))


def only_thinks(item: Item) -> bool:
    """Whether it is reasoning and nothing else."""
    return any(part.kind == "thinking" for part in item.parts) and not says_something(item)


def binds_thinking(item: Item) -> bool:
    """Whether it carries thinking that a signature binds to its bytes.

    Gemini signs no thinking but the call that it led to, and gateways hand both on in the form of a
    chat message; one changed byte, or a lost signature, and the request is refused.
    """
    if any(part.kind == "thinking" and part.signed for part in item.parts):
        return True
    if not readable(item) or item.dialect == "openai_responses":
        return False
    held = [item.message.get(key) for key in ("tool_calls", "reasoning_details", "content")]
    blocks = [block for value in held if isinstance(value, list) for block in value]
    return any(_is_sealed(block, 3) for block in blocks if isinstance(block, Mapping))


_SEALS = frozenset({"signature", "thought_signature", "thoughtSignature"})
_EXTRAS = ("extra_content", "google", "provider_specific_fields")
"""Where OpenAI-compatible endpoints put what their format has no place for."""


def _is_sealed(block: Mapping[str, Any], depth: int) -> bool:
    if block.get("type") == "reasoning.encrypted" or any(block.get(key) for key in _SEALS):
        return True
    inner = [block.get(key) for key in _EXTRAS] if depth else []
    return any(_is_sealed(each, depth - 1) for each in inner if isinstance(each, Mapping))
