"""What stands for the title of a session to which none was given: how its first message begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eventlog import messages
from eventlog.messages import Part

TITLE_LENGTH = 60
"""Characters of the first human message that stand for a title."""

_HEAD = 1000
"""Characters of what is said in which they are looked for."""

_OPENS, _CLOSES = "<system-reminder>", "</system-reminder>"
"""Around the notes of an agent at the beginning of a message, which are no part of its title."""


def title_of(said: str) -> str:
    """The title that a message gives: its beginning on one line, cut between two code points."""
    words = without_reminders(said)[:_HEAD].split()
    return clean(" ".join(words)[:TITLE_LENGTH].rstrip())


def without_reminders(text: str) -> str:
    """What is said behind the notes of an agent that a message begins with."""
    while text.startswith(_OPENS) and _CLOSES in text:
        text = text.partition(_CLOSES)[2].lstrip(" \t\r\n")
    return text


def clean(text: str) -> str:
    """Without lone surrogates, which a stored state cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def parts_of(data: Mapping[str, Any]) -> Iterator[Part]:
    """The parts of a stored message; a hostile shape has none."""
    try:
        yield from messages.parts(data["dialect"], data["message"])
    except (AttributeError, KeyError, TypeError):
        return
