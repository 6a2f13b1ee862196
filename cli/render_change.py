"""What a command changed in a context, or would change, as text. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from cli.models_reasons import ChangeData, ShiftData
from cli.safetext import display_width
from cli.style import Style, heading, named, pad, pad_left, plural, ranges, short, tokens
from projections.runs import origin, position_of

_MOST = 12
"""Items of one kind that are shown."""


def render_change(
    data: ChangeData, style: Style, program: str = "ctxlog", more: Iterable[str] = ()
) -> Iterator[str]:
    """What was written, what stands otherwise, the sizes, ``more``, and how to take it back."""
    front = "would write" if data.dry_run else "wrote"
    count = plural(len(data.events), "event") if data.events else "nothing"
    where = " into a new fork" if data.forked_from is not None else ""
    yield style.paint(heading(f"{front} {count}{where}", data.key, style), "bold")
    if data.forked_from is not None:
        verb = "would be" if data.dry_run else "was"
        yield named(data.forked_from, style, style.width)
        said = "is another program's session: it "
        said += f"{verb} forked after event {data.forked_at}, and is not changed"
        yield from textwrap.wrap(said, style.width, initial_indent="  ", subsequent_indent="  ")
    yield from _events(data, style)
    new = [row for row in data.back if position_of(origin(row.item)) > data.version]
    yield from _rows("+", "back", [row for row in data.back if row not in new], style)
    yield from _rows("+", "new", new, style)
    yield from _rows("✂", "changed", data.changed, style)
    yield from _rows("○", "gone", data.gone, style)
    before, after = data.before, data.after
    size = f"{plural(before.items, 'item')}, {tokens(before.tokens)} tokens, as before"
    if before != after:
        size = f"{plural(before.items, 'item')} → {after.items:,}, "
        size += f"{tokens(before.tokens)} → {tokens(after.tokens)} tokens"
    yield style.translated(f"context: {size}")
    yield from more
    if data.undo:
        for number, line in enumerate(data.undo):
            front = "then" if number else "to take it back"
            yield style.paint(style.block(f"{front}: {program} {line}"), "cyan")


def _events(data: ChangeData, style: Style) -> Iterator[str]:
    """The events, those that say the same once."""
    alike: dict[str, list[int]] = {}
    for event in data.events:
        alike.setdefault(event.says, []).append(event.position)
    for says, at in list(alike.items())[:_MOST]:
        if len(at) == 1:
            yield " " + style.line(f"{at[0]}  {says}", style.width - 1)
            continue
        said = f"{len(at):,} times {says}: {ranges(map(str, at))}"
        yield from textwrap.wrap(
            style.line(said, 8 * style.width),
            style.width,
            initial_indent=" ",
            subsequent_indent="   ",
        )
    yield from _more(len(alike), style)


def _rows(sign: str, word: str, rows: Sequence[ShiftData], style: Style) -> Iterator[str]:
    if not rows:
        return
    before, after = sum(r.before_tokens for r in rows), sum(r.after_tokens for r in rows)
    size = {"back": tokens(after), "new": tokens(after), "gone": tokens(before)}.get(
        word, f"{tokens(before)} → {tokens(after)}"
    )
    yield style.translated(f"{sign} {word}: {plural(len(rows), 'item')}, {size} tokens")
    shown = rows[:_MOST]
    names = [row.after or row.before or row.item for row in shown]
    ref = max(map(display_width, names))
    sizes = [_size(row) for row in shown]
    width = max(display_width(each) for each in sizes)
    for row, name, each in zip(shown, names, sizes, strict=True):
        start = f"   {pad(style.line(name, ref), ref)} "
        start += f"{style.translated(pad_left(each, width))}  {pad(style.line(row.who, 12), 12)} "
        yield (start + style.line(row.preview, style.width - display_width(start))).rstrip()
    yield from _more(len(rows), style)


def _size(row: ShiftData) -> str:
    if row.before is None or row.after is None:
        return short(row.before_tokens + row.after_tokens)
    return f"{short(row.before_tokens)}→{short(row.after_tokens)}"


def _more(count: int, style: Style) -> Iterator[str]:
    if count > _MOST:
        yield style.translated(f"   … {count - _MOST:,} more")
