"""What a shell proposes for the word that is being typed. Nothing here raises: there is no place
for an error on that line.

A session may be named by what stands before the word; what is proposed of it is what a command
takes: its items, its pins, its decisions, its places.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from cli.opening import opened
from cli.options import Settings
from cli.safetext import safe_text

if TYPE_CHECKING:
    from eventlog import StreamKey
    from projections import Live
    from projections.runs import Origin

_MANY = 200
"""Completions at most."""


def session_names(settings: Settings, incomplete: str) -> list[str]:
    """Sessions that begin so, and behind an ``@`` places."""
    from projections.session_rows import named_like

    found = ["last"] if "last".startswith(incomplete) else []
    with contextlib.suppress(Exception), opened(settings) as live:
        if "@" in incomplete:
            session, _, begun = incomplete.rpartition("@")
            found += [f"{session}@{place}" for place in _begun(_places(live, session), begun)]
        for key in named_like(live.log.query, incomplete, _MANY):
            for name in (key.split("/", 2)[2], key):
                if name.startswith(incomplete) and safe_text(name, newlines=False) == name:
                    found.append(name)
                    break
    return found[:_MANY]


def of_session(
    settings: Settings,
    session: object,
    incomplete: str,
    names: Callable[[Live, str], Iterator[str]],
) -> list[str]:
    """What a session that was typed before has, of what begins so."""
    found: list[str] = []
    if isinstance(session, str) and session:
        with contextlib.suppress(Exception), opened(settings) as live:
            found = _begun(names(live, session), incomplete)
    return found


def _begun(names: Iterator[str], begun: str) -> list[str]:
    return list(islice((name for name in names if name.startswith(begun)), _MANY))


def places(live: Live, session: str) -> Iterator[str]:
    """Its calls and compactions, the newest first."""
    yield from _places(live, _without_place(session))


def _places(live: Live, session: str) -> Iterator[str]:
    from projections.views import NUMBERED

    key = _key(live, session)
    for letter, kind in NUMBERED.items():
        last = sum(header.type == kind for header in live.log.headers(key))
        for number in range(last, 0, -1):
            yield f"{letter}{number}"
            if letter == "k":
                yield f"k{number}^"


def items(live: Live, session: str) -> Iterator[str]:
    """Every item that it ever had, the newest first; of what compactions brought, what stands. In a
    stream of memories, those."""
    from projections.carriers import MEMORY
    from projections.context import ITEM_TYPES
    from projections.runs import position_of

    key = _key(live, _without_place(session))
    found: list[Origin] = [item for item in live.view(key).items if isinstance(item, str)]
    kinds = ITEM_TYPES | {MEMORY}
    found += [header.position for header in live.log.headers(key) if header.type in kinds]
    yield from map(str, sorted(found, key=position_of, reverse=True))


def pinned(live: Live, session: str) -> Iterator[str]:
    """The items that are pinned."""
    from projections.runs import position_of

    pins = live.view(_key(live, session)).pins
    yield from map(str, sorted(pins, key=position_of, reverse=True))


def decisions(live: Live, session: str) -> Iterator[str]:
    """What can be undone, the newest first: compactions by their names."""
    from projections.context import UNDOABLE
    from projections.force import decisions_in_force, out_of_force

    found = list(live.log.read(_key(live, session), types=UNDOABLE))
    gone = out_of_force(found)
    if any(decisions_in_force(found)):
        yield "last"
    number = sum(event.type == "context_compacted" for event in found)
    for event in reversed(found):
        name = str(event.position)
        if event.type == "context_compacted":
            name, number = f"k{number}", number - 1
        if event.position not in gone:
            yield name


def takings(live: Live, session: str) -> Iterator[str]:
    """What took content out of sight, the newest first: compactions by their names, of what was
    substituted or revised between two calls the first event."""
    from projections.takings import KINDS

    found: list[str] = []
    compacted, known = 0, set[str]()
    for header in live.log.headers(_key(live, session)):
        kind = KINDS.get(header.type, "")
        if header.type == "model_called":
            known = set()
        elif kind == "compaction":
            compacted += 1
            found.append(f"k{compacted}")
        elif kind and kind not in known:
            known.add(kind)
            found.append(str(header.position))
    return reversed(found)


def _key(live: Live, session: str) -> StreamKey:
    from projections.references import find_session

    return find_session(live, session)


def _without_place(session: str) -> str:
    """The session of ``S`` and of ``S@REF``."""
    return session.rpartition("@")[0] or session


def event_types(incomplete: str) -> list[str]:
    """Event types that begin so."""
    from eventlog.codec import CLASSES

    return sorted(name for name in CLASSES if name.startswith(incomplete.replace("-", "_")))


def memory_users(settings: Settings, incomplete: str) -> list[str]:
    """Persons of whom something is remembered."""
    from projections.memory.table import users

    found: list[str] = []
    with contextlib.suppress(Exception), opened(settings) as live:
        found = [name for name in users(live) if safe_text(name, newlines=False) == name]
    return [name for name in found if name.startswith(incomplete)][:_MANY]


def memory_names(
    settings: Settings, user: object, incomplete: str, standing: bool | None
) -> list[str]:
    """Memories, the newest first: ``m12``, or ``12`` where it is typed so; None: all there are."""
    from cli.memories import user_memory

    found: list[str] = []
    only = "" if standing is None else " and stands" if standing else " and not stands"
    with contextlib.suppress(Exception), opened(settings) as live:
        memory = user_memory(live, user if isinstance(user, str) else None)
        query, stream = memory.memories.query()
        rows = query(f"select id from memories where stream = ?{only} order by id desc", (stream,))
        letter = "" if incomplete[:1].isdigit() else "m"
        found = _begun((f"{letter}{id}" for (id,) in rows), incomplete)
    return found


def memory_entities(settings: Settings, user: object, incomplete: str) -> list[str]:
    """What memories speak of."""
    from cli.memories import user_memory
    from cli.memory_graphs import entity_names

    found: list[str] = []
    with contextlib.suppress(Exception), opened(settings) as live:
        memory = user_memory(live, user if isinstance(user, str) else None)
        names = (n for n in entity_names(memory) if safe_text(n, newlines=False) == n)
        found = _begun(names, incomplete)
    return found
