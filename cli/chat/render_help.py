"""The commands of a chat, as text. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cli.style import Style, pad

if TYPE_CHECKING:
    from cli.chat.slash import Slash

_MOST = 34
"""Columns of a command with what it takes, in a wide terminal."""

KEYS = (
    ("Ctrl-C", "stops an answer, a tool or a question; at the prompt twice: leaves"),
    ("Ctrl-D", "leaves"),
    ('"""', "begins and ends a message of several lines"),
    ("//", "begins a message that begins with a /"),
)


def render_help(commands: Iterable[Slash], style: Style) -> Iterator[str]:
    """A line each, what it takes and what it does; then the keys."""
    rows = [(f"/{each.name} {each.takes}".rstrip(), each.about) for each in commands]
    size = min(max(len(name) for name, _ in rows), _MOST, style.width // 3)
    for name, about in (*rows, ("", ""), *KEYS):
        if not name:
            yield ""
            continue
        start = f"  {pad(name, size)}  "
        if len(name) > size:
            yield f"  {name}"
            start = " " * (size + 4)
        yield from textwrap.wrap(
            about, style.width, initial_indent=start, subsequent_indent=" " * (size + 4)
        )
