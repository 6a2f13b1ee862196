"""Two contexts against each other as text. Pure: data and a style in, lines out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cli.models_whatif import DiffData, DiffRow, LostAnchorData, SideData, SumData
from cli.render_ask import render_ask
from cli.render_prefixes import call_lines
from cli.safetext import display_width
from cli.style import Style, heading, pad, pad_left, plural, short, tokens

SIGNS = {
    "kept": "●",
    "restored": "●",
    "cut": "✂",
    "cleared": "✂",
    "deduplicated": "✂",
    "revised": "✂",
    "redacted": "✂",
    "summarised": "Σ",
    "dropped": "○",
    "new": "+",
    "": " ",
}
"""What each state is shown as; the same signs as in the log."""

_COLORS = {"●": "cyan", "✂": "yellow", "Σ": "magenta", "○": "dim", "+": "bold"}
_RUN = 4
"""Kept rows that follow on each other from which they are one line."""

_MOST = 12
"""Anchors of one kind that are shown, beside those that are used later or were said by a person."""

_WHO = 10
_USERS = 3
"""Later messages that are named."""


def render_diff(
    data: DiffData,
    style: Style,
    *,
    anchors: bool = False,
    prefix: bool = False,
    stat: bool = False,
    beside: bool = False,
) -> Iterator[str]:
    """What the two are, the totals by state, then what was asked for, else the rows."""
    front = f"{_name(data.left, data)} → {_name(data.right, data)}"
    if data.teacher_forced and data.left.ref != "now":
        front += f" at {data.left.ref}"
    yield style.paint(heading(front, data.key, style), "bold")
    for note in data.notes:
        for line in _wrapped(note, style):
            yield style.paint(line, "dim")
    yield from _sides(data, style) if data.teacher_forced else _totals(data, style)
    if prefix:
        yield ""
        yield from _prefix(data, style)
    if anchors:
        yield ""
        yield from _anchors(data, style)
    if data.asked is not None:
        yield ""
        yield from render_ask(data.asked, _name(data.left, data), _name(data.right, data), style)
    if beside:
        yield ""
        yield from _beside(data, style)
    elif not (anchors or prefix or stat or data.asked):
        yield ""
        yield from _rows(data, style)


def _name(side: SideData, data: DiffData) -> str:
    if data.teacher_forced:
        return side.strategy or "observed"
    return f"@{side.ref}" if side.ref != "now" else "now"


def _cell(count: int, size: int) -> str:
    return f"{plural(count, 'item')}  {tokens(size)}"


def _totals(data: DiffData, style: Style) -> Iterator[str]:
    rows = [
        (one.state, one.items, f"{tokens(one.left_tokens)} → {tokens(one.right_tokens)}")
        for one in data.sums
    ]
    whole = f"{tokens(data.left.tokens)} → {tokens(data.right.tokens)}"
    rows.append(("context", data.right.items, whole))
    size = max(len(f"{count:,}") for _, count, _ in rows)
    for state, count, change in rows:
        sign = style.translated(SIGNS.get(state, " "))
        yield style.block(
            f" {sign} {pad(state, 13)} {pad_left(f'{count:,}', size)}  {change} tokens"
        )


def _sides(data: DiffData, style: Style) -> Iterator[str]:
    """What became of everything recorded, on each side."""
    room = max(12, (style.width - 18) // 2)
    left, right = _by_state(data.left.sums), _by_state(data.right.sums)
    yield style.paint(
        " " * 17
        + pad(style.line(_name(data.left, data), room - 2), room)
        + style.line(_name(data.right, data), min(room, style.width - 17 - room)),
        "dim",
    )
    for state in SIGNS:
        if state in left or state in right:
            cells = [_sum(of.get(state), state) for of in (left, right)]
            sign = style.translated(SIGNS[state])
            line = f" {sign} {pad(state, 13)} {pad(cells[0], room)}{cells[1]}"
            yield style.block(line.rstrip())
    brief = room < len(_cell(100, 10_000)) + 1
    cells = [
        f"{side.items:,}  {tokens(side.tokens)}" if brief else _cell(side.items, side.tokens)
        for side in (data.left, data.right)
    ]
    yield style.block(f"   {pad('context', 13)} {pad(cells[0], room)}{cells[1]}")


def _by_state(sums: Sequence[SumData]) -> dict[str, SumData]:
    return {one.state: one for one in sums}


def _sum(one: SumData | None, state: str) -> str:
    if one is None:
        return "-"
    size = one.left_tokens if state in ("dropped", "summarised") else one.right_tokens
    if SIGNS[state] == "✂":
        return f"{one.items:,}  {tokens(one.left_tokens)} → {tokens(one.right_tokens)}"
    return f"{one.items:,}  {tokens(size)}"


# -- rows -----------------------------------------------------------------------------------------


def _rows(data: DiffData, style: Style) -> Iterator[str]:
    ref = max([3, *(display_width(row.item) for row in data.rows)])
    two = data.teacher_forced
    run: list[DiffRow] = []
    for row in data.rows:
        if _is_kept(row, two):
            run.append(row)
            continue
        yield from _kept(run, style, ref, two)
        run = []
        yield from _row(row, style, ref, two)
    yield from _kept(run, style, ref, two)


def _is_kept(row: DiffRow, two: bool) -> bool:
    return row.state == "kept" and (not two or row.left_state == "kept")


def _kept(run: Sequence[DiffRow], style: Style, ref: int, two: bool) -> Iterator[str]:
    if len(run) < _RUN:
        for row in run:
            yield from _row(row, style, ref, two)
        return
    size = tokens(sum(row.tokens for row in run))
    said = f" {'● ●' if two else '●'} {run[0].item} … {run[-1].item}: {len(run):,} kept, {size}"
    yield style.paint(style.line(said, style.width), "dim")


def _row(row: DiffRow, style: Style, ref: int, two: bool) -> Iterator[str]:
    signs = (
        [_sign(row.left_state, style), _sign(row.state, style)]
        if two
        else [_sign(row.state, style)]
    )
    start = f" {' '.join(signs)} {pad(style.line(row.item, ref), ref)} "
    start += pad(style.line(row.who, _WHO), _WHO) + " "
    start += style.paint(pad_left(_size(row, two), 9), "dim") + "  "
    used = 1 + (3 if two else 1) + 1 + ref + 1 + _WHO + 1 + 9 + 2
    yield start + style.line(_said(row), max(8, style.width - used))
    if row.words:
        for line in style.block(row.words).splitlines():
            for piece in textwrap.wrap(line, max(20, style.width - 6)) or [""]:
                yield f"      {piece}".rstrip()


def _sign(state: str, style: Style) -> str:
    sign = SIGNS.get(state, " ")
    return style.paint(style.translated(sign), _COLORS[sign]) if sign in _COLORS else sign


def _size(row: DiffRow, two: bool) -> str:
    if row.state == "new":
        return short(row.right_tokens)
    if not two and row.left is not None and row.right is not None and row.state != "kept":
        return f"{short(row.left_tokens)}→{short(row.right_tokens)}"
    return short(row.tokens)


def _said(row: DiffRow) -> str:
    words = {row.left_state, row.state} & {"cut", "cleared", "deduplicated", "revised", "redacted"}
    marks = f"({', '.join(sorted(words))}) " if words else ""
    return marks + row.preview


def _beside(data: DiffData, style: Style) -> Iterator[str]:
    """Each context in a column of its own."""
    room = (style.width - 3) // 2
    bar = style.translated("│")
    yield style.paint(
        pad(style.line(_name(data.left, data), room), room)
        + f" {bar} "
        + style.line(_name(data.right, data), room),
        "bold",
    )
    for row in data.rows:
        if row.left is None and row.right is None:
            continue
        left = _half(row.left, row.left_preview or row.preview, style, room)
        right = _half(row.right, row.right_preview or row.preview, style, room)
        yield f"{pad(left, room)} {bar} {right}".rstrip()


def _half(rendition: str | None, said: str, style: Style, room: int) -> str:
    return "" if rendition is None else style.line(f"{rendition} {said}", room)


# -- the prefix -----------------------------------------------------------------------------------


def _prefix(data: DiffData, style: Style) -> Iterator[str]:
    found = data.prefix
    whole = found.tokens + found.right_behind
    yield style.block(
        f"common prefix: {plural(found.items, 'item')}, {tokens(found.tokens)} tokens"
    )
    if found.right_ends_at is None and found.left_ends_at is None:
        yield "both are the same to the end"
    else:
        yield from _parting(data, style, whole)
    if found.call is not None:
        yield from call_lines(found.call, style)


def _parting(data: DiffData, style: Style, whole: int) -> Iterator[str]:
    """Where the one goes on otherwise than the other."""
    found = data.prefix
    left = f"goes on with {found.left_ends_at}" if found.left_ends_at else "ends"
    right = f"goes on with {found.right_ends_at}" if found.right_ends_at else "ends"
    yield from _wrapped(f"then the left {left}, the right {right}", style)
    if found.character is not None:
        behind = f", behind {found.common_text!r}" if found.common_text else ""
        yield style.line(f"from character {found.character:,}{behind}:", style.width)
    for side, text in (("left", found.left_text), ("right", found.right_text)):
        if text or found.character is not None:
            yield f"  {side:<5} {style.line(repr(text), style.width - 8)}"
    yield from _wrapped(
        f"not in a cache of the left: {tokens(found.right_behind)} of {tokens(whole)} tokens of "
        "the right",
        style,
    )


def _wrapped(text: str, style: Style) -> Iterator[str]:
    yield from textwrap.wrap(style.block(text), style.width)


# -- anchors --------------------------------------------------------------------------------------


def _anchors(data: DiffData, style: Style) -> Iterator[str]:
    two = data.teacher_forced
    if not data.lost:
        yield "no literal is lost"
        return
    if two:
        yield from _wrapped(
            "lost word for word (< on the left only, > on the right only, x on both), from which "
            "item, and → which messages behind the place hold it",
            style,
        )
    else:
        yield from _wrapped(
            "lost word for word, from which item, and → which messages behind the place hold it",
            style,
        )
    ref = max(4, *(display_width(one.item) for one in data.lost))
    for count in data.anchors:
        of = [one for one in data.lost if one.kind == count.kind]
        gone = f"{count.right_lost:,}"
        if two:
            gone = f"left {count.left_lost:,}, right {count.right_lost:,}"
        if of:
            title = f"{count.kind}: {gone} of {count.before:,} lost"
            again = sum(one.in_other_words for one in of)
            title += f", {again:,} said again in other words" if again else ""
            yield style.paint(style.line(title, style.width), "bold")
            yield from _of_kind(of, style, ref, two)


def _of_kind(of: Sequence[LostAnchorData], style: Style, ref: int, two: bool) -> Iterator[str]:
    telling = sum(bool(one.used_by) or one.who == "user" for one in of)
    shown = min(len(of), max(telling, _MOST))
    for one in of[:shown]:
        mark = {"left": "< ", "right": "> ", "both": "x "}[one.lost_by] if two else ""
        start = f"  {mark}{pad(style.line(one.item, ref), ref)} "
        behind = "  " + style.line(used, style.width) if (used := _used(one)) else ""
        room = max(12, style.width - display_width(start) - display_width(behind))
        yield (start + style.line(one.text, room) + style.paint(behind, "dim")).rstrip()
    if shown < len(of):
        yield style.paint(style.block(f"  … {len(of) - shown:,} more"), "dim")


def _used(one: LostAnchorData) -> str:
    """Which messages behind the place hold it; where none does, how many before it did."""
    again = "in other words" if one.in_other_words else ""
    if not one.used_by:
        uses = f"before the place in {plural(one.uses, 'more message')}" if one.uses else ""
        said = "; ".join(filter(None, (again, uses)))
        return f"({said})" if said else ""
    more = len(one.used_by) - _USERS
    said = "→ " + ", ".join(one.used_by[:_USERS]) + (f" +{more}" if more > 0 else "")
    return f"({again}) {said}" if again else said
