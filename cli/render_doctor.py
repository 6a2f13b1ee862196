"""The checks of ``doctor`` as text. Pure: data and a style in, lines out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cli.models_upkeep import CheckData, DoctorData
from cli.style import Style, pad, plural

_COLORS = {"ok": "dim", "warning": "yellow", "problem": "bold"}


def render_doctor(data: DoctorData, style: Style) -> Iterator[str]:
    """A check a line, with what to do below; then how many are not well."""
    room = max(len(check.name) for check in data.checks)
    for check in data.checks:
        yield from _check(check, style, room)
    if data.problems or data.warnings:
        yield f"{plural(data.problems, 'problem')}, {plural(data.warnings, 'warning')}"
    else:
        yield "all is well"


def _check(check: CheckData, style: Style, room: int) -> Iterator[str]:
    start = f"{style.paint(pad(check.state, 7), _COLORS[check.state])}  {pad(check.name, room)}  "
    width = max(20, style.width - room - 11)
    lines = _wrapped(check.message, width, style) or [""]
    blank = " " * (room + 11)
    yield start + lines[0]
    for line in lines[1:]:
        yield blank + line
    if check.advice and check.state != "ok":
        for line in _wrapped(f"→ {check.advice}", width, style, "  "):
            yield blank + line


def _wrapped(text: str, width: int, style: Style, indent: str = "") -> list[str]:
    """In lines; a path is not cut at its hyphens."""
    return textwrap.wrap(style.block(text), width, subsequent_indent=indent, break_on_hyphens=False)
