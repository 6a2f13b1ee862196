"""What-if: the contexts that another strategy would have made of a recorded session.

It steps through the recording and lets the strategy decide at each moment, over an overlay of the
session. It is *teacher-forced*: the recorded messages are kept, since what the model would have
said instead is unknown; every result that rests on it has to say so. Token triggers read the
overlay's own count, never recorded usage.

The cost is that of the steps and of what changes: nothing here looks through the whole context at a
call. A call's prefix is known from the first place that changed since the call before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from projections.applying import Applier, Asked, Change, Rung
from projections.items import Item
from projections.ladder import RAISED, descend
from projections.recording import Recording, Step
from projections.runs import Origin
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.window import Embed, Window
from projections.tokens import Counter
from projections.written import Summarize

__all__ = ["Call", "Change", "Observer", "Rung", "Runner", "Summarize", "WhatIf"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the what-if."""

    number: int
    position: int
    tokens: int
    items: int
    prefix: int
    """Tokens that the context of the call before began with too."""


@dataclass(slots=True)
class WhatIf:
    """The run of one strategy over one recording."""

    spec: str
    calls: list[Call] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    needs_summary: int = 0
    """Summaries that could not be had, so that the next rung of the ladder was taken."""
    asked: list[Asked] = field(default_factory=list)
    """What summarizers were asked, those included whose text was of no use."""

    def called(self, window: Window, position: int, observer: Observer | None = None) -> None:
        """A call is made with what stands."""
        prefix = window.called()
        number = len(self.calls) + 1
        self.calls.append(Call(number, position, window.tokens, len(window), prefix))
        touched, window.touched = window.touched, {}
        if observer is not None:
            observer(self, window, touched)


Observer = Callable[[WhatIf, Window, Mapping[Origin, None]], None]
"""Told of each call when it is made: the run so far, what stands, and what was touched since the
call before (came in, changed or left; it may be as it was)."""


@dataclass(slots=True)
class _State:
    """What a rewind brings back."""

    window: Window
    fates: dict[Origin, Change | None] = field(default_factory=dict)
    brought: dict[Origin, int] = field(default_factory=dict)
    made: int = 0
    raised: dict[int, float] = field(default_factory=dict)


class Runner:
    """Steps a strategy through a recording."""

    def __init__(
        self,
        recording: Recording,
        strategies: Sequence[Strategy],
        counting: Counter,
        summarize: Summarize | None = None,
        observer: Observer | None = None,
        embed: Embed | None = None,
    ) -> None:
        self.recording = recording
        self.strategies = tuple(part for each in strategies for part in each.expand())
        self.counting = counting
        self.summarize = summarize
        self.embed = embed
        self.observer = observer
        self.window = Window(counting, embed)
        self.applier = Applier(self.window, counting, summarize)
        self.result = WhatIf(" | ".join(strategy.spec for strategy in strategies))
        self.result.changes, self.result.asked = self.applier.changes, self.applier.asked
        self._states: dict[int, _State] = {}
        """By position, where a rewind goes to."""
        self._raised: dict[int, float] = {}
        """By the place of a strategy: the tokens up to which it is not asked again."""
        self._by_moment: dict[MomentKind, list[tuple[int, Strategy]]] = {
            kind: [(n, s) for n, s in enumerate(self.strategies) if s.at == kind]
            for kind in ("tool_result", "user_turn", "model_call")
        }

    def run(self) -> WhatIf:
        """All steps."""
        steps = self.recording.steps
        goals = sorted({step.to for step in steps if step.kind == "rewind"}, reverse=True)
        for step in steps:
            while goals and goals[-1] < step.position:
                self._remember(goals.pop())
            self._step(step)
        self.result.needs_summary = self.applier.needs_summary
        return self.result

    def items(self) -> list[Item]:
        """The context as it stands now, not repaired."""
        return [entry.item for entry in self.window.entries.values()]

    def _step(self, step: Step) -> None:
        window = self.window
        if step.kind == "item":
            assert step.item is not None
            self._item(step, step.item)
        elif step.kind == "call":
            self._at(Moment("model_call", step.position))
            self.result.called(window, step.position, self.observer)
        elif step.kind == "revise":
            entry = window.entries.get(step.origin)
            if entry is not None and step.item is not None:
                entry.original, entry.original_tokens = step.item, step.tokens
                window.substitute(step.origin, step.item, step.tokens, cleared=False)
        elif step.kind == "pin":
            window.pins.add(step.origin)
        elif step.kind == "unpin":
            window.pins.discard(step.origin)
        elif step.kind == "task":
            window.task_type = step.text
        elif step.kind == "rewind":
            self._rewind(step)

    def _item(self, step: Step, item: Item) -> None:
        if item.is_human:
            self.window.incoming = True
            self._at(Moment("user_turn", step.position, incoming=item))
            self.window.incoming = False
        entry = self.window.append(step.origin, item, step.tokens, first=step.is_first)
        if entry.is_result:
            self._at(Moment("tool_result", step.position, result=step.origin))

    def _rewind(self, step: Step) -> None:
        """The context is again as the strategy had made it at an earlier position."""
        state = self._copied(self._states.get(step.to) or _State(Window(self.counting, self.embed)))
        state.window.follows(self.window)
        gone = set(self.window.entries) | set(self.applier.fates)
        fates = dict.fromkeys(gone - state.window.entries.keys())
        self.applier.fates = {**fates, **state.fates}
        self.applier.brought.update(state.brought)
        self.applier.made = max(self.applier.made, state.made)
        self.window = self.applier.window = state.window
        self._raised = state.raised

    def _remember(self, position: int) -> None:
        """Keep the state there: a rewind comes back to it."""
        applier = self.applier
        now = _State(self.window, applier.fates, applier.brought, applier.made, self._raised)
        self._states[position] = self._copied(now)

    def _copied(self, state: _State) -> _State:
        """A copy that shares what never changes."""
        shared = (self.counting, self.embed, self.window.embed)
        return copy.deepcopy(state, {id(each): each for each in shared})

    # -- decisions ------------------------------------------------------------------------------

    def _at(self, moment: Moment) -> None:
        for place, strategy in self._by_moment[moment.kind]:
            if self.window.tokens <= self._raised.get(place, -1):
                self._waiting(place, moment, self._raised[place])
                continue
            if not strategy.triggered(self.window, moment):
                self._waiting(place, moment)
                continue
            self._begins(place, moment)
            self.applier.decided(strategy, moment)
            self._raised.pop(place, None)
            if self.applier.stuck:
                self._raised[place] = self.window.tokens * RAISED
            limit = strategy.limit
            if (
                limit is not None
                and self.window.tokens > limit
                and not descend(self.applier, limit, moment, strategy.spec)
            ):
                self._raised[place] = self.window.tokens * RAISED

    def _begins(self, place: int, moment: Moment) -> None:
        """A strategy is asked for its decisions: for whoever wants to know."""

    def _waiting(self, place: int, moment: Moment, until: float | None = None) -> None:
        """A strategy is not, since it is not triggered, or got stuck ``until`` so many tokens."""
