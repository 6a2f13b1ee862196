"""Whether a tool call may run: by the rules, by a person, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from eventlog.errors import EventInvalid
from eventlog.events import PermissionDecided
from eventlog.jsonvalue import loads
from eventlog.messages import Call
from harness.tools.attempt import ToolOutcome
from harness.tools.permissions import Judgement, judge
from harness.tools.running import refused
from harness.tools.tool import Tool

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

STARTED = "it was started before, and nobody knows what it did then"
"""Why a person is asked about a call that the rules allow."""

UNKNOWN = "its process ended while it ran, so nobody knows what it did; it was not run again"
DENIED = "not run: it was not allowed"
NOBODY = "not run: it needs to be allowed, and there is nobody to ask"


def permitted(of: Conversation, call: Call) -> Tool | ToolOutcome:
    """The tool that is to run, or what came of the call instead. Who decided is recorded."""
    groups = of.state.tools.groups
    found = of.tools.find(call.name, groups)
    if found is None:
        return refused(call.id, call.name, of.tools.missing(call.name, groups))
    arguments = _arguments(call.arguments)
    judgement = judge(of.state.permissions, found, arguments)
    again = found.has_effects and of.was_started(call)
    if judgement.verdict == "allowed" and again:
        judgement = Judgement("ask", STARTED)
    allowed, by = judgement.verdict == "allowed", judgement.by
    if judgement.verdict == "ask":
        allowed = of.approve is not None and of.approve(found, arguments, judgement)
        by = "human" if of.approve is not None else "nobody to ask"
    if judgement.verdict != "allowed":
        verdict: Literal["allowed", "denied"] = "allowed" if allowed else "denied"
        of.append(PermissionDecided(tool_call_id=call.id, name=call.name, verdict=verdict, by=by))
    if allowed:
        return found
    if again:
        return refused(call.id, call.name, UNKNOWN)
    if by == "human":
        return refused(call.id, call.name, DENIED)
    told = NOBODY if judgement.verdict == "ask" else f"{DENIED} ({by})"
    return refused(call.id, call.name, told)


def _arguments(text: str) -> Mapping[str, Any]:
    """As far as they can be read; what cannot is told to the model when the tool would run."""
    try:
        value = loads(text or "{}")
    except EventInvalid:
        return {}
    return value if isinstance(value, dict) else {}
