"""Prompts as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models_prompt import PromptListData, PromptRenderData, PromptRow, PromptShowData
from cli.safetext import display_width
from cli.style import Style, pad

_NAME = 40
"""Columns of a name at most, as long as it is not typed next."""

_LEAST = 12
"""Columns of a description; where not even these are left, it goes."""


def render_prompts(data: PromptListData, style: Style) -> Iterator[str]:
    """One line a template."""
    if not data.prompts:
        return
    rows = [_cells(row, style) for row in data.prompts]
    head = ("prompt", "version", "variables")
    widths = [max(map(display_width, column)) for column in zip(head, *rows, strict=True)]
    room = style.width - sum(widths) - 2 * len(widths)
    titles = [pad(title, width) for title, width in zip(head, widths, strict=True)]
    wide = room >= _LEAST
    yield style.paint("  ".join([*titles, "for"] if wide else titles).rstrip(), "dim")
    for row, cells in zip(data.prompts, rows, strict=True):
        padded = [pad(cell, width) for cell, width in zip(cells, widths, strict=True)]
        about = style.line(row.description, room) if wide else ""
        yield "  ".join([style.paint(padded[0], "bold"), *padded[1:], about]).rstrip()


def _cells(row: PromptRow, style: Style) -> tuple[str, str, str]:
    return (
        style.line(_label(row.name, row.role), max(style.width // 2, _NAME)),
        style.line(row.version or "-", 12),
        style.line(", ".join(row.variables) or "-", max(style.width // 4, 12)),
    )


def render_prompt(data: PromptShowData, style: Style) -> Iterator[str]:
    """One template whole."""
    version = f"  version {data.version}" if data.version else ""
    name = style.line(f"{_label(data.name, data.role)}{version}", style.width)
    yield style.paint(name, "bold")
    if data.description:
        yield style.block(data.description.rstrip("\n"))
    if data.variables:
        yield style.block(f"variables: {', '.join(data.variables)}")
    for title, text in (("system", data.system), ("user", data.user)):
        if text:
            yield style.rule(title)
            yield style.block(text.rstrip("\n"))


def render_rendered(data: PromptRenderData, style: Style) -> Iterator[str]:
    """The messages; of one alone only its text."""
    for message in data.messages:
        if len(data.messages) > 1:
            yield style.rule(message["role"])
        yield style.block(message["content"].rstrip("\n"))


def _label(name: str, role: str) -> str:
    return f"{name}/{role}" if role else name
