"""The state of an agent as text. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cli.models_state import StateShowData
from cli.style import Style, heading, pad, plural, short
from eventlog.agent import Task
from projections.agent_state import AgentState
from projections.agent_state.state import Reply, SeenFile

_LABEL = 12
"""Columns of what a line is about."""

_MOST = 20
"""Lines of one kind; more are counted."""

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]", "dropped": "[-]"}


def render_state(data: StateShowData, style: Style) -> Iterator[str]:
    """One part a line, and what it is made of below it."""
    ref = "" if data.ref == "now" else f"@{data.ref}"
    yield style.paint(heading("state", data.key, style, ref), "bold")
    for label, value, below in _parts(data.state):
        room = style.width - _LABEL - 1
        yield f"{style.paint(pad(label, _LABEL), 'dim')} {style.line(value, room)}".rstrip()
        lines = list(below)
        for line in lines[:_MOST]:
            yield f"{' ' * _LABEL} {style.line(line, room)}"
        if len(lines) > _MOST:
            more = f"and {len(lines) - _MOST:,} more (--json has them)"
            yield f"{' ' * _LABEL} {style.paint(more, 'dim')}"


_Part = tuple[str, str, Iterable[str]]


def _parts(state: AgentState) -> Iterator[_Part]:
    yield "reply", _reply(state.reply), ()
    rules = state.permissions
    ruled = (("deny", rules.deny), ("ask", rules.ask), ("allow", rules.allow))
    lines = [f"{verdict} {rule}" for verdict, group in ruled for rule in group]
    yield "permissions", rules.mode, lines
    yield "tools", ", ".join(state.tools.groups) or "no group is active", ()
    files = state.tools.files
    if files:
        yield "files", f"{len(files):,} known", [_file(file) for file in reversed(files)]
    if state.tasks:
        left = sum(task.status in ("pending", "in_progress") for task in state.tasks)
        yield "tasks", f"{len(state.tasks):,}, {left:,} open", [_task(task) for task in state.tasks]
    if state.middleware:
        kept = [f"{name} {value.text}" for name, value in state.middleware.items()]
        yield "middleware", f"{len(kept):,}", kept
    if state.started_calls:
        calls = [
            f"{call.name} {call.tool_call_id}{'' if call.has_effects else ', without effects'}"
            for call in state.started_calls
        ]
        yield "may have run", "began, and no result came", calls
    if state.summary:
        yield "summary", state.summary, ()
    yield "context", _context(state), ()


def _reply(reply: Reply) -> str:
    if not reply.reply_id:
        return "none"
    said = [
        "under way" if reply.is_under_way else "ended",
        plural(reply.iteration, "call"),
        "with a schema" if reply.output_schema is not None else "",
        "output produced" if reply.has_output else "",
    ]
    return f"{reply.reply_id}: {', '.join(filter(None, said))}"


def _file(file: SeenFile) -> str:
    part = "" if file.is_whole else ", in part"
    return f"{file.how} {file.path} {short(max(file.size, 0))} bytes{part}"


def _task(task: Task) -> str:
    note = f" ({task.note})" if task.note else ""
    return f"{_MARKS[task.status]} {task.title}{note}"


def _context(state: AgentState) -> str:
    if not state.context:
        return "no message"
    counts = Counter(message.source for message in state.context)
    said = ", ".join(f"{count:,} {source}" for source, count in counts.items())
    return f"{plural(len(state.context), 'message')}: {said}"
