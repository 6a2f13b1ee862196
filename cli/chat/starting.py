"""Beginning a chat: on a terminal, over a pipe, or for one message."""

from __future__ import annotations

import contextlib
import sys

from cli.chat.asked import Asked
from cli.chat.chat import Chat
from cli.chat.lines import MORE, Lines, PipedLines, TypedLines
from cli.chat.loop import converse, take
from cli.chat.places import place_of
from cli.chat.remembered import as_before
from cli.chat.resumed import allowed, greeting, said_again
from cli.chat.slash import complete
from cli.chat.telling import FAULT
from cli.naming import session_key
from cli.output import Output
from cli.paths import current_program
from eventlog.errors import CtxlogError
from projections import Live


def start(
    live: Live, out: Output, asked: Asked, once: str | None = None, *, go_on: bool = False
) -> int:
    """Run a chat to its end, say one thing, or only let the model go on; the exit code.

    Raises what cannot be told to a person, and StreamNotFound where there is nothing to go on with.
    """
    if go_on:
        session_key(live, asked.session or "")
    asked, before = as_before(live, asked)
    model = asked.named_model()
    is_typed = once is None and not go_on and not out.as_json and out.is_terminal and _is_terminal()
    lines: Lines = TypedLines(out.style.translated(MORE)) if is_typed else PipedLines()
    chat = Chat(live, out, asked, lines, model, before)
    chat.open(place_of(live, asked.session))
    try:
        _begin(chat)
        chat.warn_of_rules((*asked.rules.allow, *asked.rules.deny))
        if once is None and not go_on:
            return converse(chat)
        take(chat, once if once is not None else "/continue")
        return chat.code
    finally:
        with contextlib.suppress(CtxlogError):  # what went wrong before is what is told
            chat.leave()
        if is_typed and chat.was_used():
            chat.note(f"{current_program()} chat {chat.name} goes on with it")


def _begin(chat: Chat) -> None:
    """Say which session this is, and what it is allowed."""
    lines, place = chat.lines, chat.place
    if isinstance(lines, TypedLines):
        lines.completed_by(lambda begun: complete(chat, begun))
        for item in chat.conversation.items():
            if item.is_human:
                lines.said(item.text)
        chat.out.write("\n".join(greeting(chat)))
        return
    if chat.out.as_json:
        chat.began()
    elif place.is_new and not place.is_named:
        chat.note(f"new session {place.key.session}")
    elif place.forked_from is not None:
        chat.note(f"{place.forked_from} was forked first: this is {place.key}")
    if told := said_again(chat):
        chat.note(told)
    if chat.set_aside:
        chat.note(chat.set_aside, sign=FAULT)  # with -q, too
    for line in (*chat.before.notes(), *allowed(chat)):
        chat.note(line)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
