"""A whole agent state as one JSON document, out of one session and into a new one.

    {"ctxlog_state": 1, "key": …, "title": …, "metadata": …, "state": {…}}

``state`` is ``AgentState`` at rest, as it would be resumed: whoever takes the document up is not in
the midst of an answer. A session that began with a document exports an equal one, apart from what
names a place in one session: ``key``, and in the state ``session_id``, ``position``,
``reply.reply_id`` and the ``item`` of each message.

A document holds what the state holds: no history, no tools that were declared, no prompts.

Whoever made a document may not say what runs here unasked: unless it is trusted, its rules that
allow are not taken over, and of its modes none that allows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, Literal

from pydantic import ValidationError

from eventlog import messages
from eventlog.errors import EventInvalid, InputRefused
from eventlog.events import (
    Event,
    FileSeen,
    ItemPinned,
    MessageAppended,
    MiddlewareStateSet,
    PermissionsSet,
    SessionStarted,
    TasksSet,
    ToolCallStarted,
    ToolGroupsSet,
    ToolResultRecorded,
)
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import Appended, StreamKey
from eventlog.values import JsonObject, Value
from harness.brought_in import BroughtIn, first_fault, json_of, origin_of, refused
from harness.message_files import DIALECT, read_messages, read_session
from harness.tools.permissions import check_rule
from projections.agent_state import AgentState, agent_state
from projections.agent_state.resuming import at_rest
from projections.agent_state.state import SUMMARY, ContextMessage, Permissions
from projections.live import Live

FORMAT: Final = 1
MARK = "ctxlog_state"
"""The key that tells a state from every other document."""


class StateDocument(Value):
    """What is exported."""

    ctxlog_state: Literal[1] = FORMAT
    key: str = ""
    """The session that it is of."""
    title: str = ""
    metadata: JsonObject | None = None
    state: AgentState


def export_state(live: Live, stream: StreamKey | str, at: int | None = None) -> dict[str, Any]:
    """The state of a session after position ``at``, or now, as a JSON document.

    Raises StreamNotFound, PositionNotFound, CriticalUnknown.
    """
    state = at_rest(agent_state(live, stream, at))
    key = live.log.stream(stream).key
    title, metadata = about(live, key, state.position)
    document = StateDocument(
        key=str(key),
        title=title,
        metadata=None if metadata is None else json_of(metadata, "metadata"),
        state=state,
    )
    found: dict[str, Any] = json.loads(json.dumps(document.model_dump()))
    return found


def about(live: Live, key: StreamKey, at: int) -> tuple[str, Any]:
    """The title that a session was given up to a position, and its metadata."""
    title, metadata = "", None
    for event in live.log.read(key, to=at, types=["session_started", "session_titled"]):
        title = event.data.get("title", "")
        if event.type == "session_started":
            metadata = event.data.get("metadata")
    return title, metadata


def read_document(value: Any, trust: bool = False) -> BroughtIn:
    """The session that a document begins: a state, messages, or messages with a session id. With
    ``trust`` its permissions hold as they are.

    Raises InputRefused for what is none of these, with the place of the first fault.
    """
    if isinstance(value, list):
        return read_messages(value)
    if isinstance(value, dict) and MARK in value:
        return read_state(value, trust)
    if isinstance(value, dict) and "messages" in value:
        return read_session(value)
    raise InputRefused(
        f'it is no state ("{MARK}": {FORMAT}), no list of messages, '
        'and no session ("session_id", "messages", "metadata")'
    )


def read_state(value: Any, trust: bool = False) -> BroughtIn:
    """The session that a state document begins; its permissions as they are only with ``trust``.

    Raises InputRefused.
    """
    if not isinstance(value, dict) or MARK not in value:
        raise InputRefused(f'it is no state: there is no "{MARK}" in it')
    if value[MARK] != FORMAT or isinstance(value[MARK], bool):
        told = str(value[MARK])[:40]
        raise InputRefused(f'"{MARK}" is {told}; this program reads {FORMAT}: upgrade ctxlog')
    try:
        document = StateDocument.model_validate(value)
    except ValidationError as error:
        raise refused(*first_fault(error)) from None
    except EventInvalid as error:
        raise refused("it", str(error)) from None
    try:
        key = StreamKey.parse(document.key) if document.key else None
    except EventInvalid as error:
        raise refused("key", str(error)) from None
    _check_rules(document.state.permissions)
    warnings: tuple[str, ...] = ()
    if not trust:
        held, warnings = _set_aside(document.state.permissions)
        state = document.state.model_copy(update={"permissions": held})
        document = document.model_copy(update={"state": state})
    events = tuple(_events(document))
    return BroughtIn("state", document.state.session_id, events, warnings, key)


def import_state(live: Live, document: Any, key: StreamKey | str, trust: bool = False) -> Appended:
    """Begin a new session with the state of a document, in one append.

    What it allows to run unasked is set aside; with ``trust`` its permissions hold as they are.
    Raises InputRefused for what is no state, and WrongExpectedVersion where the session exists.
    """
    return read_state(document, trust).append(live, key)


def _check_rules(permissions: Permissions) -> None:
    """Raise InputRefused for a rule that cannot be read, with its place."""
    for kind in ("allow", "deny", "ask"):
        for number, rule in enumerate(getattr(permissions, kind)):
            try:
                check_rule(rule)
            except InputRefused as error:
                raise refused(f"state.permissions.{kind}.{number}", str(error)) from None


def _set_aside(permissions: Permissions) -> tuple[Permissions, tuple[str, ...]]:
    """The permissions without what they allow unasked, and what is told of that."""
    told = []
    if permissions.mode == "allow":
        told.append("the mode allow")
    if permissions.allow:
        count = len(permissions.allow)
        told.append(f"{count:,} allow rule{'' if count == 1 else 's'}")
    if not told:
        return permissions, ()
    mode = "ask" if permissions.mode == "allow" else permissions.mode
    held = permissions.model_copy(update={"mode": mode, "allow": ()})
    were, them = (
        ("was", "it") if told in (["1 allow rule"], ["the mode allow"]) else ("were", "them")
    )
    what = " and ".join(told)
    return held, (f"{what} {were} not taken over: --trust-permissions takes {them}",)


def _events(document: StateDocument) -> Iterator[Event]:
    state = document.state
    yield SessionStarted(
        title=document.title,
        metadata=document.metadata,
        foreign_session_id=state.session_id,
    )
    context = _with_summary(state)
    for number, message in enumerate(context):
        event = _brought(message, f"state.context.{number}")
        yield event.model_copy(update={"origin": origin_of(number + 1)})
    for position, message in enumerate(context, 2):
        if message.is_pinned:
            yield ItemPinned(item=str(position))
    yield from _own(state)


def _with_summary(state: AgentState) -> list[ContextMessage]:
    """The context; a summary that is told and stands in no message of it, as one behind those of
    the system."""
    context = list(state.context)
    if state.summary and not any(message.is_summary for message in context):
        roles = [messages.role(m.dialect, m.message.peek) for m in context]
        place = next((n for n, role in enumerate(roles) if role not in SYSTEM_ROLES), len(roles))
        body = {"role": "user", "content": state.summary}
        new = {"item": "1", "dialect": context[0].dialect if context else DIALECT}
        summary = {**new, "source": "injected", "label": SUMMARY, "message": body}
        context.insert(place, ContextMessage.model_validate(summary))
    return context


def _brought(message: ContextMessage, where: str) -> Event:
    if message.source != "tool":
        return MessageAppended(
            dialect=message.dialect,
            source=message.source,
            label=message.label,
            message=message.message,
        )
    native = message.message.peek
    result = next(
        (p for p in messages.result_parts(message.dialect, native) if p.kind == "result"), None
    )
    if result is None:
        raise refused(where, "it says that a tool gave it, and is no tool result")
    return ToolResultRecorded(
        tool_call_id=result.id,
        name=message.name,
        dialect=message.dialect,
        is_error=message.is_error,
        native=message.message,
    )


def _own(state: AgentState) -> Iterator[Event]:
    """What is no message."""
    if state.permissions != Permissions():
        permissions = state.permissions
        yield PermissionsSet(
            mode=permissions.mode,
            allow=permissions.allow,
            deny=permissions.deny,
            ask=permissions.ask,
        )
    if state.tools.groups:
        yield ToolGroupsSet(groups=state.tools.groups)
    for file in state.tools.files:
        yield FileSeen(
            path=file.path,
            how=file.how,
            size=file.size,
            modified_ns=file.modified_ns,
            tool_call_id=file.tool_call_id,
            is_whole=file.is_whole,
        )
    if state.tasks:
        yield TasksSet(tasks=state.tasks)
    for name, kept in state.middleware.items():
        yield MiddlewareStateSet(name=name, state=kept)
    for call in state.started_calls:
        yield ToolCallStarted(
            tool_call_id=call.tool_call_id, name=call.name, has_effects=call.has_effects
        )
