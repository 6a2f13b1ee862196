"""How a conversation begins in the log, or is taken up again."""

from __future__ import annotations

from collections.abc import Sequence

from eventlog.errors import InputRefused
from eventlog.events import (
    Event,
    PermissionsSet,
    SessionStarted,
    ToolGroupsSet,
)
from eventlog.recorded import StreamKey
from harness.agent_sessions import short_id
from harness.recording.sessions import session_key
from harness.system_prompts import prompted, system_prompt, told_of
from projections import Live
from projections.agent_state import agent_state, resumption
from projections.memory.stream import check_session
from projections.ownership import is_observed
from projections.prompts.template import Rendered
from projections.purging import is_purged
from projections.session_rows import row_of
from projections.sessions import session_query

AGENT = "chat"
"""In the keys of conversations that are named by a session id alone."""


Parent = tuple[StreamKey, str]
"""The session that started a sub-agent, and the id of the tool call there that did."""


def key_of(session: StreamKey | str | None) -> StreamKey:
    """The key of a conversation: as it is, ``user/agent/session``, a name, or a new one.

    Raises InputRefused, EventInvalid.
    """
    if session is None:
        return StreamKey("local", AGENT, short_id())
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

    Raises InputRefused for a session that another program writes, and for a stream in which none
    is held (what is remembered of a person), WrongExpectedVersion where
    another process was faster, and what an append raises.
    """
    check_session(key)
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
    if is_purged(live.log, key):
        raise InputRefused(f"{key} was purged: nothing is left to go on with")
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


def check_stands(live: Live, key: StreamKey) -> None:
    """Raise InputRefused for a deleted session: nobody would see what is said there."""
    row = row_of(session_query(live), str(key))
    if row is not None and row.is_deleted:
        raise InputRefused(
            f"{key} was deleted meanwhile: `ctxlog resume` brings it back, or begin another one"
        )
