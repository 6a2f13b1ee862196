"""What a summarizer is, and what of its answer becomes memory.

A summary that is empty, longer than what it covers, a refusal, an error text or a tool call never
becomes memory: ``checked`` says which it was, and whoever asked takes the next rung of the ladder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Literal, Protocol

from eventlog.events import Usage
from projections.items import Item
from projections.tokens import Counter

Fault = Literal["empty", "inflated", "refused", "failed"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A versioned instruction to a summarizer."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of its text: which words were used can be proved later."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, or why there is none."""

    text: str
    model: str
    """The model, or ``extractive/1``: sentences of the conversation, picked without a model."""
    fault: Fault | None = None
    detail: str = ""
    usage: Usage | None = None
    """Billed also when it failed."""


class Summarizer(Protocol):
    """Writes summaries."""

    @property
    def name(self) -> str:
        """Everything that determines its text, for caches: model, prompts, settings."""
        ...

    def summarize(self, items: Sequence[Item], max_tokens: int) -> Written:
        """The summary of exactly these items."""
        ...


def prompt(name: str) -> Prompt:
    """A prompt of this package, by name and version."""
    text = files("harness.summarizers").joinpath("prompts", f"{name}.txt").read_text("utf-8")
    return Prompt(name, text)


def shown(item: Item, *, texts_only: bool = False) -> str:
    """An item as a summarizer reads it: who speaks, what is said, tools with their arguments."""
    lines = []
    for part in item.parts:
        if part.kind == "text" and part.text.strip():
            lines.append(part.text)
        elif part.kind == "call" and not texts_only:
            lines.append(f"(calls {part.name} with {part.text})")
        elif part.kind == "result" and not texts_only:
            failed = "failed with" if part.is_error else "gave"
            lines.append(f"(tool {item.tool_name or 'result'} {failed}) {part.text}")
        elif part.kind == "media":
            lines.append(f"({part.name or 'a file'} was shown here)")
    if not lines or (texts_only and item.role == "tool"):
        return ""
    speaker = {"user": "USER", "assistant": "AGENT", "tool": "TOOL"}.get(item.role, "SYSTEM")
    if item.kind == "summary":
        speaker = "EARLIER SUMMARY"
    return f"[{speaker}]\n" + "\n".join(lines)


_REFUSALS = re.compile(
    r"(i('m| am) (sorry|unable)|i can(no|')t (help|assist|comply|summari[sz]e)|as an ai\b"
    r"|抱歉|我无法)",
    re.IGNORECASE,
)
_ERRORS = re.compile(
    r"^\s*(error|exception|traceback|http \d{3}|\{\s*\"error\")|context length exceeded|rate limit",
    re.IGNORECASE,
)


def checked(written: Written, covered: Sequence[str], counting: Counter) -> Written:
    """The summary with its fault, if it has one. Never raises."""
    if written.fault is not None:
        return written
    text = written.text.strip()
    fault: Fault | None = None
    detail = ""
    if not text:
        fault, detail = "empty", "the summarizer gave no text"
    elif len(text) < 400 and _REFUSALS.match(text):
        fault, detail = "refused", text[:120]
    elif _ERRORS.search(text[:200]):
        fault, detail = "failed", text[:120]
    else:
        size, before = counting.count(text), sum(map(counting.count, covered))
        if size >= before:
            fault, detail = "inflated", f"{size} tokens for {before}"
    return Written(text, written.model, fault, detail, written.usage)
