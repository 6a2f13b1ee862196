"""How a conversation begins in the log, or is taken up again."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from eventlog.errors import InputRefused
from eventlog.events import (
    Event,
    MessageAppended,
    MessageRevised,
    PermissionsSet,
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

AGENT = "chat"
"""In the keys of conversations that are named by a session id alone."""


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
    system: str | None,
    permissions: PermissionsSet | None,
    default: PermissionsSet,
    groups: Sequence[str] | None,
    every_group: Sequence[str],
) -> None:
    """Append what begins the session, or what takes it up again: one append.

    A new session has the ``default`` permissions and ``every_group`` of tools unless others are
    given; one that is taken up keeps what it has.

    Raises InputRefused for a session that another program writes, WrongExpectedVersion where
    another process was faster, and what an append raises.
    """
    if not live.log.exists(key):
        opening: list[Event] = [SessionStarted()]
        if system is not None:
            opening.append(system_prompt(system))
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
        events += prompted(live, key, system)
    live.append(key, *events, expected_version=version)


def prompted(live: Live, key: StreamKey, system: str) -> list[Event]:
    """What makes a text the system prompt of the session; nothing where it is already."""
    first = next(iter(live.items(key)), None)
    wanted = system_prompt(system)
    if first is None or first.role not in SYSTEM_ROLES:
        return [wanted.model_copy(update={"after": "0"})]
    if dict(first.message) == wanted.message.value:
        return []
    return [MessageRevised(item=first.id, message=wanted.message, reason="another system prompt")]


def system_prompt(text: str) -> MessageAppended:
    """A system prompt as it comes in."""
    return MessageAppended(
        dialect="openai_chat",
        source="injected",
        label="system-prompt",
        message=Json({"role": "system", "content": text}),
    )
