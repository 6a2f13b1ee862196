"""The protocol of strategies: pure functions from a window and a moment to decisions.

A strategy has a name, parameters, and two functions. ``triggered`` answers from the O(1) facts of
the window; ``decide`` says what is to change. It holds no state between calls: what it did before
is in the window. It reads no clock and calls no model, and age is counted in calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from projections.items import Item
from projections.runs import Origin
from projections.strategies.decisions import Decision
from projections.strategies.window import Window

MomentKind = Literal["tool_result", "user_turn", "model_call"]


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a strategy may decide."""

    kind: MomentKind
    position: int
    """Of the event at hand: the result that came, the message that is coming, the call."""
    result: Origin | None = None
    """At ``tool_result``: the result that was just recorded."""
    incoming: Item | None = None
    """At ``user_turn``: the human message that is coming. It counts as a turn."""


class Parameters(BaseModel):
    """The parameters of a strategy: unknown ones and wrong values are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Strategy(ABC):
    """Base of the strategies. A subclass names itself, its parameters and its moment."""

    name: ClassVar[str]
    moment: ClassVar[MomentKind]
    """Where it decides unless its spec says ``at=…``."""
    slides: ClassVar[bool] = False
    """Whether it changes the front of the context at nearly every call, by nature."""
    Parameters: ClassVar[type[Parameters]] = Parameters

    def __init__(self, parameters: Any = None, at: MomentKind | None = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()
        self.at: MomentKind = at or self.moment

    @property
    def limit(self) -> int | None:
        """The tokens that it holds the context under; None where it promises no number.

        Whoever runs it goes down the ladder when the context is over it after the decisions, and
        says what cannot be reduced when that does not help.
        """
        return None

    def expand(self) -> tuple[Strategy, ...]:
        """What it is made of: itself, or for a combination the strategies that decide in turn."""
        return (self,)

    @abstractmethod
    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether there may be something to decide; from O(1) facts."""

    @abstractmethod
    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """What is to change. The window is only read."""

    def waits(self, window: Window, moment: Moment) -> str:
        """For a person: what it waits for where it is not triggered, and how far that is; empty
        where it cannot say."""
        return ""

    @property
    def spec(self) -> str:
        """The text form, with the parameters that differ from their defaults."""
        given = self.parameters.model_dump(exclude_defaults=True)
        words = [f"{key}={_written(value)}" for key, value in given.items()]
        if self.at != self.moment:
            words.append(f"at={self.at}")
        return f"{self.name}:{','.join(words)}" if words else self.name


class Combination(Strategy):
    """A strategy that is made of others: what it expands to decides, and not itself."""

    moment: ClassVar[MomentKind] = "model_call"

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Never: its parts are asked."""
        return False

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """Nothing: its parts decide."""
        return ()

    @abstractmethod
    def expand(self) -> tuple[Strategy, ...]:
        """Its parts, in the order in which they decide."""


def under(have: int, what: str, limit: int) -> str:
    """That there is too little of something for a strategy to begin."""
    return f"{have:,} {what}, and it begins over {limit:,}"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    return str(value)
