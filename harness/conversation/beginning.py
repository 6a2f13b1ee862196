"""How a conversation begins in the log, or is taken up again."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence

from eventlog.errors import InputRefused
from eventlog.events import (
    Event,
    MessageAppended,
    MessageRevised,
    PermissionsSet,
    PromptRendered,
    SessionStarted,
    ToolGroupsSet,
)
from eventlog.jsonvalue import Json
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import StreamKey
from harness.recording.sessions import session_key
from projections import Live
from projections.agent_state import agent_state, resumption
from projections.ownership import is_observed
from projections.prompts.template import Rendered, rendered_event

AGENT = "chat"
"""In the keys of conversations that are named by a session id alone."""


Parent = tuple[StreamKey, str]
"""The session that started a sub-agent, and the id of the tool call there that did."""


def key_of(session: StreamKey | str | None) -> StreamKey:
    """The key of a conversation: as it is, ``user/agent/session``, a name, or a new one.

    Raises InputRefused, EventInvalid.
    """
    if session is None:
        return StreamKey("local", AGENT, uuid.uuid4().hex[:8])
    key = session_key(session)
    is_name = isinstance(session, str) and session.count("/") < 2
    return StreamKey(key.user, AGENT, key.session) if is_name else key


def begin(
    live: Live,
    key: StreamKey,
    *,
    system: str | Rendered | None,
    permissions: PermissionsSet | None,
    default: PermissionsSet,
    groups: Sequence[str] | None,
    every_group: Sequence[str],
    parent: Parent | None = None,
) -> None:
    """Append what begins the session, or what takes it up again: one append.

    A new session has the ``default`` permissions and ``every_group`` of tools unless others are
    given; one that is taken up keeps what it has. ``parent`` is who started a sub-agent's.

    Raises InputRefused for a session that another program writes, WrongExpectedVersion where
    another process was faster, and what an append raises.
    """
    if not live.log.exists(key):
        started, call = parent or ("", "")
        opening: list[Event] = [SessionStarted(parent_session=str(started), parent_call=call)]
        if system is not None:
            opening += [system_prompt(system), *told_of(system, "2")]
        opening.append(permissions or default)
        opening.append(ToolGroupsSet(groups=tuple(every_group if groups is None else groups)))
        live.append(key, *opening, expected_version=0)
        return
    if is_observed(live.log, key):
        raise InputRefused(f"{key} is written by another program: fork it, and go on with the fork")
    version = live.log.version(key)
    state = agent_state(live, key)
    events: list[Event] = [resumption(state)]
    if permissions is not None:
        now = PermissionsSet.model_validate(state.permissions.model_dump())
        events += [permissions] if permissions != now else []
    if groups is not None and tuple(groups) != state.tools.groups:
        events.append(ToolGroupsSet(groups=tuple(groups)))
    if system is not None:
        events += prompted(live, key, system, version + len(events) + 1)
    live.append(key, *events, expected_version=version)


def prompted(live: Live, key: StreamKey, system: str | Rendered, position: int) -> list[Event]:
    """What makes a text the system prompt of the session; nothing where it is already.

    ``position`` is that of the first of the events. Of a rendered template it is told which one it
    was, also where its text is the same as before.
    """
    first = next(iter(live.items(key)), None)
    wanted = system_prompt(system)
    if first is None or first.role not in SYSTEM_ROLES:
        event = wanted.model_copy(update={"after": "0"})
        return [event, *told_of(system, str(position))]
    if dict(first.message) != wanted.message.value:
        reason = "another system prompt"
        revised = MessageRevised(item=first.id, message=wanted.message, reason=reason)
        return [revised, *told_of(system, first.id)]
    if isinstance(system, Rendered) and not _is_told(live, key, first.id, system):
        return told_of(system, first.id)
    return []


def system_prompt(system: str | Rendered) -> MessageAppended:
    """A system prompt as it comes in. Raises PromptMissing for a template without one."""
    text = system if isinstance(system, str) else system.system_prompt
    return MessageAppended(
        dialect="openai_chat",
        source="injected",
        label="system-prompt",
        message=Json({"role": "system", "content": text}),
    )


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
