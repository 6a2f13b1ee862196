"""A chat in this process: what a test types stands in for the terminal, all else is real."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_server import ModelServer

from cli.chat.asked import Asked
from cli.chat.chat import Chat
from cli.chat.loop import converse
from cli.chat.places import place_of
from cli.chat.remembered import as_before
from cli.options import Settings
from cli.output import Output
from projections import Live, open_log

Line = str | BaseException | Callable[["Typed"], str]
"""What is typed, what interrupts the reading, or what is done before something is typed."""


@dataclass
class Typed:
    """Lines as they are typed at a terminal, and answers to questions."""

    lines: Sequence[Line]
    answers: Sequence[str | BaseException] = ()
    is_interactive: bool = True
    begun: list[str] = field(default_factory=list)
    """What stood in the input line, each time."""
    prompts: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines: Iterator[Line] = iter(self.lines)
        self._answers = iter(self.answers)

    place: str = ""

    def read(self, prompt: str, begun: str = "") -> str | None:
        self.prompts.append(prompt)
        self.begun.append(begun)
        line = next(self._lines, None)
        if isinstance(line, BaseException):
            raise line
        return line(self) if callable(line) else line

    def answer(self, question: str) -> str:
        self.questions.append(question)
        found = next(self._answers)
        if isinstance(found, BaseException):
            raise found
        return found

    def said(self, text: str) -> None:
        self.history.append(text)


@dataclass
class Talk:
    """A chat that is over."""

    chat: Chat
    typed: Typed
    code: int

    @property
    def texts(self) -> list[str]:
        """What stands in its context."""
        return [item.text for item in self.chat.conversation.items()]

    def kinds(self) -> list[str]:
        """The types of its events."""
        return [event.type for event in self.chat.live.log.read(self.chat.conversation.key)]


def talk(
    live: Live,
    server: ModelServer,
    *lines: Line,
    answers: Sequence[str | BaseException] = (),
    interactive: bool = True,
    settings: Settings | None = None,
    **asked: Any,
) -> Talk:
    """Type these lines into a chat with the model of a server, and leave."""
    typed = Typed(lines, answers, interactive)
    given, before = as_before(live, Asked(**{"model": "m", "base_url": server.url, **asked}))
    out = Output(settings or Settings(command="chat", width=80))
    chat = Chat(live, out, given, typed, given.named_model(), before)
    chat.open(place_of(live, given.session))
    code = converse(chat)
    chat.leave()
    return Talk(chat, typed, code)


def opened(folder: Path) -> Live:
    """A log in a folder."""
    return open_log(folder / "chat.db")
