"""What goes to the terminal: data on stdout, all else on stderr, never a byte that acts.

Colour only on a terminal (``NO_COLOR``, ``FORCE_COLOR`` and ``--color`` are honoured), signs beyond
ASCII only where the stream can carry them. A reader that goes away (``| head``) ends the output in
silence; the exit code then is that of the command.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

import typer

from cli.options import Settings, settings_of
from cli.safetext import safe_text
from cli.style import Style, ascii_text

if TYPE_CHECKING:
    from pydantic import BaseModel

FORMAT = 1
"""Of the JSON envelope."""

DEFAULT_WIDTH = 100
"""Columns where there is no terminal to ask."""


class Output:
    """The two streams of one command."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.gone = False
        """Nobody reads any more: long output may stop."""
        stream = sys.stdout
        ascii_only = settings.ascii or not _is_utf8(stream)
        width = settings.width or shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
        color = _is_colored(stream, settings.color, os.environ)
        self.style = Style(color=color, ascii=ascii_only, width=max(width, 40))

    @property
    def as_json(self) -> bool:
        """Whether JSON was asked for."""
        return self.settings.as_json

    def show(self, data: BaseModel, text: str | Iterable[str]) -> None:
        """The answer of a command: as JSON when that was asked for, else the text."""
        if self.as_json:
            self.write(json_text(envelope(self.settings.command, data.model_dump())))
            return
        self.write(text if isinstance(text, str) else "\n".join(text))

    def write(self, text: str, *, flush: bool = True) -> None:
        """Text on stdout, with a line end. It has passed ``safe_text`` where it was made."""
        if self.gone or not text:
            return
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        with self._watched():
            sys.stdout.write(self._carried(text) + "\n")
            if flush:
                sys.stdout.flush()

    def write_piece(self, text: str) -> None:
        """Text on stdout as it comes, without a line end of ours. It has passed ``safe_text``."""
        if self.gone or not text:
            return
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        with self._watched():
            sys.stdout.write(self._carried(text))
            sys.stdout.flush()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Whoever reads may go away, and a disk may be full."""
        try:
            yield
        except BrokenPipeError:
            self.gone = True
            _discard(sys.stdout)
        except OSError:  # a full disk: what is buffered would fail again at the exit
            _discard(sys.stdout)
            raise

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads along, at what obeys some of the characters that it is sent."""
        return sys.stdout is not None and sys.stdout.isatty()

    def write_exactly(self, text: str) -> None:
        """Text on stdout, to the byte and without a line end: for what is no terminal."""
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        with self._watched():
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()

    def note(self, text: str) -> None:
        """A line for the person, on stderr; not with ``--quiet``."""
        if not self.settings.quiet:
            to_stderr(safe_text(text, newlines=False))

    def _carried(self, text: str) -> str:
        return ascii_text(self.style.translated(text)) if self.style.ascii else text


def output(ctx: typer.Context) -> Output:
    """The output of the running command."""
    return Output(settings_of(ctx))


def envelope(command: str, data: Any) -> dict[str, Any]:
    """What every ``--json`` answer is."""
    return {"ctxlog": FORMAT, "command": command, "data": data}


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON that holds only printable ASCII, so no terminal can be moved by it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, indent=indent)
    return text.replace("\x7f", "\\u007f")


def complain(message: str, settings: Settings, code: int, error: Mapping[str, Any]) -> None:
    """An error, on stderr: one line, or JSON when that was asked for."""
    if settings.as_json:
        body = {"ctxlog": FORMAT, "command": settings.command, "error": {**error, "exit": code}}
        to_stderr(json_text(body))
        return
    to_stderr("ctxlog: " + message)


def to_stderr(text: str) -> None:
    """Text on stderr, with a line end. It has passed ``safe_text`` where it was made."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        if not _is_utf8(stream):
            text = ascii_text(Style(ascii=True).translated(text))
        stream.write(text + "\n")
        stream.flush()
    except OSError:  # there is nobody left to tell, and the exit code says how it went
        _discard(stream)
    except ValueError:
        pass


def _is_utf8(stream: TextIO | None) -> bool:
    name = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    return name in ("utf8", "utf8sig")


def _is_colored(stream: TextIO | None, asked: str, environment: Mapping[str, str]) -> bool:
    """``--color`` first, then NO_COLOR and FORCE_COLOR (as on their pages), then the terminal."""
    if asked != "auto":
        return asked == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return bool(stream is not None and stream.isatty() and environment.get("TERM") != "dumb")


def _discard(stream: TextIO) -> None:
    """So that the interpreter's own flush at the end says nothing about it, and leaves the exit
    code as it is."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
