"""What a search found as text: one line a hit. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cli.models_search import HitData, SearchData
from cli.render_sessions import when
from cli.safetext import display_width, safe_text
from cli.style import Style, ascii_text, listed, pad, typed

SIGNS = {
    "visible": "●",
    "cut": "✂",
    "cleared": "✂",
    "deduplicated": "✂",
    "replaced": "✂",
    "folded": "Σ",
    "dropped": "○",
    "rewound": "○",
    "undone": "○",
    "never": "–",
    "unknown": "?",
}
"""What each state is shown as: the signs of ``log``."""

_COLORS = {"●": "cyan", "✂": "yellow", "Σ": "magenta"}
_WHO = 12
_NARROW = 88
"""Columns below which the time is left out."""

_LEAST = 24
"""Columns of a text in which a match can be told; where not even these are left, others go."""


def render_search(data: SearchData, style: Style, names: Mapping[str, str]) -> Iterator[str]:
    """One line a hit: what became of it, session, item, call, who, when, and a little text."""
    rows = data.hits
    several = data.session is None
    session = max([0, *(display_width(_name(row, names, style)) for row in rows)]) if several else 0
    by = max([0, *(len(row.by or "") for row in rows)])
    ref = max([3, *(display_width(row.ref) for row in rows)])
    calls = max([0, *(len(f"c{row.call}") for row in rows if row.call)])
    who = _WHO if style.width >= _NARROW else 9
    fixed = (by + 2 if by else 1) + ref + (session + 1 if several else 0) + 3
    parts = {"when": 16 if style.width >= _NARROW else 0, "call": calls, "who": who}
    for name in parts:
        if style.width - fixed - sum(width + 1 for width in parts.values() if width) < _LEAST:
            parts[name] = 0
    calls, who = parts["call"], parts["who"]
    for row in rows:
        sign = SIGNS[row.state]
        state = f"{sign} {row.by or ''}" if by else sign
        cells = [style.paint(pad(state, by + 2 if by else 1), _color(sign))]
        if several:
            cells.append(style.paint(pad(_name(row, names, style), session), "bold"))
        cells.append(pad(style.line(row.ref, ref), ref))
        if calls:
            cells.append(style.paint(pad(f"c{row.call}" if row.call else "", calls), "dim"))
        if who:
            cells.append(style.paint(pad(style.line(_who(row), who), who), "dim"))
        widths = [by + 2 if by else 1, ref, *([session] if several else [])]
        widths += [width for width in (who, calls) if width]
        if parts["when"]:
            cells.append(style.paint(pad(when(row.happened_at), 16), "dim"))
            widths.append(16)
        room = style.width - 1 - sum(widths) - len(widths)
        yield f" {' '.join(cells)} {marked(row, style, room)}".rstrip()


def _color(sign: str) -> str:
    return _COLORS.get(sign, "dim")


def _name(row: HitData, names: Mapping[str, str], style: Style) -> str:
    return listed(names.get(row.key, row.key), style)


def _who(row: HitData) -> str:
    return f"→ {row.who}" if row.area == "input" else row.who


def marked(row: HitData, style: Style, room: int) -> str:
    """The snippet in so many columns, its matches in brackets, or in colour where there is colour.

    Where there is little room the text in front of the first match goes first.
    """
    pieces: list[tuple[str, bool]] = []
    last = 0
    for start, end in row.marks:
        pieces += [(row.snippet[last:start], False), (row.snippet[start:end], True)]
        last = end
    pieces.append((row.snippet[last:], False))
    front = _safe(pieces[0][0], style)
    # A third of the room: behind the match mostly stands what is looked for.
    shown = _end_of(front, max(room // 3, 1)) if len(pieces) > 1 else ""
    left = room - display_width(shown)
    out = [shown] if len(pieces) > 1 else []
    for text, is_match in pieces[1:] if len(pieces) > 1 else pieces:
        if left <= 0:
            break
        brackets = is_match and not style.color
        if left < 4 and brackets:
            out.append("…")
            break
        safe = _safe(text, style)
        fitting = _beginning_of(safe, left - 2 * brackets)
        left = left - display_width(fitting) - 2 * brackets if fitting == safe else 0
        if is_match:
            fitting = f"[{fitting}]" if brackets else style.paint(fitting, "yellow")
        out.append(fitting)
    return "".join(out)


def _safe(text: str, style: Style) -> str:
    if style.ascii:
        return ascii_text(style.translated(safe_text(text, newlines=False)))
    return safe_text(text, newlines=False)


def _units(text: str) -> list[str]:
    r"""Characters, and escapes such as ``\u{1b}``, which are never cut."""
    units: list[str] = []
    at = 0
    while at < len(text):
        end = text.find("}", at) + 1 if text.startswith("\\u{", at) else 0
        step = end - at if 0 < end - at <= 10 else 1
        units.append(text[at : at + step])
        at += step
    return units


def _beginning_of(text: str, room: int) -> str:
    if display_width(text) <= room:
        return text
    kept, left = [], room - 1
    for unit in _units(text):
        left -= display_width(unit)
        if left < 0:
            break
        kept.append(unit)
    return "".join(kept) + ("…" if room > 0 else "")


def _end_of(text: str, room: int) -> str:
    if display_width(text) <= room:
        return text
    kept, left = [], room - 1
    for unit in reversed(_units(text)):
        left -= display_width(unit)
        if left < 0:
            break
        kept.append(unit)
    return "…" + "".join(reversed(kept))


def references(data: SearchData, names: Mapping[str, str]) -> Iterator[str]:
    """``S@ITEM`` of each hit, as it is typed."""
    for row in data.hits:
        yield typed(f"{safe_text(names.get(row.key, row.key), newlines=False)}@{row.ref}")
