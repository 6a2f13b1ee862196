"""What a session that is taken up again keeps of its agent's state, and what it does not.

A state that comes back whole can still be wrong: an answer that was cut off leaves its JSON schema,
its half-made output and its count of calls behind, and the next answer would be held to them. So
each part of the state stands here with what a resume does to it, and a part that is not named
cannot be added.

The fold applies this table to every ``SessionResumed``, whatever the event says; ``cleared`` and
``kept`` there tell a reader what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from eventlog.events import SessionResumed
from projections.agent_state.state import AgentState

Fate = Literal["cleared", "kept"]

RULES: Mapping[str, Fate] = {
    "reply.reply_id": "kept",
    "reply.iteration": "cleared",
    "reply.output_schema": "cleared",
    "reply.has_output": "cleared",
    "reply.output_value": "cleared",
    "reply.is_under_way": "cleared",
    "permissions.mode": "kept",
    "permissions.allow": "kept",
    "permissions.deny": "kept",
    "permissions.ask": "kept",
    "tools.groups": "kept",
    "tools.files": "kept",
    "tasks": "kept",
    "middleware": "kept",
    "started_calls": "kept",
}
"""Each part of a state that events set, and what becomes of it. The context is the view's."""


def at_rest(state: AgentState, rules: Mapping[str, Fate] = RULES) -> AgentState:
    """The state after a resume."""
    fresh = AgentState()
    changed: dict[str, Any] = {}
    for name, fate in rules.items():
        if fate == "kept":
            continue
        part, _, field = name.partition(".")
        value = getattr(fresh, part)
        if field:
            held = changed.get(part, getattr(state, part))
            value = held.model_copy(update={field: getattr(value, field)})
        changed[part] = value
    return state.model_copy(update=changed)


def resumption(state: AgentState, rules: Mapping[str, Fate] = RULES) -> SessionResumed:
    """The event with which a session in that state is taken up again.

    It names what was there: ``reply.iteration: 3``, ``tools.groups: files, shell``. What was
    nothing is not named.
    """
    found = {name: said for name, tell in _TELLING.items() if (said := tell(state)) is not None}
    named = {name: f"{name}: {said}" if said else name for name, said in found.items()}
    return SessionResumed(
        cleared=tuple(line for name, line in named.items() if rules[name] == "cleared"),
        kept=tuple(line for name, line in named.items() if rules[name] == "kept"),
    )


_NAMED = 8
"""Names that are told; more are counted."""
_LONGEST = 80
"""Characters of one that are told."""


def _names(names: Sequence[str]) -> str | None:
    if not names:
        return None
    told = ", ".join(name[:_LONGEST] for name in names[:_NAMED])
    return told + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _count(things: Sequence[object]) -> str | None:
    return str(len(things)) if things else None


def _tasks(state: AgentState) -> str | None:
    if not state.tasks:
        return None
    open_tasks = sum(task.status in ("pending", "in_progress") for task in state.tasks)
    return f"{len(state.tasks)}, {open_tasks} open"


_TELLING: Mapping[str, Callable[[AgentState], str | None]] = {
    "reply.output_schema": lambda s: None if s.reply.output_schema is None else "",
    "reply.output_value": lambda s: "" if s.reply.has_output else None,
    "reply.iteration": lambda s: str(s.reply.iteration) if s.reply.iteration else None,
    "reply.is_under_way": lambda s: s.reply.reply_id if s.reply.is_under_way else None,
    "permissions.mode": lambda s: s.permissions.mode,
    "permissions.allow": lambda s: _count(s.permissions.allow),
    "permissions.deny": lambda s: _count(s.permissions.deny),
    "permissions.ask": lambda s: _count(s.permissions.ask),
    "tools.groups": lambda s: _names(s.tools.groups),
    "tools.files": lambda s: _count(s.tools.files),
    "tasks": _tasks,
    "middleware": lambda s: _names(list(s.middleware)),
    "started_calls": lambda s: _names([call.name for call in s.started_calls]),
}
