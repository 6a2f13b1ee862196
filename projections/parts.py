"""The parts of an answer that clients send back one by one.

An answer of OpenAI's Responses API is one event with all its output items. A request holds them as
entries of their own: then each is a part, an item with the same id and the message of one of them.
Of an erased answer no parts are left: each is shown as the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eventlog import messages
from projections import runs
from projections.items import Item
from projections.manifest import Piece
from projections.runs import Standing

_DIALECT = "openai_responses"


def parted(items: Iterable[Item]) -> list[Item]:
    """The items, an answer of several parts as each of them."""
    found: list[Item] = []
    for item in items:
        natives = _natives(item)
        if natives is None:
            found.append(item)
        else:
            found += (_part(item, natives, number) for number in range(len(natives)))
    return found


def part_of(item: Item, piece: Piece) -> Item:
    """The item, or the part of it that a piece names."""
    if piece.part is None:
        return item
    natives = _natives(item)
    return (
        item if natives is None or piece.part >= len(natives) else _part(item, natives, piece.part)
    )


def stood(pieces: Sequence[Piece], items: Sequence[Item]) -> list[Standing]:
    """What stands in a context that holds these pieces: an answer where all its parts do, together
    and in their order. ``items`` has one for each piece."""
    if all(piece.part is None and not piece.redacted for piece in pieces):
        return [piece.standing for piece in pieces]
    found: list[Standing] = []
    at = 0
    while at < len(pieces):
        standing, size = group_at(pieces, items, at)
        found += standing
        at += size
    return found


def group_at(
    pieces: Sequence[Piece], items: Sequence[Item | None], at: int
) -> tuple[list[Standing], int]:
    """What the piece at a place stands for, with those behind it that are parts of the same answer;
    and how many pieces that is."""
    piece, item = pieces[at], items[at]
    if piece.part is None:
        return [_standing(piece, item)], 1
    size = _together(pieces, at) if piece.part == 0 else 1
    # A revision had other parts.
    known = 0 if item is None or item.form == "redacted" else item.siblings
    if piece.part == 0 and known in (0, size):
        return [_standing(piece, item)], size
    return [(f"{p.item}/{p.part}", p.rendition) for p in pieces[at : at + size]], size


def _standing(piece: Piece, item: Item | None) -> Standing:
    """What a piece stands for. One that is named as erased is in no rendition but that."""
    if piece.redacted and item is not None and item.form == "redacted":
        return piece.item, runs.REDACTED
    return piece.standing


def _together(pieces: Sequence[Piece], first: int) -> int:
    """How many pieces from there on are the parts of one answer, in their order."""
    size = 1
    while first + size < len(pieces):
        piece = pieces[first + size]
        if piece.part != size or piece.standing != pieces[first].standing:
            break
        size += 1
    return size


def _natives(item: Item) -> list[Mapping[str, Any]] | None:
    found = item.message.get("items") if item.dialect == _DIALECT else None
    if not isinstance(found, list) or not found:
        return None
    return found if all(isinstance(native, Mapping) for native in found) else None


def _part(item: Item, natives: Sequence[Mapping[str, Any]], number: int) -> Item:
    native = natives[number]
    role = messages.role(_DIALECT, native)
    kind = "tool_result" if role == "tool" else item.kind
    return replace(item, kind=kind, role=role, message=native, part=number, siblings=len(natives))
