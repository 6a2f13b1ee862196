"""How long a memory lives, and when it is forgotten. Time is an argument: nothing looks at a clock.

The age of a memory counts from when it was remembered, revised, restored or recalled last. Up to
0.7 of its lifetime it is active, up to the whole of it stale, up to twice of it archived, then
expired. What is expired is forgotten, and what is older than 90 days and of little importance: both
can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from pydantic import Field

from eventlog.events import MemoryKind
from eventlog.values import Value
from projections.memory.memory import Memory

DAY = 86_400_000_000
"""In microseconds."""

Status = Literal["active", "stale", "archived", "expired"]

LIFETIMES: dict[MemoryKind, float] = {
    "preference": 90,
    "project": 30,
    "code": 7,
    "error_fix": 180,
    "conversation": 14,
}
"""Days; every other kind has the default."""


class LifePolicy(Value):
    """The numbers of the life cycle."""

    lifetimes: tuple[tuple[MemoryKind, float], ...] = tuple(LIFETIMES.items())
    """Days by kind."""
    default_days: float = Field(default=30, gt=0)
    active: float = 0.7
    """Shares of the lifetime up to which a memory is active, stale, archived."""
    stale: float = 1.0
    archived: float = 2.0
    old_days: float = 90
    """Older than that, and of less importance than ``least``, it is forgotten."""
    least: float = 0.4

    def days(self, kind: MemoryKind) -> float:
        """The lifetime of a kind."""
        return dict(self.lifetimes).get(kind, self.default_days)


class Due(NamedTuple):
    """A memory that is to be forgotten, and why."""

    memory: Memory
    rule: Literal["expired", "unimportant"]


def age(memory: Memory, now: int) -> int:
    """Microseconds since it was refreshed last; 0 where that lies ahead."""
    return max(0, now - memory.refreshed_at)


def status(memory: Memory, now: int, policy: LifePolicy) -> Status:
    """Where in its life it is; a share that is reached belongs to the next stage."""
    return stage(age(memory, now) / (policy.days(memory.kind) * DAY), policy)


def stage(share: float, policy: LifePolicy) -> Status:
    """Where in its life a memory is after a share of its lifetime."""
    if share < policy.active:
        return "active"
    if share < policy.stale:
        return "stale"
    return "archived" if share < policy.archived else "expired"


def due(memories: Iterable[Memory], now: int, policy: LifePolicy) -> Iterator[Due]:
    """The memories that are to be forgotten, by their ids as they come."""
    for memory in memories:
        if not memory.stands:
            continue
        if status(memory, now, policy) == "expired":
            yield Due(memory, "expired")
        elif age(memory, now) > policy.old_days * DAY and memory.weight < policy.least:
            yield Due(memory, "unimportant")
