"""What a person names in a stream of memories: ``12``, ``m12``, ``12@40``, ``12-20``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from eventlog.errors import InputRefused, ItemNotFound
from eventlog.recorded import StreamKey
from projections.live import Live
from projections.memory.learned_from import memory_named

_NAME = re.compile(r"[m#]?([1-9]\d{0,14})(?:@([1-9]\d{0,14}))?", re.ASCII)
_RANGE = re.compile(r"[m#]?([1-9]\d{0,14})-[m#]?([1-9]\d{0,14})", re.ASCII)


class Named(NamedTuple):
    """What was named, each once, in that order."""

    memories: list[str]
    """A revision names the memory that it is one of."""
    positions: list[int]
    """Of events that carry no memory, such as what is said of the profile."""


def named(live: Live, stream: StreamKey, texts: Iterable[str]) -> Named:
    """The memories and the other events that some texts name; a range names memories alone.

    Raises StreamNotFound, ItemNotFound, InputRefused.
    """
    memories: dict[str, None] = {}
    positions: dict[int, None] = {}
    for word in (word for text in texts for word in text.replace(",", " ").split()):
        single, several = _NAME.fullmatch(word), _RANGE.fullmatch(word)
        if several is not None:
            low, high = int(several[1]), int(several[2])
            headers = live.log.headers(stream, low - 1, high) if low <= high else []
            inside = [str(header.position) for header in headers if header.type == "remembered"]
            if not inside:
                raise ItemNotFound(str(stream), f"from {low} to {high}")
            memories.update(dict.fromkeys(inside))
            continue
        if single is None:
            raise InputRefused(f"{word!r} is not a memory such as 12, m12 or 12-20")
        at = int(single[2] or single[1])
        event = live.log.at(stream, [at]).get(at)
        memory = memory_named(event) if event is not None else 0
        if memory and not _is_there(live, stream, memory):
            memory = 0
        if event is None or (single[2] and str(memory) != single[1]):
            raise ItemNotFound(str(stream), word)
        if memory:
            memories[str(memory)] = None
        else:
            positions[at] = None
    return Named(list(memories), list(positions))


def _is_there(live: Live, stream: StreamKey, memory: int) -> bool:
    """Whether a memory exists: a revision may name one that does not."""
    event = live.log.at(stream, [memory]).get(memory)
    return event is not None and event.type == "remembered"
