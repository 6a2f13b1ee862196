"""A context of another provider's dialect, said again in the one that is asked.

A session that was recorded or imported in Anthropic's messages, say, is gone on with here in
OpenAI's chat. The request would differ from every item, and what no decision says would be read off
it as decisions. So it is said first: one compaction takes the items out, and they come in again as
they will be sent, each with its speaker. The originals stay in the log, as always.
"""

from __future__ import annotations

from typing import get_args

from eventlog.errors import InputRefused
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    Event,
    ItemPinned,
    MessageAppended,
    Source,
    ToolResultRecorded,
)
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from eventlog.recorded import RecordedEvent, StreamKey
from harness.conversation.standing_memories import StandingMemories
from projections import Live, runs
from projections.dialects import openai_chat
from projections.items import Item
from projections.legality import sendable

TRIGGER = "dialect"
"""Of the compaction that takes the originals out."""

_DIALECT: Dialect = "openai_chat"
_BY = DecidedBy(name="translation", parameters=Json({"to": _DIALECT}))
_SOURCES = get_args(Source)


def check_undoable(event: RecordedEvent) -> None:
    """Raise InputRefused for a translation: what it took out stands there already, said again."""
    if is_translation(event):
        raise InputRefused(
            f"event {event.position} of {event.stream} says another dialect again: rewind to "
            "before it, or fork from there"
        )


def is_translation(event: RecordedEvent) -> bool:
    """Whether it is the compaction that took the originals out."""
    return event.type == "context_compacted" and event.data.get("trigger") == TRIGGER


def translated(live: Live, key: StreamKey, position: int) -> list[Event]:
    """What makes the context one of OpenAI's chat; nothing where it is. ``position`` is that of the
    first of the events."""
    items = live.items(key)
    if all(item.dialect == _DIALECT for item in items):
        return []
    standing = [(runs.origin(item.id), 0) for item in items]
    events: list[Event] = [
        ContextCompacted(covered=tuple(runs.encode(standing, [])), by=_BY, trigger=TRIGGER)
    ]
    behind: list[Event] = []
    shown = {each.item.id: each.told for each in StandingMemories(live, key).among(items, position)}
    for message, item in openai_chat.attributed(sendable(items).items):
        again = str(position + len(events))
        if item.pinned:
            behind.append(ItemPinned(item=again, reason="it was pinned before"))
        if item.id in shown:
            told = {"item": again, "is_renewed": True}
            behind.append(shown[item.id].model_copy(update=told))
        events.append(_again(dict(message), item))
    return [*events, *behind]


def _again(message: dict[str, object], item: Item) -> Event:
    call = message.get("tool_call_id")
    if message.get("role") == "tool" and isinstance(call, str):
        return ToolResultRecorded(
            tool_call_id=call,
            name=item.tool_name,
            dialect=_DIALECT,
            is_error=item.is_error,
            native=Json(message),
        )
    source: Source = item.source if item.source in _SOURCES else "injected"  # type: ignore[assignment]
    return MessageAppended(dialect=_DIALECT, source=source, label=item.label, message=Json(message))
