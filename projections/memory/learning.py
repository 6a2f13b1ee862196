"""How what is learned becomes an event: one id for one thing, whoever learns it.

The id of such an event is a digest of where it goes, where it began, and the rule that found it. So
learning the same twice, or in two processes at once, adds nothing: an append of a known id with the
same bytes succeeds without one. Where the bytes are others, since the rules or the parameters have
changed since, or the interaction went on, the append raises EventIdConflict, and what is there
stays.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable

from eventlog.events import Event, MemorySource, Remembered
from eventlog.recorded import Draft, StreamKey
from eventlog.values import Value
from projections.memory.importance import Weights
from projections.memory.knowledge import with_knowledge
from projections.memory.short_term import CAPACITY
from projections.memory.stream import memory_stream

BY = "learning"
"""Who says so, in the events."""


class LearnPolicy(Value):
    """The numbers of learning."""

    weights: Weights = Weights()
    threshold: float = 0.7
    """What is more important than that is remembered when it leaves the window."""
    capacity: int = CAPACITY
    """Interactions that stay in the window."""
    longest: int = 600
    """Code points of a memory's text."""


def drafted(event: Event, into: str, rule: str, sources: Iterable[MemorySource]) -> Draft:
    """The event with the id that it has wherever it is learned.

    ``into`` is the key of the memory stream, ``sources`` are where it began, ``rule`` is what found
    it there.
    """
    if isinstance(event, Remembered):
        event = with_knowledge(event)
    return Draft(event, id=_learned_id(into, rule, sources))


def stream_of(session: str) -> str:
    """The key of the stream in which the person of a session has their memories."""
    return str(memory_stream(StreamKey.parse(session).user))


def _learned_id(into: str, rule: str, sources: Iterable[MemorySource]) -> uuid.UUID:
    named = [
        f"{each.stream}\n{','.join(map(str, each.positions))}"
        for each in sorted(sources, key=lambda each: each.stream)
    ]
    said = b"".join(
        len(part).to_bytes(8) + part
        for part in (text.encode("utf-8", "replace") for text in (_CONTEXT, into, rule, *named))
    )
    number = int.from_bytes(hashlib.sha256(said).digest()[:16])
    number = number & ~(0xF << 76) | 8 << 76  # a UUID of version 8, which says so itself
    number = number & ~(0x3 << 62) | 2 << 62
    return uuid.UUID(int=number)


_CONTEXT = "ctxlog/learned/1"
