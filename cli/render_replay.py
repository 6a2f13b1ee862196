"""A replayed context as text to read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models import ReplayData
from cli.style import Style, plural, tokens

_KINDS = {"as_sent": "as sent", "as_sendable": "as sendable"}


def render_items(data: ReplayData, style: Style) -> Iterator[str]:
    """Every item in full, with its rendition and who speaks."""
    size = f"{plural(len(data.items), 'item')}, {tokens(data.tokens)} tokens"
    head = f"{data.key}@{data.ref} · {_KINDS[data.kind]} · {size}"
    yield style.paint(style.line(head, style.width), "bold")
    for item in data.request:
        words = [item["rendition"], item["who"], f"{tokens(item['tokens'])} tokens"]
        if item["form"] != "original":
            words.append(item["form"])
        yield style.rule(" · ".join(words), "cyan")
        yield style.block(item["text"])
