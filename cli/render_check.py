"""Checked calls as text: a line for each that differs, and what became of all. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models_check import ReplayCheckData
from cli.safetext import safe_text
from cli.style import Style, pad, plural

_PROBLEMS = 20
"""Lines of what does not hold."""


def render_check(data: ReplayCheckData, style: Style) -> Iterator[str]:
    """What differs, then the summary."""
    wrong = [each for each in data.checked if each.outcome == "differs"]
    width = max((len(each.ref) for each in wrong), default=0)
    for each in wrong:
        word = each.verdict or ""
        yield (
            f"{pad(each.ref, width)}  {style.paint(pad(word, 6), 'yellow')}  "
            f"{safe_text(each.detail, newlines=False)}"
        )
    for problem in data.problems[:_PROBLEMS]:
        what = "the log" if problem.position is None else f"event {problem.position}"
        told = safe_text(f"{what} does not hold ({problem.kind}): {problem.message}")
        yield style.paint(told.replace("\n", " "), "bold")
    if len(data.problems) > _PROBLEMS:
        yield f"… and {plural(len(data.problems) - _PROBLEMS, 'problem')} more: see `verify`"
    yield style.paint(_summary(data), "bold")


def _summary(data: ReplayCheckData) -> str:
    if not data.calls:
        return f"{safe_text(data.key, newlines=False)} has no calls"
    parts = []
    if data.same:
        parts.append(f"{data.same:,} as sent ({_bytes(data)})")
    if data.differ:
        parts.append(f"{data.differ:,} {'differs' if data.differ == 1 else 'differ'}")
    for why, count in data.unchecked.items():
        parts.append(f"{count:,} not checked: {why}")
    rebuilt = " rebuilt from the events" if data.same or data.differ else ""
    return f"{plural(data.calls, 'call')}{rebuilt}: {'; '.join(parts)}"


def _bytes(data: ReplayCheckData) -> str:
    same = [each.same_bytes for each in data.checked if each.outcome == "same"]
    counts = {
        "to the byte": same.count(True),
        "in other bytes": same.count(False),
        "of unknown bytes": same.count(None),
    }
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
