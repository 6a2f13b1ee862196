"""What a chat tells: the answer as it comes, lines about it, or all of it as lines of JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from cli.chat.changes import NumberAt
from cli.chat.json_lines import ChatData, as_data
from cli.chat.lines import Lines
from cli.chat.places import Place
from cli.chat.screen import Screen, Shown
from cli.endpoints import Model
from cli.output import Output, envelope, json_text, to_stderr
from harness.conversation.happenings import CallFailed, Happening

FAULT = "✗"

_UNREACHED = "Connection error"
"""How the client begins to say that nobody answered."""

_NOT_THERE = "status 404"


class Telling:
    """Who reads a chat, and how."""

    def __init__(self, out: Output, lines: Lines, model: Model, number_at: NumberAt) -> None:
        """``number_at`` gives ``c5`` or ``k1``, of what stands at a position; empty for nothing."""
        self.out, self.lines, self.model, self._number_at = out, lines, model, number_at
        obeys = out.is_terminal and os.environ.get("TERM") != "dumb"
        self.screen = Screen(out.style, number_at, obeys)
        self.measure()
        self.place: Place

    def measure(self) -> None:
        """Take the terminal as wide as it is now."""
        style = Output(self.out.settings).style
        self.out.style = replace(style, color=style.color and not self.out.as_json)
        self.screen.style = self.out.style

    def show(self, happening: Happening) -> None:
        """A happening, on the screen or as a line of JSON."""
        if self.out.as_json:
            self._line(as_data(happening, self._number_at))
        else:
            self.write(self.screen.show(happening))
        if isinstance(happening, CallFailed):
            self._tell_address(happening.error)

    def _tell_address(self, error: str) -> None:
        """What may be wrong with the address, where nobody answers there or nothing is found."""
        url = self.model.endpoint.url
        if error.startswith(_UNREACHED):
            self.note(f"is a server running at {url}? --base-url names another")
        elif _NOT_THERE in error and not urlsplit(url).path.strip("/"):
            self.note(f"is {url} the address of an API? most end in /v1: --base-url names it")

    def write(self, shown: Iterable[Shown]) -> None:
        """The answer on stdout; what is told about it beside it on a terminal, else on stderr."""
        for each in shown:
            if self.out.as_json:
                continue
            if each.is_answer or self.out.is_terminal:
                self.out.write_piece(each.text)
            elif (each.is_fault or not self.out.settings.quiet) and each.text.strip():
                to_stderr(each.text.rstrip("\n"))

    def note(self, text: str, sign: str = "") -> None:
        """A line about the conversation."""
        if self.out.as_json:
            self._line(ChatData(happening="note", text=text))
        elif not self.out.settings.quiet or self.lines.is_interactive or sign == FAULT:
            self.write([self.screen.note(text, sign=sign)])

    def tell(self, lines: Iterable[str], command: str = "") -> None:
        """Lines that were asked for."""
        text = "\n".join(lines)
        if self.out.as_json:
            self._line(ChatData(happening="command", name=command, text=text))
        else:
            self.out.write(text)

    def began(self) -> None:
        """The first line of JSON: which session it is."""
        place = self.place
        forked = str(place.forked_from) if place.forked_from is not None else None
        self._line(
            ChatData(
                happening="began", session=str(place.key), is_new=place.is_new, forked_from=forked
            )
        )

    def _line(self, data: ChatData) -> None:
        command = self.out.settings.command
        body = envelope(command, data.model_dump(exclude_none=True))
        self.out.write(json_text(body, indent=None))
