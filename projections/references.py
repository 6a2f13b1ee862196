"""How people name a session and a place in it: ``S``, ``S@REF``.

A session is named by its full key, its session id, a short form of that (4 characters or more, as
in ``session_names``), its exact title, or ``last``, ``last~1`` … A place is written behind the last
``@`` whose right side is one; session names may hold ``@`` themselves:

    @12       after event 12           @57.0, @12@340   an item, a rendition of one
    @c5       what call 5 was given    @k1, @k1^        after compaction 1, just before it
    @now      the end, which is also what no place at all means

``last`` is always the newest: a session that came with such an id goes by its full key. Those of
sub-agents and of tests of prompts are passed over, unless nothing else is there. What is remembered
of a person is no session: its stream is named by its full key, ``user/_/memory``, and nothing else.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from eventlog.errors import (
    Ambiguous,
    EventInvalid,
    InputRefused,
    ItemNotFound,
    NotFound,
    PositionNotFound,
    StreamNotFound,
)
from eventlog.recorded import RecordedEvent, StreamKey
from projections import session_rows as rows
from projections.context import ITEM_TYPES
from projections.live import Live
from projections.memory.stream import is_memory_stream
from projections.session_names import LAST, is_last, matching, near, shortest
from projections.session_rows import SessionRow
from projections.sessions import session_query
from projections.titles import clean

Kind = Literal["now", "position", "item", "call", "compaction", "before_compaction"]

SHORTEST_PREFIX = 4

_PLACE = re.compile(
    r"(?P<now>now)|c(?P<call>[1-9]\d*)|k(?P<compaction>[1-9]\d*)(?P<before>\^?)"
    r"|(?P<item>[1-9]\d*\.\d+)|(?P<of>[1-9]\d*(?:\.\d+)?)@(?P<rendition>[1-9]\d*|redacted)"
    r"|(?P<position>\d+)",
    re.ASCII,
)
_ITEM = re.compile(r"#?([1-9]\d*(?:\.\d+)?)", re.ASCII)
_RANGE = re.compile(r"#?([1-9]\d*)-#?([1-9]\d*)", re.ASCII)
_MAX_DIGITS = 15

_TITLE = 40
"""Characters of a title in an error."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in a session."""

    stream: StreamKey
    kind: Kind
    position: int
    """Contexts are asked for at this position: of an item, of the event that carries it; of a call,
    just before it."""
    item: str = ""
    rendition: str = ""
    """``12``, ``12@340`` or ``12@redacted``."""
    number: int = 0
    """Of a call or a compaction."""


def is_place(text: str) -> bool:
    """Whether a text behind ``@`` is read as a place in a session."""
    return _PLACE.fullmatch(text) is not None


# -- text ---------------------------------------------------------------------------------------


def parse(text: str) -> tuple[str, str | None]:
    """The session and the place that a text names, by its form alone; None without a place.

    ``S@12@340`` is rendition 340 of item 12. ``resolve`` also knows which sessions exist.
    """
    return next(_splits(text))


def _splits(text: str) -> Iterator[tuple[str, str | None]]:
    """Every way to read a text, the likeliest first."""
    pieces = text.split("@")
    for count in (2, 1):
        if len(pieces) > count:
            session, place = "@".join(pieces[:-count]), "@".join(pieces[-count:])
            if session and _PLACE.fullmatch(place):
                yield session, place
    yield text, None


def reads_otherwise(name: str) -> bool:
    """Whether a session id would be read as something else: ``last``, ``c5``, ``a@12``."""
    return bool(is_last(name) or _PLACE.fullmatch(name) or parse(name)[1] is not None)


# -- sessions -----------------------------------------------------------------------------------


def find_session(live: Live, text: str) -> StreamKey:
    """The one session that a text names: key, id, ``last``, short id, exact title.

    A fork that has no title of its own is not found by its parent's. What nobody spoke with, a
    sub-agent or a test of a prompt, is ``last`` only where nothing else is there. Sessions with a
    tombstone are found by their key or id only.

    Raises StreamNotFound, and Ambiguous with the list.
    """
    found = _exact(live, text)
    return found if found is not None else _loose(live, text)


def _exact(live: Live, text: str) -> StreamKey | None:
    if is_last(text) or text != clean(text):  # no id holds half of a character
        return None
    with contextlib.suppress(EventInvalid, StreamNotFound):
        return live.log.stream(text).key
    return _only(text, rows.with_id(live.log.query, text))


def _loose(live: Live, text: str) -> StreamKey:
    query, text = session_query(live), clean(text)
    last = LAST.fullmatch(text)
    if last is not None:
        return _last(query, int(last[1] or 0), text)
    if len(text) >= SHORTEST_PREFIX:
        keys = rows.beginning(query, text)
        names = set(matching(text, map(_id, keys)))
        found = _only(text, [key for key in keys if _id(key) in names])
        if found is not None:
            return found
    if text:
        found = _only(text, [row.key for row in rows.titled(query, text)])
        if found is not None:
            return found
    hint = _hint(text)
    near = () if hint else _near(text.rpartition("/")[2], rows.newest(query))
    error = StreamNotFound(text, near, hint)
    if 0 < len(text) < SHORTEST_PREFIX and rows.beginning(query, text):
        needed = f"at least {SHORTEST_PREFIX} characters of its id are needed"
        error.args = (f"no session {text!r}: {needed}",)
    raise error


def _near(text: str, sessions: Sequence[SessionRow]) -> list[str]:
    """Sessions that may have been meant, as they can be typed, with their titles."""
    ids = [_id(session.key) for session in sessions]
    count = Counter(ids)
    short = shortest(ids)
    found = []
    for at in near(text, [(ids[n], s.own_title or "") for n, s in enumerate(sessions)]):
        is_enough = count[ids[at]] == 1 and not is_last(short[at])
        name = short[at] if is_enough else sessions[at].key
        title = " ".join((sessions[at].own_title or "").split())
        cut = title if len(title) <= _TITLE else title[: _TITLE - 1] + "…"
        found.append(f"{name} ({cut})" if cut else name)
    return found


def _hint(text: str) -> str:
    """What somebody seems to have typed in place of a session."""
    if _PLACE.fullmatch(text.removeprefix("@").removeprefix("#")) and text:
        return f"if {text} is an item or a place, the session is typed in front of it"
    return ""


def _id(key: str) -> str:
    return key.split("/", 2)[2]


def _only(name: str, keys: Sequence[str]) -> StreamKey | None:
    if len(keys) > 1:
        raise Ambiguous(name, sorted(keys))
    return StreamKey.parse(keys[0]) if keys else None


def _last(query: rows.Query, back: int, text: str) -> StreamKey:
    subagents = tests = False
    many = rows.count(query, subagents=False, tests=False)
    if not many:
        tests, many = True, rows.count(query, subagents=False)
    if not many:
        subagents, many = True, rows.count(query)
    found = rows.newest(query, skip=back, limit=1, subagents=subagents, tests=tests)
    if not found:
        error = StreamNotFound(text)
        error.args = (
            f"no session {text!r}: there {'is' if many == 1 else 'are'} {many:,}, so the oldest is "
            f"last~{many - 1}"
            if many
            else f"no session {text!r}: the log has none yet",
        )
        raise error
    return StreamKey.parse(found[0].key)


# -- places -------------------------------------------------------------------------------------


def resolve(live: Live, text: str) -> Reference:
    """The place that a text names.

    A session that is named exactly is taken before one that is named by a prefix or a title, and a
    shorter session name before one that holds an ``@``.

    Raises StreamNotFound, Ambiguous, PositionNotFound and ItemNotFound, which say what there is,
    and InputRefused where what stands behind the ``@`` is no reference.
    """
    splits = list(_splits(text))
    for session, place in splits:
        key = _exact(live, session)
        if key is not None:
            return place_in(live, key, place)
    missing: NotFound | None = None
    for session, place in splits:
        try:
            key = _loose(live, session)
        except StreamNotFound as error:
            missing = missing or error
            continue
        return place_in(live, key, place)
    assert missing is not None
    session, at, place = text.rpartition("@")
    if at and len(splits) == 1:
        with contextlib.suppress(NotFound):
            find_session(live, session)
            raise InputRefused(
                f"{place!r} is no place in a session: 12, 57.0, 12@340, c5, k1, k1^ and now are"
            )
    raise missing


def place_in(live: Live, stream: StreamKey, place: str | None) -> Reference:
    """The place in a session that is written ``12``, ``57.0``, ``12@340``, ``c5``, ``k1^`` …

    Raises StreamNotFound, PositionNotFound, ItemNotFound, InputRefused.
    """
    stream = live.log.stream(stream).key
    version = live.log.version(stream)
    match = _PLACE.fullmatch("now" if place is None else place)
    if match is None:
        raise InputRefused(f"{place!r} is no place in a session: 12, 57.0, 12@340, c5, k1 or k1^")
    if match["now"]:
        return Reference(stream, "now", version)
    if match["call"]:
        number = _number(match["call"])
        at = live.position(stream, "c", number) - 1
        return Reference(stream, "call", at, number=number)
    if match["compaction"]:
        number = _number(match["compaction"])
        at = live.position(stream, "k", number)
        if match["before"]:
            return Reference(stream, "before_compaction", at - 1, number=number)
        return Reference(stream, "compaction", at, number=number)
    if match["position"]:
        at = _number(match["position"])
        if not 1 <= at <= version:
            hint = f"it ends at {version}" if at else "the first is 1"
            raise PositionNotFound(str(stream), f"position {_typed(match['position'])}", hint)
        return Reference(stream, "position", at)
    if match["item"]:
        item = match["item"]
        return Reference(stream, "item", _origin(live, stream, item).position, item, item)
    return _rendition(live, stream, match["of"], match["rendition"])


def _number(digits: str) -> int:
    """Of hostile length, a number that no log has."""
    return int(digits[: _MAX_DIGITS + 1])


def _typed(digits: str) -> str:
    """A number as it was typed, in an error."""
    return digits if len(digits) <= _TITLE else f"{digits[: _TITLE - 1]}…"


def _origin(live: Live, stream: StreamKey, item: str) -> RecordedEvent:
    """The event that brought the item in. Raises ItemNotFound."""
    origin, dot, index = item.partition(".")
    at = _number(origin)
    event = live.log.at(stream, [at]).get(at)
    if event is not None and not dot and event.type in ITEM_TYPES:
        return event
    if event is not None and dot:
        field = {"context_compacted": "messages", "repair_applied": "inserted"}.get(event.type)
        if field is not None and _number(index) < len(event.data.get(field, ())):
            return event
    raise ItemNotFound(str(stream), item)


def _rendition(live: Live, stream: StreamKey, item: str, rendition: str) -> Reference:
    label = f"{item}@{rendition}"
    if is_memory_stream(stream):
        return _memory(live, stream, item, rendition)
    event = _origin(live, stream, item)
    if rendition == "redacted":
        if not event.erased:
            raise ItemNotFound(str(stream), label)
        return Reference(stream, "item", event.position, item, label)
    at = _number(rendition)
    carrier = live.log.at(stream, [at]).get(at)
    if carrier is None or not carries(carrier, item):
        raise ItemNotFound(str(stream), label)
    return Reference(stream, "item", at, item, label)


def _memory(live: Live, stream: StreamKey, memory: str, rendition: str) -> Reference:
    """A memory as an event revised it: that event. Raises ItemNotFound."""
    at = _number(rendition) if rendition.isdecimal() else 0
    event = live.log.at(stream, [at]).get(at)
    if event is None or event.type != "memory_revised" or str(event.data["memory"]) != memory:
        raise ItemNotFound(str(stream), f"{memory}@{rendition}")
    return Reference(stream, "position", at)


def carries(event: RecordedEvent, item: str) -> bool:
    """Whether an event carries a later rendition of an item."""
    if event.type in ("placeholder_substituted", "message_revised"):
        return bool(event.data.get("item") == item)
    if event.type == "repair_applied":
        return any(rename["item"] == item for rename in event.data.get("renamed", ()))
    return False


def items(live: Live, stream: StreamKey, texts: Iterable[str]) -> list[str]:
    """The items that a person typed: ``12``, ``#12``, ``57.0``, ``12-20``, ``12,57.0``.

    A range is of whole-number items and needs one at least. In the order of typing, each once.
    Raises StreamNotFound, ItemNotFound, InputRefused.
    """
    live.log.stream(stream)
    found: dict[str, None] = {}
    for word in (word for text in texts for word in text.replace(",", " ").split()):
        single, several = _ITEM.fullmatch(word), _RANGE.fullmatch(word)
        if single is not None:
            _origin(live, stream, single[1])
            found[single[1]] = None
        elif several is not None:
            low, high = _number(several[1]), _number(several[2])
            headers = live.log.headers(stream, low - 1, high) if low <= high else []
            inside = [str(h.position) for h in headers if h.type in ITEM_TYPES]
            if not inside:
                raise ItemNotFound(str(stream), f"from {low} to {high}")
            found.update(dict.fromkeys(inside))
        else:
            raise InputRefused(f"{word!r} is not an item such as 12, 57.0 or 12-20")
    return list(found)
