"""What-if: the contexts that another strategy would have made of a recorded session.

It steps through the recording and lets the strategy decide at each moment, over an overlay of the
session. It is *teacher-forced*: the recorded messages are kept, since what the model would have
said instead is unknown; every result that rests on it has to say so. Token triggers read the
overlay's own count, never recorded usage.

The cost is that of the steps and of what changes: nothing here looks through the whole context at a
call. A call's prefix is known from the first place that changed since the call before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from eventlog import messages
from projections.items import Item
from projections.recording import Recording, Step
from projections.runs import Origin
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Compact, Decision, Restore, Said, Substitute, Summary
from projections.strategies.window import Entry, Window
from projections.tokens import Counter, count_item

Summarize = Callable[[Summary, Sequence[Item]], str | None]
"""From what is to be summarised to its text; None where no summary can be had."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the what-if."""

    number: int
    position: int
    tokens: int
    items: int
    prefix: int
    """Tokens that the context of the call before began with too."""


@dataclass(frozen=True, slots=True)
class Change:
    """One decision as it was applied."""

    position: int
    call: int
    """The calls made before it."""
    kind: str
    items: tuple[Origin, ...]
    before: int
    after: int
    """Tokens of what it changed, before and after."""
    reason: str


@dataclass(slots=True)
class WhatIf:
    """The run of one strategy over one recording."""

    spec: str
    calls: list[Call] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    needs_summary: int = 0
    """Summaries that could not be had, so that the next rung of the ladder was taken."""

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


class Runner:
    """Steps a strategy through a recording."""

    def __init__(
        self,
        recording: Recording,
        strategies: Sequence[Strategy],
        counting: Counter,
        summarize: Summarize | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.recording = recording
        self.strategies = strategies
        self.counting = counting
        self.summarize = summarize
        self.observer = observer
        self.window = Window()
        self.result = WhatIf(" | ".join(strategy.spec for strategy in strategies))
        self._decided = 0
        self._by_moment: dict[MomentKind, list[Strategy]] = {
            kind: [s for s in strategies if s.at == kind]
            for kind in ("tool_result", "user_turn", "model_call")
        }

    def run(self, until: int | None = None) -> WhatIf:
        """All steps, or those before a position."""
        for step in self.recording.steps:
            if until is not None and step.position >= until:
                break
            self._step(step)
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
            self._at(Moment("user_turn", step.position, incoming=item))
        entry = self.window.append(step.origin, item, step.tokens)
        if entry.is_result:
            self._at(Moment("tool_result", step.position, result=step.origin))

    def _rewind(self, step: Step) -> None:
        """The context is again as the strategy had made it at an earlier position."""
        again = Runner(self.recording, self.strategies, self.counting, self.summarize)
        again.run(step.to + 1)
        again.window.follows(self.window)
        self.window = again.window

    # -- decisions ------------------------------------------------------------------------------

    def _at(self, moment: Moment) -> None:
        for strategy in self._by_moment[moment.kind]:
            if strategy.triggered(self.window, moment):
                for decision in list(strategy.decide(self.window, moment)):
                    self._apply(decision, moment)

    def _apply(self, decision: Decision, moment: Moment) -> None:
        if isinstance(decision, Substitute):
            self._substitute(decision, moment)
        elif isinstance(decision, Compact):
            self._compact(decision, moment)
        elif isinstance(decision, Restore):
            entry = self.window.entries.get(decision.item)
            if entry is not None:
                self.window.substitute(
                    decision.item, entry.original, entry.original_tokens, cleared=False
                )

    def _substitute(self, decision: Substitute, moment: Moment) -> None:
        entry = self.window.entries.get(decision.item)
        if entry is None or entry.is_system or entry.origin in self.window.pins:
            return
        message = messages.with_content(entry.item.dialect, entry.item.message, decision.content)
        item = replace(entry.item, message=message, form=decision.kind, _parts=[])
        tokens = count_item(self.counting, item)
        if tokens >= entry.tokens:  # no gain: what does not save is not done
            return
        before = entry.tokens
        cleared = decision.kind != "cut"
        self.window.substitute(decision.item, item, tokens, cleared=cleared)
        self._changed(moment, decision.kind, (decision.item,), before, tokens, decision.reason)

    def _compact(self, decision: Compact, moment: Moment) -> None:
        chosen = self._whole_units(decision.items)
        if not chosen:
            return
        covered = tuple(entry.origin for entry in chosen)
        before = sum(entry.tokens for entry in chosen)
        said: tuple[Said, ...] = ()
        if isinstance(decision.by, Summary):
            text = self._summary(decision.by, chosen)
            if not text:
                self.result.needs_summary += 1
                self._fall_back(decision, moment)
                return
            said = decision.by.frame(text)
        else:
            said = decision.by
        new = self._new_items(said)
        after = sum(tokens for _, tokens in new.values())
        if after >= before:
            return
        self.window.replace(covered, new)
        kind = "summarised" if isinstance(decision.by, Summary) else "dropped"
        self._changed(moment, kind, covered, before, after, decision.reason)

    def _whole_units(self, origins: Iterable[Origin]) -> list[Entry]:
        """Only units that are named whole and may be touched, in the order of the context."""
        window = self.window
        named = {origin for origin in origins if origin in window.entries}
        last_human = window.last_human()
        units: dict[int, bool] = {}
        found: list[Entry] = []
        for origin in named:
            unit = window.entries[origin].unit
            if unit.number in units:
                continue
            movable = all(
                o in named and not window.untouchable(entry) and entry is not last_human
                for o, entry in unit.items.items()
            )
            units[unit.number] = movable
            if movable:
                found.extend(unit.items.values())
        found.sort(key=lambda entry: entry.order)
        return found

    def _summary(self, wanted: Summary, chosen: Sequence[Entry]) -> str | None:
        if self.summarize is None:
            return None
        return self.summarize(wanted, [entry.item for entry in chosen])

    def _fall_back(self, decision: Compact, moment: Moment) -> None:
        if decision.fallback:
            from projections.strategies.spec import parse

            for strategy in parse(decision.fallback):
                for other in list(strategy.decide(self.window, moment)):
                    self._apply(other, moment)

    def _new_items(self, said: Sequence[Said]) -> dict[Origin, tuple[Item, int]]:
        found: dict[Origin, tuple[Item, int]] = {}
        for each in said:
            self._decided += 1
            name = f"0.{self._decided}"
            item = Item(
                id=name,
                rendition=name,
                kind="summary",
                dialect="openai_chat",
                role=each.role,
                message={"role": each.role, "content": each.text},
                source="injected",
                label=each.label,
            )
            found[name] = (item, count_item(self.counting, item))
        return found

    def _changed(
        self,
        moment: Moment,
        kind: str,
        items: tuple[Origin, ...],
        before: int,
        after: int,
        reason: str,
    ) -> None:
        calls = self.window.calls
        self.result.changes.append(
            Change(moment.position, calls, kind, items, before, after, reason)
        )
