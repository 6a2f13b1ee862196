"""The system prompt of a session of our own: how it comes in, and how another takes its place."""

from __future__ import annotations

import os

from eventlog.errors import InputRefused
from eventlog.events import (
    ContextCompacted,
    Event,
    MessageAppended,
    MessageRevised,
    PromptRendered,
)
from eventlog.jsonvalue import Json
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import StreamKey
from eventlog.values import DecidedBy
from projections.live import Live
from projections.prompts.template import Rendered, rendered_event
from projections.runs import FRONT

LABEL = "system-prompt"
"""Of the message that a session begins with."""


def prompted(live: Live, key: StreamKey, system: str | Rendered, position: int) -> list[Event]:
    """What makes a text the system prompt of the session; nothing where it is already.

    ``position`` is that of the first of the events. Of a rendered template it is told which one it
    was, also where its text is the same as before. One whose text was erased leaves, and another
    message takes its place: what revised it would be shown as erased, too.
    """
    items = live.items(key)
    first = next((item for item in items if item.source != "memory"), None)
    if first is None or first.role not in SYSTEM_ROLES:
        after = FRONT if items else None
        event = system_prompt(system).model_copy(update={"after": after})
        return [event, *told_of(system, str(position))]
    if first.form == "redacted":
        gone = ContextCompacted(covered=(first.id,), by=DecidedBy(name=LABEL), trigger="erased")
        event = system_prompt(system).model_copy(update={"after": FRONT})
        return [gone, event, *told_of(system, str(position + 1))]
    text = text_of(system)
    if first.message.get("content") != text:
        patch = Json({"content": text})
        revised = MessageRevised(item=first.id, patch=patch, reason="another system prompt")
        return [revised, *told_of(system, first.id)]
    if isinstance(system, Rendered) and not _is_told(live, key, first.id, system):
        return told_of(system, first.id)
    return []


def system_prompt(system: str | Rendered) -> MessageAppended:
    """A system prompt as it comes in. Raises InputRefused where it says nothing, PromptMissing for
    a template without one."""
    return MessageAppended(
        dialect="openai_chat",
        source="injected",
        label=LABEL,
        message=Json({"role": "system", "content": text_of(system)}),
    )


def text_of(system: str | Rendered) -> str:
    """What it says. Raises as ``system_prompt`` does."""
    text = system if isinstance(system, str) else system.system_prompt
    if not text.strip():
        raise InputRefused("a system prompt says something")
    return text


def told_of(system: str | Rendered, item: str) -> list[Event]:
    """From which template a text came; nothing where it came from none."""
    if isinstance(system, str):
        return []
    return [rendered_event(system, item, salt=os.urandom(16))]


def _is_told(live: Live, key: StreamKey, item: str, rendered: Rendered) -> bool:
    """Whether the log says already that the item is this template, with these values."""
    told = [e.event for e in live.log.read(key, types=["prompt_rendered"])]
    last = next((e for e in reversed(told) if _is_of(e, item)), None)
    wanted = rendered_event(rendered, item, salt=b"")
    return isinstance(last, PromptRendered) and all(
        getattr(last, name) == getattr(wanted, name)
        for name in ("template", "role", "version", "template_text", "variables")
    )


def _is_of(event: object, item: str) -> bool:
    return isinstance(event, PromptRendered) and event.item == item
