"""Forks: a free name, and forking what another program writes before it is changed."""

from __future__ import annotations

from eventlog import StreamKey
from eventlog.errors import InputRefused
from projections import Live
from projections.memory.stream import is_memory_stream
from projections.references import reads_otherwise


def fork_key(
    live: Live, parent: StreamKey, name: str = "", hint: str = "choose another --name"
) -> StreamKey:
    """The key of a fork: with the session id that was asked for, else the next free one.

    ``hint`` says what to do about a name that cannot be had.

    Raises InputRefused for a name that is taken, or that would be read as something else, and for
    the memories of a person: a fork of them would be nobody's.
    """
    if is_memory_stream(parent):
        raise InputRefused(
            f"{parent} holds what is remembered of {parent.user}, and is no session to fork; "
            "memory export and memory import take it elsewhere"
        )
    if not name:
        return _free(live, parent)
    if reads_otherwise(name):
        raise InputRefused(f"{name!r} would be read as a place or as last; {hint}")
    child = parent._replace(session=name).checked()
    if live.log.exists(child):
        raise InputRefused(f"that name is taken: {child} exists; {hint}")
    return child


def _free(live: Live, parent: StreamKey) -> StreamKey:
    number = 1
    while live.log.exists(parent._replace(session=f"{parent.session}.fork{number}")):
        number += 1
    return parent._replace(session=f"{parent.session}.fork{number}")
