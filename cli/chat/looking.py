"""The commands of a chat that only look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.chat.chat import Chat
from cli.chat.slash import nothing_behind
from cli.style import Style, pad, pad_left, plural
from eventlog.agent import Task
from projections.references import place_in

_NEWEST = 10
"""Sessions that are listed."""

_FIRST, _LAST = 10, 50
"""Items of a context that are listed; of more, these."""

_SIGNS = {"pending": "○", "in_progress": "▸", "done": "✓", "dropped": "–"}
_STATUS = {"pending": "to do", "in_progress": "in progress", "done": "done", "dropped": "dropped"}


def context(chat: Chat, text: str) -> None:
    """``/context``"""
    from cli.chat.bar import render_bar
    from cli.render_show import render_context
    from cli.windows import context_at

    nothing_behind(text, "context")
    of, style = chat.conversation, chat.out.style
    data = context_at(chat.live, place_in(chat.live, of.key, None))
    if not data.items:
        chat.note("the context is empty: nothing was said yet")
        return
    head, _, *rows = render_context(data, style)  # that it is folded needs no saying here
    if len(rows) > _FIRST + _LAST:
        left = f"   … {len(rows) - _FIRST - _LAST:,} more: ctxlog show {chat.name} --context"
        rows = [*rows[:_FIRST], style.line(left, style.width), *rows[-_LAST:]]
    chat.tell([head, *rows, *render_bar(data.items, chat.window, style)], "context")


def tasks(chat: Chat, text: str) -> None:
    """``/tasks``"""
    nothing_behind(text, "tasks")
    found = chat.conversation.state.tasks
    if not found:
        chat.note("no tasks: the model plans them where there is much to do")
        return
    chat.tell(render_tasks(found, chat.out.style), "tasks")


def render_tasks(found: Sequence[Task], style: Style) -> Iterator[str]:
    """A line a task."""
    size = max(len(task.id) for task in found)
    state = max(len(_STATUS[task.status]) for task in found)
    for task in found:
        sign = style.translated(_SIGNS[task.status])
        start = f" {sign} {pad_left(style.line(task.id, size), size)} "
        start += f"{pad(_STATUS[task.status], state)}  "
        told = task.title + (f" ({task.note})" if task.note else "")
        line = start + style.line(told, style.width - len(start))
        yield style.paint(line, "dim") if task.status in ("done", "dropped") else line


def counted(found: Sequence[Task]) -> str:
    """``3 tasks, 1 done``; empty where there is none."""
    standing = [task for task in found if task.status != "dropped"]
    done = sum(task.status == "done" for task in standing)
    return f"{plural(len(standing), 'task')}, {done} done" if standing else ""


def cost(chat: Chat, text: str) -> None:
    """``/cost``"""
    from cli.chat.spent import READ, render_spent, spent
    from cli.config import config
    from cli.prices import priced
    from harness.prices import model_prices

    nothing_behind(text, "cost")
    info = chat.live.log.stream(chat.conversation.key)
    # What a fork has of its parent was paid for there.
    rows = spent(chat.live.log.read(info.key, info.base, types=READ))
    own = priced(config())
    tables = {
        row.model: own[row.model]
        if row.model in own
        else model_prices(row.model, [when for when, _ in row.each])
        for row in rows
    }
    chat.tell(render_spent(rows, tables, chat.out.style), "cost")


def sessions(chat: Chat, text: str) -> None:
    """``/sessions``"""
    from cli.naming import short_names
    from cli.render_sessions import render_sessions
    from projections.session_rows import count
    from projections.sessions import listed, session_query

    nothing_behind(text, "sessions")
    rows = listed(chat.live, limit=_NEWEST, tests=False)
    names = short_names(chat.live, [row.key for row in rows])
    chat.tell(render_sessions(rows, chat.out.style, names), "sessions")
    total = count(session_query(chat.live), tests=False)
    if total > len(rows):
        chat.note(f"the newest {len(rows)} of {total:,}: ctxlog sessions lists them all")
