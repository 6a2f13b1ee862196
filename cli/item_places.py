"""One item of a session, and the place at which it is asked about, as a person types them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cli.naming import place, session_key
from eventlog import StreamKey
from eventlog.errors import InputRefused, ItemNotFound
from projections import Live
from projections.context import ITEM_TYPES
from projections.references import Reference, carries, items, place_in
from projections.runs import origin, position_of

_TYPED = re.compile(
    r"#?(?P<item>[1-9]\d{0,17}(?:\.\d{1,9})?)(?:@(?P<rendition>[1-9]\d{0,17}|redacted))?"
    r"(?:@(?P<at>now|c[1-9]\d*|k[1-9]\d*\^?))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """An item, and where."""

    stream: StreamKey
    item: str
    rendition: str
    """``12``, ``12@340`` or ``12@redacted``, as it was asked for."""
    where: Reference


def item_place(live: Live, session: str, typed: str | None, at: str = "") -> ItemPlace:
    """``S 12``, ``S 12@340``, ``S 12@c31``, ``S@c31 12``, ``S@12``, ``S@12@340``; ``at`` apart.

    Raises StreamNotFound, Ambiguous, PositionNotFound, ItemNotFound, InputRefused.
    """
    if typed is None:
        named = place(live, session)
        if named.kind not in ("item", "position"):
            raise InputRefused("which item? name one, such as 12 or 57.0, behind the session")
        stream, text = named.stream, named.rendition or str(named.position)
        found, where = _parsed(text), place_in(live, stream, at.removeprefix("@") or None)
    else:
        found = _parsed(typed)
        where = place(live, session)
        given = found["at"] or at.removeprefix("@")
        if given:
            if where.kind != "now":
                raise InputRefused(f"two places were given: {session} and @{given}")
            where = place_in(live, where.stream, given)
    item, rendition = found["item"], found["rendition"]
    existing(live, where.stream, item)
    label = item
    if rendition:
        label = f"{item}@{rendition}"
        try:
            place_in(live, where.stream, label)
        except ItemNotFound as error:
            error.args = (
                f"event {rendition} carries no rendition of item {item}; "
                f"--at {rendition} asks how it stood after that event",
            )
            raise
    return ItemPlace(where.stream, item, label, where)


def _parsed(text: str) -> dict[str, str]:
    found = _TYPED.fullmatch(text)
    if found is None:
        raise InputRefused(f"{text[:60]!r} is not an item such as 12, 57.0, 12@340 or 12@c31")
    return {name: value or "" for name, value in found.groupdict().items()}


def existing(live: Live, stream: StreamKey, item: str) -> None:
    """Raises ItemNotFound, which says what stands there instead."""
    try:
        items(live, stream, [item])
    except ItemNotFound as error:
        at = position_of(origin(item))
        event = live.log.at(stream, [at]).get(at)
        if event is None:
            error.args = (f"{error}; it ends at {live.log.version(stream)}",)
        elif event.type not in ITEM_TYPES or "." in item:
            kind = event.type.replace("_", " ")
            error.args = (f"event {at} of {str(stream)!r} is a {kind}: there is no item {item}",)
        raise


def items_of(live: Live, session: str, typed: list[str]) -> tuple[StreamKey, list[str]]:
    """Items that were typed behind a session, or in it: ``S 12 57.0``, ``S 12-20``, ``S@12``.

    A rendition is taken for its item. Raises what ``item_place`` raises.
    """
    if typed:
        stream = session_key(live, session)
        plain = [_bare(live, stream, text) for text in typed]
        for text in plain:
            if _TYPED.fullmatch(text):
                existing(live, stream, text.removeprefix("#"))
        return stream, items(live, stream, plain)
    named = place(live, session)
    if named.kind not in ("item", "position"):
        return named.stream, []
    item = named.item or str(named.position)
    existing(live, named.stream, item)
    return named.stream, [item]


def _bare(live: Live, stream: StreamKey, text: str) -> str:
    """``12`` of ``12@340``, where that is a rendition of it."""
    found = _TYPED.fullmatch(text)
    if found is None or not found["rendition"] or found["at"]:
        return text
    if found["rendition"] != "redacted":
        at = int(found["rendition"])
        carrier = live.log.at(stream, [at]).get(at)
        if carrier is None or not carries(carrier, found["item"]):
            raise ItemNotFound(str(stream), text)
    return found["item"]
