"""What a summarizer is, and the versioned prompts."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Protocol

from eventlog.errors import InputRefused
from harness.prompts.folder import Prompts
from projections.items import Item
from projections.prompts.faults import PromptMissing
from projections.strategies.decisions import Summary
from projections.written import Written

FOLDER = "summaries"
"""Where the instructions to summarizers stand among the prompts of this program."""


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
    """A prompt that comes with this program, by name and version. Raises InputRefused."""
    if name.isidentifier():
        with contextlib.suppress(PromptMissing):
            return Prompt(name, _bundled().get(f"{FOLDER}/{name}").system)
    raise InputRefused(f"no prompt {name!r} comes with this program")


@cache
def _bundled() -> Prompts:
    return Prompts.bundled()
