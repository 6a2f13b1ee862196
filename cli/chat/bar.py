"""Who takes how much of the context, as one bar. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.models import ItemData
from cli.style import Style, short, tokens

_ROLES = {
    "system": ("█", "magenta"),
    "user": ("▓", "cyan"),
    "assistant": ("▒", "blue"),
    "tool": ("░", "yellow"),
    "summary": ("═", "bold"),
}
"""Each has a sign of its own; colour only adds to it."""
_OTHER = "user"
_MOST = 60
_FREE = "·"


def role_of(item: ItemData) -> str:
    """Who of the bar's an item belongs to."""
    if item.kind == "summary":
        return "summary"
    if item.kind == "tool_result":
        return "tool"
    role = "system" if item.role == "developer" else item.role
    return role if role in _ROLES else _OTHER


def render_bar(items: Sequence[ItemData], window: int | None, style: Style) -> Iterator[str]:
    """A bar of the window, or where that is not known of the context, and what its signs are."""
    sums = dict.fromkeys(_ROLES, 0)
    for item in items:
        sums[role_of(item)] += item.tokens
    total = sum(sums.values())
    cells = max(10, min(_MOST, style.width - 4))
    whole = max(total, window or 0)
    if not whole:
        return
    bar, reached, drawn = "", 0, 0
    for role, (sign, colour) in _ROLES.items():
        reached += sums[role]
        count = max(round(cells * reached / whole) - drawn, int(sums[role] > 0))
        count = min(count, cells - drawn)
        drawn += count
        bar += style.paint(style.translated(sign * count), colour)
    free = style.paint(style.translated(_FREE * (cells - drawn)), "dim")
    yield f" {bar}{free}"
    told = [
        style.translated(f"{_ROLES[role][0]} {role} {tokens(count)}")
        for role, count in sums.items()
        if count
    ]
    if window is not None:
        told.append(style.translated(f"{_FREE} free {tokens(max(window - total, 0))}"))
        told.append(f"of {short(window)}")
    yield from _wrapped(told, style.width)


def _wrapped(parts: Sequence[str], width: int) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) + 3 > width:
            yield line
            line = ""
        line += f"{'  ' if line else ' '}{part}"
    if line:
        yield line
