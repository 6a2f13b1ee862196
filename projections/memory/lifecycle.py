"""How long a memory lives, and when it is forgotten. Time is an argument: nothing looks at a clock.

The age of a memory counts from when it was remembered, revised, restored or recalled last. Up to
0.7 of its lifetime it is active, up to the whole of it stale, up to twice of it archived, then
expired. What is expired is forgotten, and what is older than 90 days and of little importance: both
can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, model_validator

from eventlog.errors import InputRefused
from eventlog.events import MemoryKind
from eventlog.values import Value
from projections.memory.memory import Memory

DAY = 86_400_000_000
"""In microseconds."""

_LONGEST = 1 << 64
"""More than any two times of a log lie apart, and a number that can be divided."""

Status = Literal["active", "stale", "archived", "expired"]

LIFETIMES: dict[MemoryKind, float] = {
    "preference": 90,
    "project": 30,
    "code": 7,
    "error_fix": 180,
    "conversation": 14,
}
"""Days; every other kind has the default."""


Days = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LifePolicy(Value):
    """The numbers of the life cycle.

    Raises InputRefused for a lifetime that is not above zero, for shares that do not follow on each
    other, and for a least importance that is not between 0 and 1.
    """

    lifetimes: tuple[tuple[MemoryKind, Days], ...] = tuple(LIFETIMES.items())
    """Days by kind."""
    default_days: Days = 30
    active: Share = 0.7
    """Shares of the lifetime up to which a memory is active, stale, archived."""
    stale: Share = 1.0
    archived: Share = 2.0
    old_days: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 90
    """Older than that, and of less importance than ``least``, it is forgotten."""
    least: Annotated[float, Field(ge=0, le=1)] = 0.4

    @model_validator(mode="wrap")
    @classmethod
    def _refused(cls, value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            policy = handler(value)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"]))[:80]
            raise InputRefused(f"the life cycle's {where}: {fault['msg']}") from None
        if not policy.active <= policy.stale <= policy.archived:
            raise InputRefused(
                "a memory is active, then stale, then archived: the shares "
                f"{policy.active:g}, {policy.stale:g} and {policy.archived:g} do not rise"
            )
        return policy

    def days(self, kind: MemoryKind) -> float:
        """The lifetime of a kind."""
        return dict(self.lifetimes).get(kind, self.default_days)


class Due(NamedTuple):
    """A memory that is to be forgotten, and why."""

    memory: Memory
    rule: Literal["expired", "unimportant"]


def why_due(due: Due, now: int, policy: LifePolicy) -> str:
    """``61 days old, code lives 7``: by what a memory is to be forgotten at that moment."""
    memory = due.memory
    old = f"{age(memory, now) // DAY:,} days old"
    if due.rule == "expired":
        return f"{old}, {memory.kind} lives {policy.days(memory.kind):g}"
    return f"{old}, importance {memory.weight:.2f} is under {policy.least:g}"


def age(memory: Memory, now: int) -> int:
    """Microseconds since it was refreshed last; 0 where that lies ahead."""
    return max(0, now - memory.refreshed_at)


def status(memory: Memory, now: int, policy: LifePolicy) -> Status:
    """Where in its life it is; a share that is reached belongs to the next stage."""
    share = min(age(memory, now), _LONGEST) / (policy.days(memory.kind) * DAY)
    return stage(share, policy)


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
