"""Facts of a session that hold whatever the context is: of a call, and of an item as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from eventlog.messages import Part
from projections.anchors import Kind
from projections.items import Item
from projections.reading import (
    binds_thinking,
    calls_of,
    only_thinks,
    readable,
    results_of,
    role_of,
    says_something,
)
from projections.runs import Origin


@dataclass(frozen=True, slots=True)
class Need:
    """A literal that an answer used and that had been said before."""

    literal: int
    """Its place in ``Ground.anchors``."""
    kind: Kind
    distance: int
    last: Origin
    """The item in which it stood last."""
    first: Origin
    """The one that said it first (see ``said``); the last one where only a revision says it."""
    in_arguments: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """A tool call made again although nothing that it names was written in between."""

    tool: str
    earlier: Origin
    """The item that holds the result of the earlier call."""
    tokens: int
    """Of the result that came the second time."""


@dataclass(slots=True)
class CallFacts:
    """What is known of one call, whatever the context."""

    position: int
    when: str
    tools: int
    """Tokens of the tool definitions that it named."""
    tools_at: int
    output: int
    """Tokens of the answer: as billed, else as counted."""
    billed: int
    """Input tokens as billed, cached ones too; 0 where the recording does not say."""
    cached: int | None
    """Of these, read from a cache; None where the recording does not say."""
    answered: bool
    needs: list[Need] = field(default_factory=list)
    of_head: list[Need] = field(default_factory=list)
    """What the task or a system message says too: no strategy takes these away, an agent may."""
    repeats: list[Repeat] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    """Files first written by this call's answer, as literals."""
    read: list[int] = field(default_factory=list)
    last_human: Origin | None = None
    todo: Origin | None = None
    """The item with the latest to-do list or plan, before this call."""


class Shape(NamedTuple):
    """What legality sees of an item, besides the ids of its calls and results."""

    role: str
    says: bool
    """Something at all; thinking counts."""
    only_thinks: bool
    signed: bool
    """It carries thinking that a signature binds to its bytes."""


@dataclass(frozen=True, slots=True)
class Rendition:
    """An item as it stands in a context, and what it mentions."""

    item: Item
    tokens: int
    mentions: frozenset[int]
    digest: bytes
    shape: Shape

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the calls that it makes."""
        return _ids(calls_of(self.item)) if readable(self.item) else ()

    @property
    def results(self) -> tuple[str, ...]:
        """The ids of the calls that it answers."""
        return _ids(results_of(self.item)) if readable(self.item) else ()


def _ids(parts: tuple[Part, ...]) -> tuple[str, ...]:
    return tuple(part.id for part in parts)


def shape(item: Item) -> Shape:
    """What legality sees of the item; of a message that is no object, nothing."""
    if not readable(item):
        return _shape("user", True, False, False)
    thinks = only_thinks(item)
    return _shape(role_of(item), thinks or says_something(item), thinks, binds_thinking(item))


@cache
def _shape(role: str, says: bool, only_thinks: bool, signed: bool) -> Shape:
    """One for all items that are alike."""
    return Shape(role, says, only_thinks, signed)
