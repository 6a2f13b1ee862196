"""One item of a session, and the place at which it is asked about, as a person types them."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from cli.naming import place, session_key, short_names
from cli.occurrences import name_of
from cli.saying import noun
from cli.style import typed
from eventlog import StreamKey
from eventlog.errors import InputRefused, ItemNotFound, NotFound
from projections import Live
from projections.context import ITEM_TYPES
from projections.references import Reference, carries, items, place_in
from projections.runs import origin, position_of

_TYPED = re.compile(
    r"#?(?P<item>[1-9]\d{0,17}(?:\.\d{1,9})?)(?:@(?P<rendition>[1-9]\d{0,17}|redacted))?"
    r"(?:@(?P<at>now|c[1-9]\d*|k[1-9]\d*\^?))?",
    re.ASCII,
)

_OCCURRENCE = re.compile(r"@?(c[1-9]\d*|k[1-9]\d*\^?)", re.ASCII)
"""A call or a compaction, which is no item."""


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """An item, and where."""

    stream: StreamKey
    item: str
    rendition: str
    """``12``, ``12@340`` or ``12@redacted``, as it was asked for."""
    where: Reference


def item_place(live: Live, session: str, asked: str | None, at: str = "") -> ItemPlace:
    """``S 12``, ``S 12@340``, ``S 12@c31``, ``S@c31 12``, ``S@12``, ``S@12@340``; ``at`` apart.

    Raises StreamNotFound, Ambiguous, PositionNotFound, ItemNotFound, InputRefused.
    """
    if asked is None:
        named = place(live, session)
        if named.kind not in ("item", "position"):
            hint = ""
            if named.kind != "now":
                event = named.position + (named.kind in ("call", "before_compaction"))
                hint = f": {_instead(live, named.stream, event)}"
            raise InputRefused(
                f"which item? name one, such as 12 or 57.0, behind the session{hint}"
            )
        stream, text = named.stream, named.rendition or str(named.position)
        found = _parsed(live, stream, text)
        where = place_in(live, stream, at.removeprefix("@") or None)
    else:
        where = place(live, session)
        found = _parsed(live, where.stream, asked)
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


def _parsed(live: Live, stream: StreamKey, text: str) -> dict[str, str]:
    """Raises InputRefused; for a call or a compaction it says which items belong to that."""
    found = _TYPED.fullmatch(text)
    if found is None:
        _no_occurrence(live, stream, text)
        raise InputRefused(f"{text[:60]!r} is not an item such as 12, 57.0, 12@340 or 12@c31")
    return {name: value or "" for name, value in found.groupdict().items()}


def _no_occurrence(live: Live, stream: StreamKey, text: str) -> None:
    if _OCCURRENCE.fullmatch(text):
        where = place_in(live, stream, text.removeprefix("@").removesuffix("^"))
        at = where.position + (where.kind == "call")
        raise InputRefused(f"{text} is no item: {_instead(live, stream, at)}")


def existing(live: Live, stream: StreamKey, item: str) -> None:
    """Raises ItemNotFound, which says what stands there instead, or in which session it is."""
    try:
        items(live, stream, [item])
    except ItemNotFound as error:
        at = position_of(origin(item))
        if live.log.at(stream, [at]).get(at) is not None:
            error.args = (f"{str(stream)!r} has no item {item}: {_instead(live, stream, at)}",)
        else:
            ends = f"it ends at {live.log.version(stream)}"
            error.args = (f"{error}; {_elsewhere(live, stream, item) or ends}",)
        raise


def _instead(live: Live, stream: StreamKey, at: int) -> str:
    """What an event is that is no item, and which items belong to it."""
    event = live.log.at(stream, [at])[at]
    what = noun(event, lambda what: name_of(live, stream, what))
    said = f"event {at} is {what}"
    belong: list[str] = []
    if event.type == "context_compacted":
        belong = [f"{at}.{n}" for n in range(len(event.data.get("messages", ())))]
        said += f", which brought in {', '.join(belong) or 'no message'}"
    elif event.type in ("model_called", "model_responded", "model_failed"):
        call = at if event.type == "model_called" else event.data.get("call")
        answers = live.log.read(stream, types=["message_appended"], containing=f'"call":{call}')
        belong = [str(one.position) for one in answers if one.data.get("call") == call]
        said += f", and {', '.join(belong)} came of it" if belong else ", and no answer came of it"
    elif event.type in ITEM_TYPES:
        return f"{at} is one item, without parts"
    return said


def _elsewhere(live: Live, stream: StreamKey, item: str) -> str:
    """Of an item that a parent or a fork of the session has: in which it is."""
    streams = live.log.streams()
    family = {stream}
    parent = live.log.stream(stream).parent
    while parent is not None:
        family.add(parent)
        parent = live.log.stream(parent).parent
    family |= {info.key for info in streams if info.parent in family}
    found: list[str] = []
    for key in sorted(family - {stream}):
        with contextlib.suppress(NotFound):
            items(live, key, [item])
            found.append(str(key))
    if not found:
        return ""
    names = short_names(live, [str(key) for key in family])
    return f"there is one in {' and in '.join(typed(names[key]) for key in found[:3])}"


def items_of(live: Live, session: str, asked: list[str]) -> tuple[StreamKey, list[str]]:
    """Items that were typed behind a session, or in it: ``S 12 57.0``, ``S 12-20``, ``S@12``.

    A rendition is taken for its item. Raises what ``item_place`` raises.
    """
    if asked:
        stream = session_key(live, session)
        plain = [_bare(live, stream, text) for text in asked]
        for text in plain:
            _no_occurrence(live, stream, text)
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
