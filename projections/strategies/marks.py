"""The marks that strategies leave in a context: around a summary, in place of a result, in a cut.

A mark is a function of what it stands for, and of nothing else: no clock, no running number, no
place in a list. So it is the same at every later call, and a provider's cache holds.
"""

from __future__ import annotations

import re

from projections.runs import Origin

SUMMARY_OPEN = "<summary-of-earlier-conversation>"
SUMMARY_CLOSE = "</summary-of-earlier-conversation>"
ACKNOWLEDGEMENT = "I have read the summary of the earlier conversation and continue from there."
"""What the model is shown as its own answer to a summary, so that turns alternate."""

LEFT_OUT = "\n[… {count} characters left out …]\n"


_MARK = re.compile(r"<(\s*/?\s*summary-of-earlier-conversation\s*)>", re.IGNORECASE)


def framed(summary: str) -> str:
    """A summary between the two fixed marks. A mark in its text is written with ``&lt;`` and
    ``&gt;``: whoever had it written into a summary cannot end that with it."""
    return f"{SUMMARY_OPEN}\n{_MARK.sub(_written_out, summary.strip())}\n{SUMMARY_CLOSE}"


def _written_out(mark: re.Match[str]) -> str:
    return f"&lt;{mark[1]}&gt;"


def unframed(text: str) -> str:
    """The summary between the marks: it is folded into the next one, and never nested in it."""
    _, opened, rest = text.partition(SUMMARY_OPEN)
    inner, closed, _ = rest.rpartition(SUMMARY_CLOSE)
    return inner.strip() if opened and closed else text


def cleared(tool: str, origin: Origin) -> str:
    """What stands in place of a result, and how to get it back."""
    named = tool or "the tool"
    return (
        f"[The result of {named} was cleared. It is item {origin} of the log; "
        f"call {named} again if it is needed]"
    )


def omitted(lines: int, images: int = 0) -> str:
    """What SWE-agent shows in place of a result, word for word."""
    said = f"Old environment output: ({lines} lines omitted)"
    return f"{said} ({images} images omitted)" if images else said


def similar(count: int, tool: str, kept: Origin) -> str:
    """What stands in place of a result that a later one repeats."""
    results = "1 similar result" if count == 1 else f"{count} similar results"
    return f"[{results} of {tool or 'the tool'} omitted; the latest is item {kept} of the log]"


def cut(text: str, limit: int) -> str:
    """Head and tail of a text, ``limit`` code points together; the tail has the odd one."""
    head = limit // 2
    tail = limit - head
    left_out = LEFT_OUT.format(count=len(text) - limit)
    return text[:head] + left_out + text[len(text) - tail :]
