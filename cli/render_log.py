"""The timeline as text. Pure: data and a style in, lines out."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models_log import TimelineData, TimelineRow
from cli.safetext import display_width
from cli.style import RULE, Style, heading, pad, pad_left, plural, short, shrunk, tokens
from projections.session_names import is_memory

GUTTER = {"context": "●", "left": "○", "folded": "Σ", "placeholder": "✂", "never": "–"}
"""What each state is shown as."""

LEGEND = (
    ("●", "stands in the context"),
    ("✂", "stands there as a placeholder"),
    ("Σ", "folded into a summary"),
    ("○", "left the context"),
    ("–", "never in a context"),
)

_COLORS = {"context": "cyan", "left": "dim", "folded": "magenta", "placeholder": "yellow"}
_ITEMS = frozenset({"message_appended", "tool_result_recorded"})
_WHO = 12


def legend() -> str:
    """The signs on one line."""
    return " · ".join(f"{sign} {meaning}" for sign, meaning in LEGEND)


def render_log(data: TimelineData, style: Style) -> Iterator[str]:
    """The session's head, then one line a row."""
    yield style.paint(head(data, style), "bold")
    yield from render_rows(data, style)


def render_rows(data: TimelineData, style: Style) -> Iterator[str]:
    """One line a row."""
    rows = [row for row in data.rows if _is_item(row)]
    ref = max([3, *(display_width(row.ref) for row in rows)])
    calls = max([0, *(len(f"c{row.call}") for row in rows if row.call)])
    size = max([4, *(display_width(_size(row)) for row in rows)])
    for row in data.rows:
        if _is_item(row):
            yield _item(row, style, ref, calls, size)
        elif row.type == "context_compacted":
            yield _compaction(row, style)
        else:
            yield _event(row, style)


def head(data: TimelineData, style: Style) -> str:
    """What its context holds at the point asked, and which session it is."""
    point = "" if data.at == data.version else f" at {data.at} of {data.version}"
    front = f"context{point}: {plural(data.items, 'item')}, {tokens(data.tokens)} tokens"
    if is_memory(data.key):  # nothing of it is in any context
        front = f"remembered{point}: {plural(data.at, 'event')}"
    return heading(_shown(data) + front, data.key, style)


def _shown(data: TimelineData) -> str:
    """Which rows are shown, where that is not all: what the head says is of the whole context."""
    rows = []
    if data.more:
        rows.append(f"last {plural(len(data.rows), 'row')}")
    if data.last is not None:
        alone = data.last == data.first
        rows.append(f"position {data.last}" if alone else f"positions {data.first}-{data.last}")
    elif data.first > 1:
        rows.append(f"positions from {data.first} on")
    return f"{' of '.join(rows)}; " if rows else ""


def _is_item(row: TimelineRow) -> bool:
    return row.type in _ITEMS or (
        row.type in ("context_compacted", "repair_applied") and "." in row.ref
    )


def _size(row: TimelineRow) -> str:
    if row.shown_tokens is not None and row.state == "placeholder" and row.tokens is not None:
        return _sizes(row)
    return short(row.tokens) if row.tokens is not None else ""


def _sizes(row: TimelineRow) -> str:
    return f"{short(row.tokens or 0)}→{short(row.shown_tokens or 0)}"


def _item(row: TimelineRow, style: Style, ref: int, calls: int, size: int) -> str:
    sign = style.paint(GUTTER[row.state], _COLORS.get(row.state, "dim"))
    who_width = _WHO if style.width >= 72 else 9
    start = f" {sign} {pad_left(style.line(row.ref, ref), ref)} "
    plain = 3 + ref + 1
    if calls:
        call = f"c{row.call}" if row.call else ""
        start += style.paint(pad(call, calls), "dim") + " "
        plain += calls + 1
    name = pad(style.line(row.who, who_width), who_width)
    start += style.paint(name, "bold" if row.who in ("user", "summary") else "dim") + " "
    plain += who_width + 1
    marks = ("(pinned) " if row.pinned else "") + ("(erased) " if row.erased else "")
    marks += f"↳ {', '.join(row.started)} " if row.started else ""
    room = style.width - plain - size - 1
    text = style.line(marks + row.preview, room)
    if row.state in ("left", "folded"):
        shown = style.paint(pad(text, room), "dim")
    else:
        shown = pad(text, room)
    return f"{start}{shown} {style.paint(pad_left(_size(row), size), 'dim')}".rstrip()


def _compaction(row: TimelineRow, style: Style) -> str:
    why = f" ({row.preview})" if row.preview else ""
    items = plural(row.items or 0, "item")
    gone = f"{items} {'folded' if row.brought else 'dropped'}"
    erased = " · summary erased" if row.summary_erased else ""
    if row.reordered:
        return style.rule(f"{row.ref} put in another order{why}", "magenta")
    full, brief = shrunk(row), shrunk(row, brief=True)
    texts = (
        f"{row.ref} compacted{why} {full} · {gone}{erased}",
        f"{row.ref} compacted{why} {brief} · {gone}{erased}",
        f"{row.ref} {brief} · {items}{why}{erased}",
    )
    fitting = (text for text in texts if display_width(text) <= style.width - RULE)
    return style.rule(next(fitting, texts[-1]), "magenta")


def _event(row: TimelineRow, style: Style) -> str:
    if row.type == "model_called":
        return _call(row, style)
    if row.type == "placeholder_substituted":
        item = row.rendition.split("@")[0] if row.rendition is not None else ""
        what = f"item {item}" if item else plural(row.items or 1, "item")
        size = f" · {_sizes(row)} tokens" if item else ""
        return style.rule(f"{row.ref} {what} {row.preview}{size}", "yellow")
    if row.type in ("session_rewound", "decision_undone", "session_forked", "model_failed"):
        return style.rule(f"{row.ref} {row.preview}", "yellow")
    text = style.line(f"{GUTTER['never']} {row.ref} {row.preview}", style.width - 1)
    return style.paint(f" {text}", "dim")


def _call(row: TimelineRow, style: Style) -> str:
    given = f"{plural(row.items or 0, 'item')} {tokens(row.tokens)}"
    counted = f" · provider {short(row.billed)}" if row.billed is not None else ""
    texts = (
        f"{row.ref} {row.preview} · given {given} tokens{counted} · {row.outcome}",
        f"{row.ref} {given}{counted} · {row.outcome} · {row.preview}",
    )
    fitting = (text for text in texts if display_width(text) <= style.width - RULE)
    return style.rule(next(fitting, texts[-1]), "blue")
