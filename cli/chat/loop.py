"""Reading lines and doing what they say, until somebody leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from cli.chat.chat import Chat
from cli.chat.gauge import prompt_line
from cli.chat.slash import run_line
from cli.door import INTERRUPTED, exit_code, message
from eventlog.errors import CtxlogError, IntegrityFault, OutcomeUnknown, WrongExpectedVersion

LEAVING = "Ctrl-C again leaves, and so does Ctrl-D"


def converse(chat: Chat) -> int:
    """Go through the lines to their end; the exit code."""
    struck = False
    while not chat.is_left:
        chat.measure()
        begun, chat.begun = chat.begun, ""
        try:
            text = chat.lines.read(_prompt(chat), begun)
        except KeyboardInterrupt:
            if not chat.lines.is_interactive:
                return INTERRUPTED
            chat.out.write_piece("\n")
            if struck:
                break
            struck = True
            chat.note(LEAVING)
            continue
        struck = False
        if text is None:
            if chat.lines.is_interactive:
                chat.out.write_piece("\n")
            break
        if text.strip():
            with _placed(chat):
                take(chat, text)
            if chat.lines.is_interactive and not chat.is_left:
                chat.out.write_piece("\n")  # between two turns
        if not chat.lines.is_interactive and chat.code:
            if chat.lines.place and chat.code != INTERRUPTED:
                chat.note(f"stopped at {chat.lines.place}: nothing behind it was sent", sign="!")
            break  # what is said next would be said to nobody
    return 0 if chat.lines.is_interactive else chat.code


@contextlib.contextmanager
def _placed(chat: Chat) -> Iterator[None]:
    """What is raised says which line of a pipe it came of."""
    try:
        yield
    except CtxlogError as error:
        if chat.lines.place:
            error.add_note(f"this is {chat.lines.place}; nothing behind it was sent")
        raise


def take(chat: Chat, text: str) -> None:
    """Do what one line says. What goes wrong is told, and the chat goes on where a person is there
    to do something about it; else it is raised."""
    try:
        if text.startswith("/") and not text.startswith("//"):
            run_line(chat, text[1:])
        else:
            chat.say(text[1:] if text.startswith("//") else text)
    except KeyboardInterrupt:
        chat.write(chat.screen.end())
        chat.conversation.refresh()
        chat.code = INTERRUPTED
        chat.note("interrupted", sign="!")
    except (IntegrityFault, OutcomeUnknown):
        raise
    except WrongExpectedVersion as error:
        chat.overtaken(error, text)
    except CtxlogError as error:
        if not chat.lines.is_interactive:
            raise
        chat.write(chat.screen.end())
        chat.conversation.refresh()
        chat.code = exit_code(error)
        chat.note(message(error), sign="!")


def _prompt(chat: Chat) -> str:
    if not chat.lines.is_interactive:
        return ""
    return prompt_line(chat.conversation.tokens, chat.window, chat.out.style)
