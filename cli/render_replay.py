"""A replayed context as text to read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models import ItemData, ReplayData
from cli.models_whatif import WhatIfData
from cli.render_show import KINDS, full_item
from cli.style import Style, heading, plural, tokens


def render_items(data: ReplayData, style: Style) -> Iterator[str]:
    """Every item in full, with its rendition and who speaks."""
    size = f"{plural(len(data.items), 'item')}, {tokens(data.tokens)} tokens"
    yield style.paint(heading(size, data.key, style, f"@{data.ref}"), "bold")
    kind = KINDS[data.kind]
    if isinstance(data, WhatIfData):
        kind = f"what-if, with {data.strategy}: the recorded messages are kept"
    yield style.line(kind, style.width)
    for item in data.request:
        yield from full_item(ItemData.model_validate(item), style)
