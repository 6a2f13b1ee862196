"""``S`` and ``S@REF`` on the command line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping

from cli.safetext import display_width
from cli.style import pad, typed
from eventlog import RecordedEvent, StreamKey
from eventlog.codec import CLASSES
from eventlog.errors import Ambiguous, EventInvalid, InputRefused
from projections import Live
from projections import session_rows as rows
from projections.memory.stream import is_memory_stream
from projections.references import Reference, find_session, place_in, resolve
from projections.sessions import session_query

_PLACE = re.compile(r"[ck]?\d{1,15}(\.\d{1,9})?\^?")
_SPAN = re.compile(r"(\d{1,15})?(-)?(\d{1,15})?")


def place(live: Live, text: str, at: str = "") -> Reference:
    """The place that a text names; ``at`` is a place given apart.

    Raises StreamNotFound, Ambiguous, PositionNotFound, ItemNotFound, InputRefused.
    """
    with _listing(live):
        if at:
            return place_in(live, find_session(live, text), at.removeprefix("@"))
        return resolve(live, text)


def session_key(live: Live, text: str) -> StreamKey:
    """The session that a text names. Raises StreamNotFound, Ambiguous."""
    with _listing(live):
        return find_session(live, text)


def whole_session(text: str, done: str = "compared") -> str:
    """A session's name without a place in it; ``done`` is what is done to it.

    Raises InputRefused where a place was given.
    """
    name, at, place = text.rpartition("@")
    if at and _PLACE.fullmatch(place):
        raise InputRefused(f"whole sessions are {done}: {name}, without @{place}")
    return text


@contextlib.contextmanager
def _listing(live: Live) -> Iterator[None]:
    """An ambiguous name is told with the names that would not be, a line each."""
    try:
        yield
    except Ambiguous as error:
        query = session_query(live)
        names = short_names(live, error.candidates)
        found = {key: rows.row_of(query, key) for key in error.candidates}
        error.args = (f"{error.name!r} names {len(error.candidates)} sessions:",)
        width = max(display_width(name) for name in names.values())
        for key, row in sorted(found.items(), key=lambda each: each[1] is None or -each[1].updated):
            told = (row.happened_at[:16].replace("T", " "), row.title) if row is not None else ()
            error.add_note("  ".join((pad(names[key], width), *told)).rstrip())
        raise


def check_filters(keys: Iterable[StreamKey], *, agent: str = "", user: str = "") -> None:
    """Refuse an agent or a user of whom no session of the log is: then it is a slip, and an answer
    would blame something else. Raises InputRefused; in a log without sessions nothing is a slip."""
    every = list(keys)
    for what, asked, there in (
        ("an agent", agent, {key.agent for key in every}),
        ("a user", user, {key.user for key in every}),
    ):
        if asked and there and asked not in there:
            raise no_such(what, asked, there)


def no_such(what: str, asked: str, there: Iterable[str]) -> InputRefused:
    """The refusal of an agent or a user of whom no session is."""
    return InputRefused(f"no session of {what} {asked!r}; there are {', '.join(sorted(there))}")


def typed_name(live: Live, key: str) -> str:
    """The least that can be typed in a shell for one session, and means it alone."""
    return typed(short_names(live, [key])[key])


def short_names(live: Live, keys: Iterable[str]) -> dict[str, str]:
    """For each of some keys the least that can be typed for it, as ``session_rows`` says."""
    return rows.short_names(live.log.query, list(keys))


def place_names(live: Live, streams: Iterable[str]) -> dict[str, str]:
    """For each session of this log among some streams that a log names the least that can be typed
    for it in a shell. What is no session, or is in another log, goes by its whole name."""
    there = set()
    for stream in streams:
        with contextlib.suppress(EventInvalid):
            key = StreamKey.parse(stream)
            if not is_memory_stream(key) and live.log.exists(key):
                there.add(stream)
    if not there:
        return {}
    query = session_query(live)
    found = ((key, rows.row_of(query, key)) for key in there)
    # One that was deleted answers to the whole of its name only.
    standing = [key for key, row in found if row is None or not row.is_deleted]
    return {key: typed(name) for key, name in short_names(live, standing).items()}


def place_name(names: Mapping[str, str], place: str) -> str:
    """``S``, or ``S@12``, with the session's name as ``place_names`` has it."""
    if place in names:
        return names[place]
    stream, at, position = place.rpartition("@")
    return f"{names.get(stream, stream)}{at}{position}"


def ref_of(place: Reference) -> str:
    """The place as it is written behind the ``@``."""
    match place.kind:
        case "call":
            return f"c{place.number}"
        case "compaction":
            return f"k{place.number}"
        case "before_compaction":
            return f"k{place.number}^"
        case "item":
            return place.rendition
        case "now":
            return "now"
        case _:
            return str(place.position)


def call_of(live: Live, place: Reference) -> RecordedEvent | None:
    """The ModelCalled that a place names, if it names one: right behind what it was given."""
    if place.kind != "call":
        return None
    at = place.position + 1
    return live.log.at(place.stream, [at])[at]


def span_of(text: str) -> tuple[int, int | None]:
    """The positions that ``10-60``, ``100-``, ``-20`` or ``7`` names. Raises InputRefused."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise InputRefused(f"{text!r} is no range of positions such as 10-60 or 100-")
    first, dash, last = match.groups()
    low = int(first) if first else 1
    if not dash:
        return low, low if first else None
    high = int(last) if last else None
    if high is not None and high < low:
        raise InputRefused(f"the range {text!r} ends before it begins")
    return low, high


def types_of(names: list[str]) -> list[str]:
    """Event types. Raises InputRefused for one that does not exist."""
    found = [name.strip().replace("-", "_") for name in names]
    for name in found:
        if name not in CLASSES:
            raise InputRefused(f"no event type {name!r}; there are {', '.join(sorted(CLASSES))}")
    return found
