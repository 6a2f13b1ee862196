"""The commands that a person types into a chat, behind a ``/``."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from cli.chat.chat import Chat
from cli.underway import told_open
from eventlog.errors import InputRefused

Run = Callable[[Chat, str], None]
"""What a command does with what is typed behind its name. Raises InputRefused and whatever the
conversation raises."""


@dataclass(frozen=True, slots=True)
class Slash:
    """One command."""

    name: str
    takes: str
    about: str
    run: Run
    complete: Callable[[Chat], Sequence[str]] = lambda chat: ()
    """What may be typed behind its name."""


def commands() -> Mapping[str, Slash]:
    """All of them by their names, in the order of the help."""
    from cli.chat import altering, looking, memories, prompting, setting

    every = (
        Slash("help", "", "this list", help_),
        Slash("context", "", "what stands in the context, and how large it is", looking.context),
        Slash("tasks", "", "the tasks that the model keeps", looking.tasks),
        Slash("cost", "", "the tokens of this session, and their price", looking.cost),
        Slash("sessions", "", "the newest sessions", looking.sessions),
        Slash(
            "compact",
            "[--preview] [keep_turns=N]",
            "summarise older turns; a preview writes nothing",
            altering.compact,
            lambda chat: ("--preview", "keep_turns="),
        ),
        Slash(
            "undo",
            "[REF]",
            "undo k1 or the decision at a position, else the last in force",
            altering.undo,
            altering.decisions,
        ),
        Slash("rewind", "[N|REF]", "go back N turns (1), or to @12, c5, k1^", altering.rewind),
        Slash("pin", "REF", "no strategy may touch this item", altering.pin, altering.items),
        Slash("unpin", "REF", "strategies may touch it again", altering.unpin, altering.items),
        Slash(
            "recover",
            "REF [--only]",
            "put what had left into the context again; --only as a message",
            altering.recover,
        ),
        Slash("fork", "[NAME]", "go on in a fork of this session", altering.fork),
        Slash("continue", "", "let the model go on with an answer that was cut off", go_on),
        Slash(
            "prompt",
            "[NAME|TEXT]",
            "show the system prompt, or replace it; one word is a template, k=v its values",
            prompting.prompt,
            prompting.templates,
        ),
        Slash("remember", "TEXT", "know this in later sessions too", memories.remember),
        Slash(
            "memories",
            "[recall] [QUERY]",
            "what is remembered, or is related to a query; recall shows it to the model",
            memories.memories,
            lambda chat: (memories.RECALL,),
        ),
        Slash(
            "forget",
            "M",
            "do not know it any more; it can be restored",
            memories.forget,
            memories.names,
        ),
        Slash("model", "[NAME]", "another model from here on", setting.model),
        Slash(
            "strategy",
            "[SPEC]",
            "what decides about the context from here on",
            setting.strategy,
            setting.strategies,
        ),
        Slash("tools", "", "the tools that the model has", setting.tools),
        Slash(
            "permissions",
            "[MODE | allow RULE | deny RULE]",
            "what tools may do: ask, allow, deny, read-only",
            setting.permissions,
            lambda chat: ("ask", "allow", "deny", "read-only"),
        ),
        Slash("title", "[TEXT|--auto]", "the title of this session", setting.title),
        Slash("quit", "", "leave; the session stays", leave),
    )
    return {each.name: each for each in every}


ALIASES = {"exit": "quit", "q": "quit", "?": "help", "retry": "continue"}


def run_line(chat: Chat, line: str) -> None:
    """Run what was typed behind the ``/``. Raises InputRefused for what is no command."""
    name, _, rest = line.strip().partition(" ")
    known = commands()
    found = known.get(ALIASES.get(name, name))
    if found is None:
        begun = [each for each in known if name and each.startswith(name)]
        near = begun or get_close_matches(name, known, 1)
        hint = (
            f"is {' or '.join(f'/{each}' for each in near)} meant?" if near else "/help lists all"
        )
        raise InputRefused(
            f"/{name[:40]} is no command; {hint} (// begins a message that begins with /)"
        )
    found.run(chat, rest.strip())


def complete(chat: Chat, begun: str) -> list[str]:
    """The lines that a line may become."""
    if not begun.startswith("/") or begun.startswith("//"):
        return []
    name, blank, rest = begun[1:].partition(" ")
    known = commands()
    if not blank:
        return [f"/{each}" for each in known if each.startswith(name)]
    found = known.get(ALIASES.get(name, name))
    words = found.complete(chat) if found is not None else ()
    front, _, last = rest.rpartition(" ")
    kept = f"/{name} {front} " if front else f"/{name} "
    return [kept + word for word in words if word.startswith(last)]


def words_of(text: str) -> list[str]:
    """What is typed behind a command, as words. Raises InputRefused for an open quote."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputRefused(f"{text[:60]!r}: {error}") from None


def nothing_behind(text: str, command: str) -> None:
    """Raises InputRefused where something is typed behind a command that takes nothing."""
    if text:
        raise InputRefused(f"/{command} takes nothing behind it")


def help_(chat: Chat, text: str) -> None:
    """All commands, a line each."""
    from cli.chat.render_help import render_help

    nothing_behind(text, "help")
    chat.tell(render_help(commands().values(), chat.out.style), "help")


def go_on(chat: Chat, text: str) -> None:
    """Finish the reply that was cut off."""
    nothing_behind(text, "continue")
    if not chat.conversation.is_waiting():
        chat.note("there is nothing to go on with: the last word is the model's")
        return
    if told := told_open(chat.live, chat.conversation.key):
        chat.note(f"{told}; the model is asked again")
    chat.go_on()


def leave(chat: Chat, text: str) -> None:
    """Leave."""
    chat.is_left = True
