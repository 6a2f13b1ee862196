"""What a strategy just did to the context, on one line where that is wide enough. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

from cli.style import Style, plural, tokens
from projections.applying import Change
from projections.runs import position_of

NumberAt = Callable[[int], str]
"""How people call the compaction at a position: ``k7``; empty where there is none."""

_EDITED = ("cut", "cleared", "deduplicated", "revised", "restored")
_UNDONE = {"declined": "nothing changed", "over_budget": "over budget"}
_MOST = 400
"""Columns, over as many lines as they take."""
_UNTOLD = "no gain"
"""Why nothing was done in most cases: it would have saved nothing. Nobody has to know."""


def changed_line(changes: Sequence[Change], style: Style, number_at: NumberAt) -> str:
    """``✂ 1 cut ≈63 → ≈41 · Σ 6 items summarised ≈120 → ≈55 (k7)``; empty where nothing is worth a
    line."""
    told = [*_edited(changes), *_compacted(changes, number_at), *_not_done(changes)]
    if not told:
        return ""
    line = style.line(" · ".join(told), _MOST)
    lines = textwrap.wrap(line, style.width, subsequent_indent="  ")
    return "\n".join(style.paint(each, "dim") for each in lines)


def _edited(changes: Sequence[Change]) -> Iterable[str]:
    for kind in _EDITED:
        found = [each for each in changes if each.kind == kind]
        if found:
            count = sum(len(each.items) for each in found)
            yield f"✂ {count} {kind} {_sizes(found)}"


def _compacted(changes: Sequence[Change], number_at: NumberAt) -> Iterable[str]:
    for each in changes:
        if each.kind not in ("summarised", "dropped"):
            continue
        sign = "Σ" if each.kind == "summarised" else "○"
        name = number_at(position_of(each.messages[0])) if each.messages else ""
        why = f"; {each.reason}" if each.kind == "dropped" and "summary" in each.reason else ""
        behind = f" ({name}{why})" if name else f" ({why[2:]})" if why else ""
        yield f"{sign} {plural(len(each.items), 'item')} {each.kind} {_sizes([each])}{behind}"


def _not_done(changes: Sequence[Change]) -> Iterable[str]:
    told = [
        f"{_UNDONE[each.kind]}: {each.reason}"
        for each in changes
        if each.kind in _UNDONE and each.reason != _UNTOLD
    ]
    for text in dict.fromkeys(told):
        yield f"! {text}"


def _sizes(changes: Sequence[Change]) -> str:
    before, after = sum(c.before for c in changes), sum(c.after for c in changes)
    return f"{tokens(before)} → {tokens(after)}"
