"""What is said when a chat begins: which session this is, and where it stands."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cli.chat.chat import Chat
from cli.chat.looking import counted
from cli.safetext import display_width
from cli.saying import preview
from cli.style import Style, plural, tokens
from cli.underway import told_open
from eventlog import StreamKey
from projections import Live
from projections.session_rows import row_of
from projections.sessions import session_query


def title_of(live: Live, key: StreamKey) -> str:
    """The title of a session, or how it begins."""
    row = row_of(session_query(live), str(key))
    return row.title if row is not None else ""


def greeting(chat: Chat) -> Iterator[str]:
    """The lines over the first prompt."""
    place, of, style = chat.place, chat.conversation, chat.out.style
    name = style.line(place.key.session, 60)
    if place.forked_from is not None:
        told = f"{place.forked_from} is another program's session: this is its fork {name}"
        yield from textwrap.wrap(style.line(told, 8 * style.width), style.width)
    elif place.is_new:
        yield style.paint(f"new session {name}", "bold")
    else:
        title = title_of(chat.live, place.key)
        told = f"{name}" + (f" · {title}" if title else "")
        yield style.paint(style.line(told, style.width), "bold")
    tools = [name for name in of.tools.groups if name in of.state.tools.groups]
    before = chat.before
    about = [f"{chat.model.endpoint.model} at {chat.model.endpoint.url}", before.about_model()]
    if not place.is_new:
        about.append(f"{plural(of.charge.turns, 'turn')}, {tokens(of.tokens)}")
    about.append(counted(of.state.tasks))
    about.append(said_again(chat))
    if chat.remembers:
        about.append("with memory")
    if tools:
        about.append(f"{', '.join(tools)} in {chat.asked.folder().resolve()}")
    for line in together(list(filter(None, about)), style):
        yield style.paint(line, "dim")
    if before.strategy:
        told = f"strategy as before: {before.strategy}"
        yield style.paint(style.line(told, style.width), "dim")
    if before.fault:
        told = style.line(f"! {before.fault}", 4 * style.width)
        for line in textwrap.wrap(told, style.width, subsequent_indent="  "):
            yield style.paint(line, "yellow")
    for line in allowed(chat):
        yield style.paint(style.line(f"! {line}", style.width), "yellow")
    yield from _missing(chat, style)
    if not place.is_new:
        yield from _last(chat, style)
    yield style.paint(style.translated("/help lists the commands · Ctrl-D leaves"), "dim")


def said_again(chat: Chat) -> str:
    """That the session was of another dialect; empty where it was not."""
    count = chat.conversation.translated
    return f"{plural(count, 'item')} said again for OpenAI's chat" if count else ""


def together(parts: Sequence[str], style: Style) -> Iterator[str]:
    """The parts with a dot between them, in as many lines as it takes; none is broken."""
    line = ""
    for part in parts:
        told = style.line(part, style.width)
        if line and display_width(line) + display_width(told) + 3 > style.width:
            yield line
            line = ""
        line += style.translated(f" · {told}" if line else told)
    if line:
        yield line


def allowed(chat: Chat) -> Iterator[str]:
    """What runs without a question: a session keeps its rules, whoever gave them to it."""
    of = chat.conversation
    permissions = of.state.permissions
    if not any(name in of.state.tools.groups for name in of.tools.groups):
        return
    if permissions.mode == "allow":
        yield "nothing is asked: every tool may run (--permissions ask)"
    elif permissions.allow:
        yield f"allowed without asking: {', '.join(permissions.allow)}"


def _missing(chat: Chat, style: Style) -> Iterator[str]:
    """The tools that it had, and does not have here."""
    of = chat.conversation
    missing = [name for name in of.state.tools.groups if name not in of.tools.groups]
    if missing:
        told = f"it had the tools {', '.join(missing)}: --tools {','.join(missing)} gives them back"
        yield style.paint(style.line(told, style.width), "dim")


def _last(chat: Chat, style: Style) -> Iterator[str]:
    """What was said last, so that one knows where one is."""
    items = chat.conversation.items()
    human = next((item for item in reversed(items) if item.is_human), None)
    answer = next((item for item in reversed(items) if item.source == "model"), None)
    if human is not None:
        yield style.paint(style.line(f"  you: {preview(human)}", style.width), "dim")
    if answer is not None and (human is None or _place(answer.id) > _place(human.id)):
        yield style.paint(style.line(f"  it:  {preview(answer)}", style.width), "dim")
    if chat.conversation.is_waiting():
        told = "its last answer was cut off: /continue lets it go on"
        if elsewhere := told_open(chat.live, chat.conversation.key):
            told = f"{elsewhere}; /continue asks the model again"
        for line in textwrap.wrap(f"! {told}", style.width, subsequent_indent="  "):
            yield style.paint(style.translated(line), "yellow")


def _place(name: str) -> float:
    return float(name)
