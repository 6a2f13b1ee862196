"""The list of tasks that the model keeps: three tools over the session's own state.

It is folded from events, so it stands again after a restart. The id of a task never changes and is
never another's: what is planned no longer stays in the list as dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from eventlog.agent import Task, TasksSet, TaskStatus
from harness.errors import ToolFailed
from harness.tools.context import Context
from harness.tools.tool import Tool, tool

MOST = 200
"""Tasks in the list: of more, the oldest that are done or dropped leave it."""
MOST_OPEN = 100
"""Tasks of one plan."""
MOST_CHARACTERS = 1_000
"""Of a title, and of a note."""
BY = "planner"

_SHOWN: dict[TaskStatus, str] = {
    "pending": "to do",
    "in_progress": "in progress",
    "done": "done",
    "dropped": "dropped",
}


def planner_tools() -> list[Tool]:
    """``plan``, ``update_task`` and ``list_tasks``: always there, never asked about."""
    return [
        tool(each, has_effects=False, in_order=True, needs_permission=False)
        for each in (plan, update_task, list_tasks)
    ]


def plan(
    tasks: Annotated[list[str], "the titles of all tasks that are to be done, in their order"],
    *,
    context: Context,
) -> str:
    """Set the list of tasks: titles that stand in it keep their id, status and note, others go."""
    titles = [_clean("a title", title) for title in tasks]
    if not all(titles):
        raise ToolFailed("a task needs a title")
    if len(titles) > MOST_OPEN:
        raise ToolFailed(f"these are {len(titles)} tasks: a plan has at most {MOST_OPEN}")
    if len(set(titles)) < len(titles):
        raise ToolFailed("two tasks have the same title")
    before = tuple(context.state.tasks)
    known = {task.title: task for task in before}
    number = _highest(before)
    after: list[Task] = []
    for title in titles:
        task = known.get(title)
        if task is None:
            number += 1
            task = Task(id=str(number), title=title)
        elif task.status == "dropped":
            task = task.model_copy(update={"status": "pending"})
        after.append(task)
    planned = set(titles)
    for task in before:
        if task.title not in planned:
            is_over = task.status in ("done", "dropped")
            after.append(task if is_over else task.model_copy(update={"status": "dropped"}))
    return _set(after, context)


def update_task(
    id: Annotated[str | int, "the id of the task, as the list shows it"],
    status: Annotated[TaskStatus, "how it stands now"],
    note: Annotated[str, "what is to be remembered about it; left out, its note stays"] = "",
    *,
    context: Context,
) -> str:
    """Set how a task of the list stands."""
    before = tuple(context.state.tasks)
    name = str(id).strip().removeprefix("#")
    if all(task.id != name for task in before):
        known = ", ".join(task.id for task in before) or "none: plan them first"
        raise ToolFailed(f"there is no task {name!r:.50}; there are: {known}")
    said = _clean("a note", note)
    return _set(
        [
            task.model_copy(update={"status": status, "note": said or task.note})
            if task.id == name
            else task
            for task in before
        ],
        context,
    )


def list_tasks(*, context: Context) -> str:
    """Show the list of tasks."""
    return shown(context.state.tasks)


def shown(tasks: Sequence[Task]) -> str:
    """The list, one line a task: ``2 [in progress] write the parser (note: half is there)``."""
    if not tasks:
        return "there are no tasks"
    return "\n".join(
        f"{task.id} [{_SHOWN[task.status]}] {task.title}"
        + (f" (note: {task.note})" if task.note else "")
        for task in tasks
    )


def _set(tasks: list[Task], context: Context) -> str:
    too_many = len(tasks) - MOST
    if too_many > 0:
        over = [task for task in tasks if task.status in ("done", "dropped")]
        leaving = {task.id for task in sorted(over, key=_number)[:too_many]}
        tasks = [task for task in tasks if task.id not in leaving]
    if tuple(tasks) != tuple(context.state.tasks):
        context.record(TasksSet(tasks=tuple(tasks), by=BY))
    return shown(tasks)


def _clean(what: str, text: str) -> str:
    line = " ".join(text.split())
    if len(line) > MOST_CHARACTERS:
        raise ToolFailed(
            f"{what} has {len(line):,} characters: at most {MOST_CHARACTERS:,} are kept"
        )
    return line


def _highest(tasks: Iterable[Task]) -> int:
    return max(map(_number, tasks), default=0)


def _number(task: Task) -> int:
    """The number of an id. One that another program gave may be no number."""
    return int(task.id) if task.id.isascii() and task.id.isdigit() and len(task.id) < 10 else 0
