"""What a summarizer is, and the versioned prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Protocol

from eventlog.errors import InputRefused
from projections.items import Item
from projections.strategies.decisions import Summary
from projections.written import Written


@dataclass(frozen=True, slots=True)
class Prompt:
    """A versioned instruction to a summarizer."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of its text: which words were used can be proved later."""
        return sha256(self.text.encode()).hexdigest()


class Summarizer(Protocol):
    """Writes summaries; its ``summarize`` is what a what-if takes."""

    @property
    def name(self) -> str:
        """Everything that determines its text, beside what it is asked: model, settings."""
        ...

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        """The summary of exactly these items, with the prompt and the limit that are wanted."""
        ...


def prompt(name: str) -> Prompt:
    """A prompt of this package, by name and version. Raises InputRefused."""
    place = files("harness.summarizers").joinpath("prompts", f"{name}.txt")
    if not name.isidentifier() or not place.is_file():
        raise InputRefused(f"no prompt {name!r} comes with this program")
    return Prompt(name, place.read_text("utf-8"))
