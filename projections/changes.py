"""One entry of a request against one item: alike, or what event lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def change(item: Item, entry: RequestEntry, *, in_place: bool = False) -> Event | None:
    """The event that makes the item what the request holds at its place, if it is the same item.

    ``in_place``: between the same neighbours as many items stand in the request, and this one is at
    the item's place. What has no call id is known by that alone.
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
    if in_place and item.label == OBSERVATION:
        text = messages.text(item.dialect, entry.message)
        return _other_content(item, entry, item.text, text)
    return None


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
    """The same result with other content: a text in its place, or another message."""
    replaced = messages.with_content(item.dialect, item.message, text)
    if forms.key(replaced) != forms.key(entry.message):
        return events.MessageRevised(item=item.id, message=Json(dict(entry.message)), inferred=True)
    kept = len(text) > 40 and before[:20] == text[:20]
    return events.PlaceholderSubstituted(
        item=item.id, content=text, kind="cut" if kept else "cleared", inferred=True
    )


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
