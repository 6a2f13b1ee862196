"""How full the context is, in front of the line that is typed. Pure."""

from __future__ import annotations

from cli.style import Style, short, tokens

CELLS = 5
FULL = 0.8
"""The share of the window over which the gauge is coloured."""


def gauge(count: int, window: int | None, style: Style) -> str:
    """``≈12.4k/128k █░░░░``; without a known window the tokens alone."""
    if window is None:
        return style.translated(style.paint(tokens(count), "dim"))
    share = count / window
    cells = min(CELLS, max(round(CELLS * share), int(count > 0 and share >= 0.05)))
    bar = "█" * cells + "░" * (CELLS - cells)
    text = style.translated(f"{tokens(count)}/{short(window)} {bar}")
    return style.paint(text, "yellow" if share >= FULL else "dim")


def prompt_line(count: int, window: int | None, style: Style) -> str:
    """What stands in front of what a person types."""
    return f"{gauge(count, window, style)} {style.paint(style.translated('›'), 'cyan')} "


def for_readline(prompt: str) -> str:
    """The prompt with its colours marked, so that readline does not count them as columns."""
    parts = prompt.split("\x1b[")
    marked = [parts[0]]
    for part in parts[1:]:
        code, _, rest = part.partition("m")
        marked.append(f"\x01\x1b[{code}m\x02{rest}")
    return "".join(marked)
