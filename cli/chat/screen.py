"""What happens in a conversation, as text: the answer as it comes, a line for all else. Pure.

Everything has been made safe for a terminal: an answer and the result of a tool may hold anything.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from cli.chat.changes import NumberAt, changed_line
from cli.chat.memory_lines import REMEMBERED, memory_lines
from cli.chat.stream_text import StreamText
from cli.chat.wrapping import Wrapping
from cli.saying import arguments
from cli.style import Style, plural
from harness.conversation.happenings import (
    Answered,
    CallFailed,
    Calling,
    Changed,
    Ended,
    Happening,
    MemoriesChanged,
    MemoriesShown,
    NotRemembered,
    Piece,
    ToolCalled,
    ToolEnded,
)

MOST_LINES = 3
"""Of a result that is shown."""
_OUTCOME = 22
"""Columns that are kept behind a call for what comes of it."""
_MOST_ARGUMENTS = 20_000
_ERASE = "\r\x1b[K"
_MOST_NOTE = 800
"""Columns of a note, over all its lines."""

CUT_OFF = {
    "length": "the answer was cut off: it is as long as the model, or the server, allows",
    "content_filter": "the answer was cut off by the provider's filter",
}


class Shown(NamedTuple):
    """Text to be written as it stands."""

    text: str
    is_answer: bool = False
    """What a model said; all else is told about it."""
    is_fault: bool = False
    """Why there is no answer."""


@dataclass(slots=True)
class Screen:
    """One conversation on its way to a reader."""

    style: Style
    number_at: NumberAt = lambda position: ""
    is_terminal: bool = False
    """Answer and notes stand on the same screen, which obeys what moves its cursor."""
    _text: StreamText = field(default_factory=StreamText)
    _lines: Wrapping | None = None
    _kind: str = ""
    """Of the pieces that come in."""
    _said: bool = False
    """Whether anything of this answer was shown."""
    _begun: bool = False
    """Whether the line of the answer has something in it."""
    _waiting: bool = False
    _open: list[str] = field(default_factory=list)
    """Tool calls that run."""
    _called: str = ""
    """The one whose line has no end yet."""
    _held: list[Changed] = field(default_factory=list)
    _failure: str = ""

    def show(self, happening: Happening) -> Iterator[Shown]:
        """What it adds to the screen."""
        if isinstance(happening, Piece):
            yield from self._piece(happening)
            return
        if isinstance(happening, Changed):
            if self._open:  # its line stands behind the result that it is about
                self._held.append(happening)
            else:
                yield from self._changed(happening)
        elif isinstance(happening, Calling):
            yield from self._calling()
        elif isinstance(happening, Answered):
            yield from self._answered(happening)
        elif isinstance(happening, CallFailed):
            yield from self._failed(happening)
        elif isinstance(happening, ToolCalled):
            yield from self._tool_called(happening)
        elif isinstance(happening, ToolEnded):
            yield from self._tool_ended(happening)
        elif isinstance(happening, MemoriesShown | MemoriesChanged | NotRemembered):
            yield from self._memories(happening)
        else:
            yield from self._ended(happening)

    def end(self) -> Iterator[Shown]:
        """End what has begun: the next line is somebody else's."""
        yield from self._woken()
        yield from self._line_ended()
        self._open.clear()
        for each in self._held:
            yield from self._changed(each)
        self._held.clear()
        self._kind, self._said = "", False

    def note(self, text: str, *, sign: str = "") -> Shown:
        """A line that is told about the conversation."""
        style = self.style
        told = style.line(f"{sign} {text}" if sign else text, _MOST_NOTE)
        width = style.width if self.is_terminal else _MOST_NOTE
        lines = textwrap.wrap(told, width, subsequent_indent="  ") or [""]
        shown = "".join(style.paint(line, _colour(sign)) + "\n" for line in lines)
        return Shown(shown, is_fault=sign == "✗")

    def waiting(self, text: str) -> Iterator[Shown]:
        """Say what is waited for; the next line takes its place."""
        if self.is_terminal:
            yield from self._woken()
            yield from self._line_ended()
            self._waiting = True
            yield Shown(self.style.paint(self.style.line(text, self.style.width - 1), "dim"))

    # -- an answer --------------------------------------------------------------------------------

    def _calling(self) -> Iterator[Shown]:
        yield from self._line_ended()
        self._text, self._kind, self._said, self._begun = StreamText(), "", False, False
        yield from self.waiting("…")

    def _woken(self) -> Iterator[Shown]:
        """Nothing is waited for any more."""
        if self._waiting:
            self._waiting = False
            yield Shown(_ERASE)

    def _piece(self, piece: Piece) -> Iterator[Shown]:
        yield from self._woken()
        is_answer = piece.kind != "reasoning"
        if piece.kind != self._kind:
            yield from self._line_ended()
            self._kind, self._text = piece.kind, StreamText()
            self._lines = Wrapping(self.style.width) if self.is_terminal else None
            if not is_answer:
                yield self._spoken("(thinking) ", is_answer)
            elif piece.kind == "refusal":
                yield self._spoken("(refused) ", is_answer)
        shown = self._text.take(piece.text)
        if not self._said and is_answer:
            shown = shown.lstrip("\n")  # some models begin with empty lines
        if shown:
            self._said = self._said or is_answer
            yield self._spoken(shown, is_answer)

    def _spoken(self, text: str, is_answer: bool) -> Shown:
        self._begun = not text.endswith("\n")
        style = self.style
        shown = style.block(text) if style.ascii else text
        if self._lines is not None:
            shown = self._lines.take(shown)
        return Shown(shown if is_answer else style.paint(shown, "dim"), is_answer)

    def _line_ended(self) -> Iterator[Shown]:
        """End the line of an answer, or of a call, that has something in it."""
        rest = self._text.rest() if self._kind else ""
        is_answer = self._kind not in ("", "reasoning")
        if rest:
            yield self._spoken(rest, is_answer)
        if self._begun:
            self._begun = False
            word = self._lines.rest() if self._lines is not None else ""
            yield Shown((word if is_answer else self.style.paint(word, "dim")) + "\n", is_answer)
        if self._called:
            self._called = ""
            yield Shown("\n")

    def _answered(self, answered: Answered) -> Iterator[Shown]:
        yield from self._woken()
        if answered.text.strip() and not self._said:  # a server that sends no pieces
            yield from self._piece(Piece(answered.text))
        yield from self._line_ended()
        self._kind, self._said = "", False
        if answered.finish_reason in CUT_OFF:
            yield self.note(CUT_OFF[answered.finish_reason], sign="!")

    def _failed(self, failed: CallFailed) -> Iterator[Shown]:
        yield from self._woken()
        yield from self._line_ended()
        again = "; less is sent, and it is tried again" if failed.is_tried_again else ""
        self._failure = failed.error
        yield self.note(f"{failed.error}{again}", sign="✗")

    def _ended(self, ended: Ended) -> Iterator[Shown]:
        yield from self.end()
        if ended.outcome == "exhausted":
            yield self.note(f"stopped: {ended.detail}", sign="!")
        elif ended.outcome == "failed" and ended.detail != self._failure:
            yield self.note(f"no answer: {ended.detail}", sign="✗")
        self._failure = ""

    # -- tools ------------------------------------------------------------------------------------

    def _tool_called(self, called: ToolCalled) -> Iterator[Shown]:
        yield from self._line_ended()
        style = self.style
        said = f"{called.name} {told_arguments(called.arguments)}"
        room = style.width - 2 - (_OUTCOME if self.is_terminal else 0)
        line = f"{style.translated('▸')} {style.line(said, room)}"
        self._open.append(called.tool_call_id)
        if self.is_terminal:
            self._called = called.tool_call_id
            yield Shown(style.paint(line, "cyan"))
        else:
            yield Shown(style.paint(line, "cyan") + "\n")

    def _tool_ended(self, ended: ToolEnded) -> Iterator[Shown]:
        style = self.style
        yield from self._woken()
        is_known = ended.tool_call_id in self._open
        lines = ended.content.strip("\n").splitlines()
        told = " · ".join(filter(None, (_lasted(ended.duration_ms), _length(lines))))
        sign = style.translated("✗" if ended.is_error else "✓")
        colour = "yellow" if ended.is_error else "dim"
        if self._called == ended.tool_call_id and self._open == [ended.tool_call_id]:
            self._called = ""
            yield Shown(f" {style.paint(style.translated(f'{sign} {told}'), colour)}\n")
        else:
            yield from self._line_ended()
            name = style.line(ended.name, style.width - _OUTCOME)
            front = "  " if is_known else f"{style.translated('▸')} "
            told = told if is_known else ""
            line = style.translated(f"{front}{sign} {name} {told}".rstrip())
            yield Shown(style.paint(line, colour) + "\n")
        if is_known:
            self._open.remove(ended.tool_call_id)
        for line in self._folded(lines):
            yield Shown(style.paint(line, "dim") + "\n")
        held, self._held = self._held, []
        for each in held:
            yield from self._changed(each)

    def _folded(self, lines: list[str]) -> Iterator[str]:
        style = self.style
        bar = style.translated("  │ ")
        shown = lines if len(lines) <= MOST_LINES + 1 else lines[:MOST_LINES]
        for line in shown:
            text = line.expandtabs(4)
            indent = " " * min(len(text) - len(text.lstrip()), style.width // 4)
            room = style.width - len(bar) - len(indent)
            yield (bar + indent + style.line(text, room)).rstrip()
        if len(shown) < len(lines):
            yield style.translated(f"{bar}… {plural(len(lines) - len(shown), 'more line')}")

    # -- the context ------------------------------------------------------------------------------

    def _changed(self, changed: Changed) -> Iterator[Shown]:
        line = changed_line(changed.changes, self.style, self.number_at)
        if line:
            yield from self._woken()
            yield from self._line_ended()
            yield Shown(line + "\n")

    def _memories(self, told: MemoriesShown | MemoriesChanged | NotRemembered) -> Iterator[Shown]:
        yield from self._woken()
        yield from self._line_ended()
        for sign, line in memory_lines(told):
            yield self.note(line, sign=sign)


def told_arguments(text: str) -> str:
    """The arguments of a call as a person reads them: what tells most, else each with its name."""
    short = arguments(text) if text else ""
    if short != text or not text.startswith("{") or len(text) > _MOST_ARGUMENTS:
        return short
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return short
    if not isinstance(value, dict):
        return short
    told = {name: plain_argument(each) for name, each in value.items()}
    if len(told) == 1:
        return next(iter(told.values()))
    return with_names(told)


def with_names(told: Mapping[str, str]) -> str:
    """Arguments, each with its name."""
    return " ".join(f"{name}={each}" for name, each in told.items())


def plain_argument(value: object) -> str:
    """The value of an argument: a text as it is, texts with commas, all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _colour(sign: str) -> str:
    return "yellow" if sign not in ("", REMEMBERED) else "dim"


def _lasted(milliseconds: int | None) -> str:
    if milliseconds is None or milliseconds < 50:
        return ""
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.1f}s"
    return f"{seconds:.0f}s" if seconds < 120 else f"{seconds / 60:.0f}min"


def _length(lines: list[str]) -> str:
    return plural(len(lines), "line") if lines else "empty"
