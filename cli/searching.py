"""A search for the command line: what is searched, the index, and the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from cli.models_search import HitData, SearchData
from cli.moments import typed_moment
from cli.naming import check_filters, place
from cli.occurrences import LETTERS
from cli.output import Output
from cli.paths import current_program
from cli.progress import Meter
from cli.saying import who
from cli.snippets import snippet
from cli.style import plural, typed
from eventlog import StreamKey
from eventlog.errors import Busy, DamagedLog, DiskFault, InputRefused, LogFull, ReadOnlyLog
from eventlog.happened import iso, moment
from projections import Live
from projections.memory import is_memory_stream
from projections.search import STATES, Hit, Place, Search, Wanted
from projections.search_index import SearchIndex
from projections.search_query import Query, Term, parse
from projections.searchable import AREAS
from projections.session_rows import newest
from projections.sessions import session_query

if TYPE_CHECKING:
    from eventlog import RecordedEvent

TAIL = 256
"""Events that are read without being put into the index first."""

HIDDEN = "hidden"
"""Every state in which it once was visible, and is not now."""

MOST_TERMS = 1_000
"""Of one query: each is looked for in each text."""

_LONGEST_SHOWN = 100
"""Characters of a word that is told how to look for its parts."""

ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person typed."""

    query: str
    session: str = ""
    roles: Sequence[str] = ()
    tools: Sequence[str] = ()
    areas: Sequence[str] = ()
    states: Sequence[str] = ()
    since: str = ""
    until: str = ""
    agent: str = ""
    user: str = ""


def wanted(asked: Asked, now: datetime | None = None) -> Wanted:
    """What is looked for. Raises InputRefused for a word that is none of those that there are."""
    query = parse(asked.query)
    if not query.terms:
        raise InputRefused("there is nothing to look for: name a word or a part of one")
    if len(query.terms) > MOST_TERMS:
        said = f"{len(query.terms):,} words at once; at most {MOST_TERMS:,} are looked for"
        raise InputRefused(f'{said} (in quotes a passage is one: "a b c")')
    now = now or datetime.now(UTC)
    states = set(_words("--state", asked.states, (*STATES, HIDDEN)))
    if HIDDEN in states:
        states = (states - {HIDDEN}) | (set(STATES) - {"visible", "never", "unknown"})
    return Wanted(
        query,
        areas=frozenset(_words("--in", asked.areas, AREAS)),
        roles=frozenset(asked.roles),
        tools=frozenset(asked.tools),
        states=frozenset(states),
        since=typed_moment(asked.since, now) if asked.since else None,
        until=typed_moment(asked.until, now, end=True) if asked.until else None,
    )


def _words(option: str, given: Sequence[str], known: Sequence[str]) -> list[str]:
    words = [word.strip() for text in given for word in text.split(",")]
    for word in words:
        if word not in known:
            raise InputRefused(f"{option} {word!r}: there are {', '.join(known)}")
    return words


def reindexed(live: Live, out: Output) -> int:
    """Make the index anew where there is one; how many events it holds. Raises Busy."""
    index = SearchIndex(live)
    if not index.is_there():
        return 0
    index.drop()
    _caught_up(index, out)
    return index.held() or 0


def _caught_up(index: SearchIndex, out: Output) -> None:
    with Meter(out, "indexing") as meter:
        for step in index.catch_up():
            meter.show(step.sequence, step.end)


def indexed(live: Live, out: Output) -> SearchIndex:
    """The index, brought up to the end of the log where that is worth it and can be done.

    What it does not hold is read from the events: a log that cannot be written, or that somebody
    else writes to just now, is searched all the same.
    """
    index = SearchIndex(live)
    if live.log.read_only or live.log.last_sequence() - (index.held() or 0) <= TAIL:
        return index
    try:
        _caught_up(index, out)
    except (Busy, DamagedLog, DiskFault, LogFull, ReadOnlyLog) as error:
        out.note(f"the index stays behind, events are read instead: {error}")
    return index


def places(live: Live, asked: Asked) -> list[Place]:
    """The sessions that are searched, the newest first: one with what it inherits, or all, and then
    the memories of each user.

    Raises StreamNotFound, Ambiguous, PositionNotFound, InputRefused.
    """
    if asked.session:
        if asked.agent or asked.user:
            raise InputRefused("a session is named: --agent and --user choose among all of them")
        where = place(live, asked.session)
        return [Place(where.stream, where.position, inherited=True)]
    found = []
    streams = [info.key for info in live.log.streams()]
    memories = [key for key in streams if is_memory_stream(key)]
    sessions = [key for key in streams if not is_memory_stream(key)]
    check_filters(sessions if asked.agent else streams, agent=asked.agent, user=asked.user)
    for key in [*(StreamKey.parse(row.key) for row in newest(session_query(live))), *memories]:
        if asked.agent in ("", key.agent) and asked.user in ("", key.user):
            found.append(Place(key, live.log.version(key), inherited=False))
    return found


def searched(
    live: Live, out: Output, asked: Asked, *, limit: int | None, count: bool = False
) -> SearchData:
    """The hits, at most so many; with ``count`` only how many there are."""
    look = wanted(asked)
    where = places(live, asked)
    search = Search(live, indexed(live, out), look, where)
    if search.damage:
        out.note(f"the index is damaged, events were read instead; {current_program()} rebuild")
    elif live.log.read_only and search.unindexed > TAIL:
        read = plural(search.unindexed, "event")
        out.note(f"the log cannot be written now, so {read} were read without the index")
    named = where[0] if asked.session else None
    data = SearchData(
        query=asked.query,
        session=str(named.stream) if named is not None else None,
        position=named.at if named is not None else None,
        hits=[],
        count=0,
        cut=False,
        unindexed=search.unindexed,
    )
    hits = search.hits()
    if count:
        data.count = sum(1 for _ in hits)
        return data
    for hit in islice(hits, limit):
        data.hits.append(_row(live, look.query, hit))
    data.count = len(data.hits)
    data.cut = limit is not None and next(hits, None) is not None
    return data


def _row(live: Live, query: Query, hit: Hit) -> HitData:
    shown = snippet(query, hit.text.text)
    item, event = hit.item, hit.event
    is_tool = hit.text.area in ("input", "output")
    return HitData(
        key=str(hit.stream),
        ref=item.rendition if item is not None else str(event.position),
        item=item.id if item is not None else None,
        position=event.position,
        state=hit.state,
        by=_name(live, hit.stream, hit.by) if hit.by is not None else None,
        area=hit.text.area,
        role=item.role if item is not None else "",
        who=(hit.text.tool or "tool") if is_tool else who(item) if item else hit.text.area,
        tool=hit.text.tool,
        call=_call(live, hit),
        happened_at=iso(moment(event.occurred_at, event.recorded_at)),
        occurred_at=event.occurred_at,
        snippet=shown.text,
        marks=shown.marks,
    )


def _name(live: Live, key: StreamKey, event: RecordedEvent) -> str:
    letter = LETTERS.get(event.type)
    return f"{letter}{live.number(key, event)}" if letter else str(event.position)


def _call(live: Live, hit: Hit) -> int | None:
    at = hit.item.call if hit.item is not None else hit.event.data.get("call")
    if at is None:
        return None
    call = live.log.at(hit.stream, [at]).get(at)
    return live.number(hit.stream, call) if call is not None else None


def cut_note(data: SearchData) -> str:
    """What is said of a search that was cut."""
    return (
        f"the newest {plural(data.count, 'hit')}; there are more: "
        f"-n {data.count * 4} shows more, -n 0 all, --count counts them"
    )


def nothing_note(live: Live, out: Output, asked: Asked) -> str:
    """What is said when nothing was found; of other queries only one that finds something."""
    filters = (asked.roles, asked.tools, asked.areas, asked.states, asked.since, asked.until)
    what = "nothing found" + (" with these filters" if any(filters) else "")
    terms = parse(asked.query).terms
    if not any(term.is_whole for term in terms):
        return f"{what} that holds all {len(terms)} of these" if len(terms) > 1 else what
    parts = " ".join(map(_as_part, terms))
    if _finds(live, out, asked, parts):
        words = "whole words were looked for" + (", all of them" if len(terms) > 1 else "")
        return f"{what}; {words}: {typed(parts)} finds parts of words too"
    words = " ".join(word for term in terms for word in term.typed.split())
    if words != asked.query and _finds(live, out, asked, words):
        return f"{what}; {typed(words)} finds these words in any order"
    return what


def _finds(live: Live, out: Output, asked: Asked, query: str) -> bool:
    """Whether another query, which is short enough to be shown, finds something."""
    if len(query) > _LONGEST_SHOWN:
        return False
    other = replace(asked, query=query)
    found = Search(live, indexed(live, out), wanted(other), places(live, other)).hits()
    return next(iter(found), None) is not None


def _as_part(term: Term) -> str:
    """How it is typed so that it may stand inside a longer word."""
    quoted = f'"{term.typed}"' if len(term.typed.split()) > 1 else term.typed
    front, back = (term.is_whole or side for side in (term.any_before, term.any_behind))
    return f"{'*' * front}{quoted}{'*' * back}"


def order_note(live: Live, out: Output, asked: Asked) -> str:
    """What several words mean, where some were found; nothing where one was typed."""
    terms = parse(asked.query).terms
    phrase = " ".join(term.typed for term in terms)
    if len(terms) < 2 or '"' in asked.query:
        return ""
    said = f"each hit holds all {len(terms)} words, in any order"
    quoted = f'"{phrase}"'
    if not _finds(live, out, asked, quoted):
        return said
    return f"{said}; {typed(quoted)} finds them as a phrase"


def next_note(hits: Sequence[HitData], names: Mapping[str, str]) -> str:
    """What can be typed next, of the first hit that the model does not see any more, if any: that
    is mostly what a person looks for."""
    gone = (hit for hit in hits if hit.state not in ("visible", "never"))
    hit = next(gone, hits[0])
    name, program = names.get(hit.key, hit.key), current_program()
    show = f"{program} show {typed(f'{name}@{hit.ref}')}"
    if hit.item is None:
        return f"next: {show}"
    return f"next: {show} · {program} why {typed(name)} {hit.item}"
