"""One entry of a request against one item: alike, or what event lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from eventlog import events, messages
from eventlog.events import Event
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect, Part
from projections import forms
from projections.dialects.entries import RequestEntry
from projections.items import OBSERVATION, Item
from projections.partial import is_echo


def entry_key(kind: str, message: Mapping[str, Any]) -> str:
    """Equal for an entry and an item that are alike."""
    return kind[0] + forms.key(message)


def entry_kind(entry: RequestEntry) -> str:
    """``tool_result`` or ``message``."""
    return "tool_result" if entry.kind == "tool_result" else "message"


def item_kind(item: Item) -> str:
    """``tool_result`` or ``message``."""
    return "tool_result" if item.kind == "tool_result" else "message"


def is_like(item: Item, entry: RequestEntry) -> bool:
    """Whether an entry is the item, or what a client sends back of it."""
    if entry_key(item_kind(item), item.message) == entry_key(entry_kind(entry), entry.message):
        return True
    return change(item, entry) is not None


def change(
    item: Item, entry: RequestEntry, *, in_place: bool = False, alone: bool = False
) -> Event | None:
    """The event that makes the item what the request holds at its place, if it is the same item.

    ``in_place``: between the same neighbours as many items stand in the request, and this one is at
    the item's place; ``alone``: nothing else is there. What has no call id is known by that, and by
    how much of its text is left.
    """
    if item.kind == "tool_result" and entry.kind == "tool_result":
        parts = messages.result_parts(item.dialect, entry.message)
        ids = tuple(part.id for part in parts if part.kind == "result")
        if ids != item.result_ids or not ids:
            return None
        return _other_content(item, entry, item.parts[0].text, parts[0].text)
    if item.kind == "tool_result" or entry.kind == "tool_result" or item.role != entry.role:
        return None
    if item.role in messages.SYSTEM_ROLES:
        return events.MessageRevised(item=item.id, message=Json(dict(entry.message)), inferred=True)
    calls = messages.calls(item.dialect, entry.message)
    same_calls = bool(calls) and tuple(call.id for call in calls) == item.call_ids
    if same_calls or _says_the_same(item, entry):
        return events.MessageRevised(item=item.id, message=Json(dict(entry.message)), inferred=True)
    if not in_place:
        return None
    text = messages.text(item.dialect, entry.message)
    if item.label == OBSERVATION or (not calls and shared(item.text, text) > len(text) / 2):
        return _other_content(item, entry, item.text, text)
    if not alone:
        return None
    return events.MessageRevised(item=item.id, message=Json(dict(entry.message)), inferred=True)


def _says_the_same(item: Item, entry: RequestEntry) -> bool:
    """Whether an answer differs in its thinking only, or in white space around its texts: clients
    leave both out when they send it back."""
    if entry.role != "assistant":
        return False
    said = _said(item.parts)
    return bool(said) and said == _said(messages.parts(item.dialect, entry.message))


def _said(parts: Sequence[Part]) -> list[tuple[str, str, str, str]]:
    return [
        (part.kind, part.text.strip(), part.id, part.name)
        for part in parts
        if part.kind != "thinking" and (part.kind != "text" or part.text.strip())
    ]


def _other_content(item: Item, entry: RequestEntry, before: str, text: str) -> Event:
    """The same result or message with other content: a text in its place, or another message."""
    replaced = messages.with_content(item.dialect, item.message, text)
    kept = shared(before, text)
    gone, brought = len(before) - kept, len(text) - kept
    is_result = item.kind == "tool_result" or item.label == OBSERVATION
    is_text = forms.key(replaced) == forms.key(entry.message)
    most = kept > len(text) / 2
    if is_text and (kept >= _KEPT or most) and gone > (brought if is_result else 2 * brought):
        kind: Literal["cut", "cleared"] = "cut"
    elif is_text and is_result and not most:
        kind = "cleared"
    else:
        return events.MessageRevised(item=item.id, message=Json(dict(entry.message)), inferred=True)
    return events.PlaceholderSubstituted(item=item.id, content=text, kind=kind, inferred=True)


_KEPT = 20
"""Characters of a text at either end of another one that are not there by chance."""


def shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their ends, each counted once."""
    front = _begins_alike(one, other)
    left = min(len(one), len(other)) - front
    return front + _begins_alike(one[::-1][:left], other[::-1][:left])


def is_alike(one: str, other: str, share: float = 0.5) -> bool:
    """Whether two texts are the same but for something in one place: more than a share is."""
    return one == other or shared(one, other) > share * max(len(one), len(other))


SAME_PROMPT = 0.8
"""How much of a system prompt stays while the time in it, or what is known by then, changes."""


def _begins_alike(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def new_item(
    dialect: Dialect, entry: RequestEntry, after: str | None, partial: Item | None = None
) -> Event:
    """The event that brings an entry in as a new item.

    ``partial``: what had come of the last answer, which did not come to its end.
    """
    if entry.kind == "tool_result":
        part = next(
            (p for p in messages.result_parts(dialect, entry.message) if p.kind == "result"), None
        )
        return events.ToolResultRecorded(
            tool_call_id=part.id if part else "",
            name=part.name if part else "",
            dialect=dialect,
            is_error=part.is_error if part else False,
            native=Json(dict(entry.message)),
            after=after,
        )
    source: events.Source = "injected"
    call: int | None = None
    if entry.role == "assistant":
        source = "model"
        if partial is not None and is_echo(partial, messages.parts(dialect, entry.message)):
            call = partial.call
    elif entry.role == "user":
        source = "human"
    return events.MessageAppended(
        dialect=dialect, source=source, call=call, message=Json(dict(entry.message)), after=after
    )
