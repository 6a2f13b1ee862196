"""What a summarizer gave: a text, or why there is none.

A summary that is empty, longer than what it covers, a refusal, an error text or a tool call never
becomes memory: ``checked`` says which it was, and whoever asked takes the next rung of the ladder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eventlog.events import Usage
from projections.items import Item
from projections.strategies.decisions import Summary
from projections.tokens import Counter

Fault = Literal["empty", "inflated", "refused", "failed", "unreachable"]
"""``unreachable``: the model was never asked, or gave no answer; the others are about its text."""


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, or why there is none."""

    text: str
    model: str = ""
    """The model, or ``extractive/1``: sentences of the conversation, picked without a model."""
    fault: Fault | None = None
    detail: str = ""
    usage: Usage | None = None
    """Billed also when it failed."""


Summarize = Callable[[Summary, Sequence[Item]], Written | str | None]
"""From what is to be summarised to what was written. A plain text will do; empty or None where no
summary can be had."""


def as_written(given: Written | str | None) -> Written:
    """What a summarizer gave, whichever way it says it; an empty text is a fault."""
    if not isinstance(given, Written):
        given = Written(given or "")
    if given.fault is None and not given.text.strip():
        return replace(given, fault="empty", detail="the summarizer gave no text")
    return given


_REFUSALS = re.compile(
    r"(i('m| am) (sorry|unable)|i can(no|')t (help|assist|comply|summari[sz]e)|as an ai\b"
    r"|抱歉|我无法)",
    re.IGNORECASE,
)
_ERRORS = re.compile(
    r"(error|exception|traceback|http \d{3}\b|\{\s*\"error\"|rate limit|(maximum )?context length"
    r"|internal server error|service unavailable|bad gateway)",
    re.IGNORECASE,
)
_SHORT = 400
"""Characters under which a text may be a refusal or an error; a summary of either is longer."""


def checked(written: Written, covered: Sequence[str], counting: Counter) -> Written:
    """The summary with its fault, if it has one. Never raises."""
    if written.fault is not None:
        return written
    text = written.text.strip()
    fault: Fault | None = None
    detail = ""
    if not text:
        fault, detail = "empty", "the summarizer gave no text"
    elif len(text) < _SHORT and _REFUSALS.match(text):
        fault, detail = "refused", text[:120]
    elif len(text) < _SHORT and _ERRORS.match(text):
        fault, detail = "failed", text[:120]
    else:
        size, before = counting.count(text), sum(map(counting.count, covered))
        if size >= before:
            fault, detail = "inflated", f"{size} tokens for {before}"
    return replace(written, text=text, fault=fault, detail=detail)
