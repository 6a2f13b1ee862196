"""The lines that a person types, or that come through a pipe: a message each.

A message of several lines stands between two ``\"\"\"``. Readline's history is that of the session,
from the log: nothing that is typed is kept anywhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cli.chat.gauge import for_readline
from cli.safetext import safe_text
from eventlog.errors import InputRefused

BLOCK = '"""'
MORE = "… "
Complete = Callable[[str], Sequence[str]]
"""From a line that is begun to the lines that it may become."""


class Lines(Protocol):
    """Where messages come from."""

    is_interactive: bool
    """A person types them, and can be asked."""

    def read(self, prompt: str, begun: str = "") -> str | None:
        """The next message; ``begun`` stands in the line already. None at the end.

        Raises KeyboardInterrupt.
        """
        ...

    def answer(self, question: str) -> str:
        """What a person answers to a question. Raises KeyboardInterrupt, EOFError."""
        ...

    def said(self, text: str) -> None:
        """A message was said, which the arrow keys give again."""
        ...

    @property
    def place(self) -> str:
        """Where the last message stands in what is read; empty where a person typed it."""
        ...


class PipedLines:
    """Lines of standard input."""

    is_interactive = False

    def __init__(self) -> None:
        self._number = 0
        self._begin = 0

    @property
    def place(self) -> str:
        """Where the last message stands."""
        return f"line {self._begin} of the input"

    def read(self, prompt: str, begun: str = "") -> str | None:
        """The next message. Raises InputRefused for what is no UTF-8."""
        line = self._line()
        self._begin = self._number
        return line if line is None else whole(line, self._line)

    def answer(self, question: str) -> str:
        """Nobody is there."""
        raise EOFError

    def said(self, text: str) -> None:
        """Nothing is kept."""

    def _line(self) -> str | None:
        if sys.stdin is None:
            return None
        line = sys.stdin.buffer.readline()
        self._number += 1
        if not line:
            return None
        try:
            return line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise InputRefused(f"line {self._number} of the input is no UTF-8") from None


class TypedLines:
    """A terminal, with editing, history and completion where readline is there."""

    is_interactive = True

    def __init__(self, more: str = MORE) -> None:
        self._more = more
        self._readline: Any = None
        try:
            import readline
        except ImportError:
            return
        self._readline = readline
        readline.set_auto_history(False)
        readline.set_completer_delims("")
        is_libedit = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
        if not is_libedit:  # several lines that are pasted are one message
            readline.parse_and_bind("set enable-bracketed-paste on")

    place = ""

    def completed_by(self, complete: Complete) -> None:
        """What the tab key asks."""
        if self._readline is not None:
            self._readline.set_completer(_completer(complete))

    def read(self, prompt: str, begun: str = "") -> str | None:
        """The next message; None at Ctrl-D."""
        line = self._line(prompt, begun)
        return line if line is None else whole(line, lambda: self._line(self._more, ""))

    def answer(self, question: str) -> str:
        """What a person answers."""
        return input(for_readline(question) if self._readline is not None else question)

    def said(self, text: str) -> None:
        """Keep a message for the arrow keys."""
        is_line = text.strip() and safe_text(text) == text
        if self._readline is not None and is_line:  # a terminal shows it again
            self._readline.add_history(text)

    def _line(self, prompt: str, begun: str) -> str | None:
        readline = self._readline
        if readline is None:
            shown = prompt
        else:
            shown = for_readline(prompt)
            readline.set_startup_hook((lambda: readline.insert_text(begun)) if begun else None)
        try:
            typed = input(shown)
        except EOFError:
            return None
        finally:
            if readline is not None:
                readline.set_startup_hook(None)
        text = typed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return text.rstrip("\n")  # of what was pasted


def whole(line: str, more: Callable[[], str | None]) -> str:
    """A message whose first line this is: what stands between two ``\"\"\"``, as it stands there.

    At the end of the input the block ends too.
    """
    begin = line.strip()
    if not begin.startswith(BLOCK):
        return line
    text = begin.removeprefix(BLOCK)
    if text.endswith(BLOCK):
        return text.removesuffix(BLOCK)
    lines = [text] if text else []
    while (following := more()) is not None:
        end = following.rstrip()
        if end.endswith(BLOCK):
            if last := end.removesuffix(BLOCK):
                lines.append(last)
            break
        lines.append(following)
    return "\n".join(lines)


def _completer(complete: Complete) -> Callable[[str, int], str | None]:
    def found(begun: str, number: int) -> str | None:
        try:
            choices = complete(begun)
        except Exception:  # a line that is being typed is no place for an error
            return None
        return choices[number] if number < len(choices) else None

    return found
