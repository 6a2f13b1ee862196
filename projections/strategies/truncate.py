"""The last messages stay, and the system prompt; everything older is dropped.

Never starting on a tool result: the cut is moved forward to the next whole unit, so fewer messages
may stay than asked for, and never more. Zero means none, and not all (``x[-0:]``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision
from projections.strategies.window import Window


class Truncate(Strategy):
    """``truncate``: system and the last ``turns``."""

    name: ClassVar[str] = "truncate"
    moment: ClassVar[MomentKind] = "user_turn"
    slides: ClassVar[bool] = True

    class Parameters(base.Parameters):
        """How much stays."""

        turns: Annotated[int, Field(ge=0)] = 20
        """With ``unit=message`` twice as many messages; with ``unit=turn`` human turns."""
        unit: Literal["message", "turn"] = "message"

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than is kept."""
        p = self.parameters
        if p.unit == "turn":
            stay = max(0, p.turns - (moment.incoming is not None))
            return len(window.humans) > stay or (not stay and window.messages > 0)
        return window.messages > p.turns * 2

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        if p.unit == "turn":
            stay = max(0, p.turns - (moment.incoming is not None))
            return under(len(window.humans), "human turns stand", stay)
        return under(window.messages, "messages stand", p.turns * 2)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction without messages, of everything that is too old."""
        p = self.parameters
        units: dict[int, None] = {}
        if p.unit == "turn":
            first = window.turn_start(p.turns - (moment.incoming is not None))
            units = {e.unit.number: None for e in window.oldest() if e.order < first}
        else:
            excess = window.messages - p.turns * 2
            for count, entry in enumerate(window.oldest()):
                if count >= excess and entry.unit.number not in units:
                    break
                units[entry.unit.number] = None
        gone = tuple(o for number in units for o in window.units[number].items)
        if gone:
            yield Compact(gone, reason=f"older than the last {p.turns}")
