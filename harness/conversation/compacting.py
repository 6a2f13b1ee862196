"""A compaction that a person asks for: planned first, and made by the very same events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eventlog.errors import WrongExpectedVersion
from eventlog.events import ContextCompacted, Event
from harness.conversation.charge import Charge
from projections.applying import Change
from projections.deciding import who
from projections.strategies.base import Moment
from projections.strategies.compact import CompactTurns
from projections.tokens import counter

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

BY_HAND = "manual"
"""The trigger of a compaction that a person asked for."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a compaction would append, at the version at which it was planned."""

    events: tuple[Event, ...]
    """None where there is nothing to compact; else the compaction, or why it was declined."""
    changes: tuple[Change, ...]
    before: int
    """Tokens of the context, as the strategy counts."""
    after: int
    turns: int
    """Human messages that stood before."""
    version: int


class _ByHand(Charge):
    """A strategy that is asked now, whatever it waits for."""

    def compacted(self, strategy: CompactTurns) -> Planned:
        """What it decides about the context as it stands."""
        runner = self._runner
        runner.begin(self.version + 1)
        deciding, window = runner.deciding, runner.window
        before, turns = window.tokens, len(window.humans)
        moment = Moment("user_turn", self.version + 1)
        deciding.by.setdefault(strategy.spec, who(strategy))
        if strategy.triggered(window, moment):
            deciding.decided(strategy, moment)
        events = tuple(
            each.model_copy(update={"trigger": BY_HAND})
            if isinstance(each, ContextCompacted)
            else each
            for each in deciding.events
        )
        return Planned(events, self.changes(), before, window.tokens, turns, self.version)


def planned_compaction(of: Conversation, keep_turns: int) -> Planned:
    """What compacting all but the last human turns would append; nothing is written.

    The conversation's own summarizer writes the summary, and keeps it: made after that, the
    compaction is the same and costs nothing more.
    """
    strategy = CompactTurns(CompactTurns.Parameters(keep_turns=keep_turns))
    asked = _ByHand(of.live, of.key, (strategy,), counter(), of.charge.summarize)
    return asked.compacted(strategy)


def compact(of: Conversation, planned: Planned) -> None:
    """Append what was planned. Raises WrongExpectedVersion where the session went on since."""
    with of.writing():
        if of.version != planned.version:
            raise WrongExpectedVersion(str(of.key), planned.version, of.version)
        if planned.events:
            of.append(*planned.events)
