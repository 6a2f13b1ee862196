"""What the last request of a stream was made of, so that the next one goes on from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from eventlog.messages import Dialect
from projections import digests
from projections.asked import Asked
from projections.manifest import SentAs
from projections.proof import Shapes
from projections.runs import Origin


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request."""

    value: Any
    at: int | None
    """Where they were declared."""
    hash: bytes


@dataclass(frozen=True, slots=True)
class Wire:
    """A body up to the end of its last message, hashed."""

    size: int
    state: Any


@dataclass(frozen=True, slots=True)
class Tail:
    """A request behind what it shares with the last one."""

    dialect: Dialect
    first: dict[str, Any]
    """Its instructions or system prompt; None where it has none apart from the messages."""
    lead: int
    """Entries that are none of its messages."""
    tools: Tools
    start: int
    """Entries that it shares with the last request."""
    begins: int
    """Pieces of those."""
    entries: Sequence[SentAs]
    hashes: Sequence[bytes]
    digest: Any
    """Of all entries of the whole, as ``digests.begun`` has it."""
    shapes: Shapes
    """By the number of the piece in the whole."""
    wire: Wire


@dataclass(frozen=True, slots=True)
class Last:
    """What the last request was made of, so that the next one goes on from it."""

    dialect: Dialect
    first: dict[str, Any]
    lead: int
    tools: Tools
    entries: list[SentAs]
    """Its manifest. The list grows in place as long as requests only go on."""
    places: list[int]
    """Where the pieces of each entry begin, and where the last ones end."""
    hashes: list[bytes]
    digest: Any
    """Of all entries, as ``digests.begun`` has it."""
    wire: Wire
    behind: list[Origin] = field(default_factory=list)
    """The items that came after it."""


def hashed(asked: Asked, at: int | None, last: Tools, salts: Mapping[int, bytes]) -> Tools:
    """The tools of a request that are declared there; those of the last one where they stand."""
    value = asked.fields.get("tools")
    if at is None:
        return Tools(value, None, digests.NO_TOOLS)
    if at == last.at:
        return last
    return Tools(value, at, digests.value_hash(salts[at], value))


def digested(last: Last, start: int, hashes: Sequence[bytes]) -> Any:
    """The digest of the entries of a request that has ``start`` of them from the last one, and
    behind them those with these hashes."""
    if start < len(last.hashes):
        return digests.begun([*last.hashes[:start], *hashes])
    state = last.digest.copy()
    state.update(b"".join(hashes))
    return state


def wired(asked: Asked, last: Wire | None) -> Wire:
    """The body up to the end of its last message, hashed on from what it shares with the last."""
    size, state = 0, sha256()
    if last is not None and last.size <= min(asked.same, asked.end):
        size, state = last.size, last.state.copy()
    state.update(memoryview(asked.wire)[size : asked.end])
    return Wire(asked.end, state)


def closed(asked: Asked, wire: Wire, own: bytes) -> str:
    """The digest of the whole body."""
    state = wire.state.copy()
    state.update(memoryview(asked.wire)[wire.size :])
    state.update(own)
    return str(state.hexdigest())


def grown(last: Last | None, tail: Tail) -> Last:
    """What the next request is read against."""
    if last is not None and tail.start == len(last.entries):
        entries, places, hashes = last.entries, last.places, last.hashes
    elif last is not None:
        entries, hashes = last.entries[: tail.start], last.hashes[: tail.start]
        places = last.places[: tail.start + 1]
    else:
        entries, places, hashes = [], [0], []
    for entry in tail.entries:
        entries.append(entry)
        places.append(places[-1] + len(entry))
    hashes.extend(tail.hashes)
    return Last(
        tail.dialect,
        tail.first,
        tail.lead,
        tail.tools,
        entries,
        places,
        hashes,
        tail.digest,
        tail.wire,
    )
