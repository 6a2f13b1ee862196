"""A message that carries tool results among other things, taken apart.

Results are stored apart, but a real request may hold a user message with results and text in one,
or the items of an answer with their outputs between them. Such a message is read as pieces, each
either one result or no result at all. A piece is named after the place of its first block:
``12/1``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from projections.items import Item
from projections.reading import only_thinks, says_something


def split(item: Item) -> tuple[Item, ...]:
    """The item itself, when it is one result or has none; else its pieces, blank ones left out."""
    if len(item.parts) < 2 or not item.result_ids:
        return (item,)
    field = "items" if "items" in item.message else "content"
    blocks = item.message.get(field)
    if not isinstance(blocks, list):
        return (item,)
    pieces: list[Item] = []
    run: list[Any] = []
    for place, block in enumerate(blocks):
        if _is_result(item, block):
            if run:
                pieces.append(_rest(item, field, run, place - len(run)))
                run = []
            pieces.append(
                replace(
                    item,
                    id=f"{item.id}/{place}",
                    rendition=f"{item.id}/{place}",
                    kind="tool_result",
                    role="tool",
                    message=block,
                )
            )
        else:
            run.append(block)
    if run:
        pieces.append(_rest(item, field, run, len(blocks) - len(run)))
    return tuple(piece for piece in pieces if says_something(piece) or only_thinks(piece))


def _is_result(item: Item, block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    return any(part.kind == "result" and part.native is block for part in item.parts)


def _rest(item: Item, field: str, blocks: list[Any], place: int) -> Item:
    name = f"{item.id}/{place}"
    message = {**item.message, field: blocks}
    return replace(item, id=name, rendition=name, message=message)
