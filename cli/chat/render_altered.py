"""What a command of a chat changed in its context, in short. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.models_reasons import ChangeData, ShiftData
from cli.style import Style, plural, ranges, tokens
from projections.runs import origin, position_of

_MOST = 4
"""Events that are named one by one."""


def render_altered(data: ChangeData, style: Style) -> Iterator[str]:
    """What was decided, what stands otherwise, and how large the context is now."""
    for event in data.events[:_MOST]:
        yield style.line(f"{event.says} (event {event.position})", style.width)
    if len(data.events) > _MOST:
        yield style.translated(f"… {plural(len(data.events) - _MOST, 'more event')}")
    new = [row for row in data.back if position_of(origin(row.item)) > data.version]
    back = [row for row in data.back if row not in new]
    for sign, word, rows in (
        ("+", "back", back),
        ("+", "new", new),
        ("✂", "changed", data.changed),
        ("○", "gone", data.gone),
    ):
        if rows:
            yield style.line(f"{sign} {word}: {_about(rows)}", style.width)
    before, after = data.before, data.after
    if before == after:
        yield style.translated(f"context: {plural(after.items, 'item')}, as before")
        return
    sizes = f"{tokens(before.tokens)} → {tokens(after.tokens)} tokens"
    yield style.translated(f"context: {before.items:,} → {plural(after.items, 'item')}, {sizes}")


def _about(rows: Sequence[ShiftData]) -> str:
    before, after = sum(r.before_tokens for r in rows), sum(r.after_tokens for r in rows)
    size = tokens(before or after)
    if before and after:
        size = f"{tokens(before)} → {tokens(after)}"
    return f"{plural(len(rows), 'item')}, {size} ({ranges(row.item for row in rows)})"
