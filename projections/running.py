"""A strategy in charge of a session that goes on: what it decides, as the events to append.

It is told of each item and each call, and gives the events that belong in the same append. The
moments, the window, the applier and the ladder are those of a what-if, so that the same strategy
decides the same at the same moment.

Pure: recordings in, events out; whoever writes appends them at the version that was read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eventlog.events import CompactionDeclined, DecidedBy, Event
from eventlog.recorded import RecordedEvent
from projections import runs
from projections.attention import Attention
from projections.deciding import Deciding, PromptDigest, Told, told_of, who
from projections.items import Item
from projections.ladder import RAISED
from projections.observed import folded
from projections.recording import Recording, Step
from projections.runs import Origin, position_of
from projections.seen import Seen
from projections.strategies.base import Moment, Strategy
from projections.strategies.window import Embed
from projections.tokens import Counter
from projections.whatif import Runner, Summarize, WhatIf

PLACEHOLDERS = frozenset({"cut", "cleared", "deduplicated"})
"""Forms that a strategy, or an agent's own, gave an item."""

TRIED = frozenset({"placeholder_substituted", "context_compacted", "compaction_declined"})
"""What a strategy did, or tried to do."""

REVISED_SINCE = "the item was revised since"


def no_digest(name: str) -> str:
    """Of a prompt that nobody has."""
    return ""


@dataclass(frozen=True, slots=True)
class Around:
    """An item that comes in, and the decisions of its moments: one append."""

    before: tuple[Event, ...]
    position: int
    """Where the item's own event stands."""
    after: tuple[Event, ...]


class InCharge(Runner):
    """A strategy, told of a session as it goes on.

    After an undo or a rewind the context is another one: begin anew, from the log.
    """

    def __init__(
        self,
        strategies: Sequence[Strategy],
        counting: Counter,
        *,
        recording: Recording | None = None,
        summarize: Summarize | None = None,
        embed: Embed | None = None,
        digest: PromptDigest = no_digest,
        first: int = 1,
        held: Collection[Origin] = (),
    ) -> None:
        given = recording or Recording((), {}, counting.name)
        super().__init__(given, strategies, counting, summarize, None, embed)
        by = {strategy.spec: who(strategy) for strategy in self.strategies}
        self.deciding = Deciding(self.window, counting, summarize, first=first, by=by)
        self.deciding.digest = digest
        self.applier = self.deciding
        self.result.changes, self.result.asked = self.deciding.changes, self.deciding.asked
        self._kept: dict[int, tuple[int, dict[Origin, list[int]]]] = {}
        """By position: the events until there, and what was made of which item."""
        self._known: frozenset[Told] = frozenset()
        self._held = frozenset(held)
        self.window.pins |= self._held
        self.attention = [Attention(strategy.spec, strategy.at) for strategy in self.strategies]

    # -- a session that goes on -------------------------------------------------------------------

    def came(self, item: Item, tokens: int, position: int) -> Around:
        """An item comes in; ``position`` is that of the next event of the stream."""
        self.begin(position)
        if item.is_human:
            self.window.incoming = True
            self._at(Moment("user_turn", position, incoming=item))
            self.window.incoming = False
        before, at = tuple(self.deciding.events), self.deciding.next
        self.begin(at + 1)
        own = replace(item, id=str(at), rendition=str(at))
        entry = self.window.append(at, own, tokens)
        if entry.is_result:
            self._at(Moment("tool_result", at, result=at))
        return Around(before, at, tuple(self.deciding.events))

    def calls(self, position: int) -> tuple[Event, ...]:
        """A call is about to be made; what is decided stands in front of it in the same append."""
        self.begin(position)
        self._at(Moment("model_call", position))
        self.result.called(self.window, self.deciding.next)
        return tuple(self.deciding.events)

    def notes(self, step: Step) -> None:
        """A pin, a revision or a task type was appended."""
        assert step.kind in ("pin", "unpin", "revise", "task", "tools")
        if step.kind == "revise":
            self._revising(step, take_back=False)
        super()._step(step)

    def renamed(self, origin: Origin, item: Item, tokens: int) -> bool:
        """A repair gave the calls of an item other ids; False where the item does not stand."""
        entry = self.window.entries.get(origin)
        if entry is not None:
            self.deciding.originals.setdefault(origin, entry.original)
            entry.original, entry.original_tokens = item, tokens
            self.window.substitute(origin, item, tokens, cleared=entry.is_settled)
        return entry is not None

    def begin(self, position: int) -> None:
        """What is decided next will stand from that position on."""
        self.deciding.first, self.deciding.later = position, 0
        self.deciding.events.clear()

    # -- a session as it is -----------------------------------------------------------------------

    def follow(
        self,
        seen: Iterable[Seen | Step],
        pins: Collection[Origin],
        task: str,
        tried: Sequence[RecordedEvent] = (),
    ) -> None:
        """Take what has become of a session as it is, without deciding anything.

        ``tried`` are the decisions, and what was declined: who got stuck is not asked again before
        the context has grown, also by another process.
        """
        window, run = self.window, WhatIf("")
        calls, came = list[int](), dict[Origin, Item]()
        placed = self.deciding.placed
        waiting = list(reversed(tried))
        for step in seen:
            while waiting and waiting[-1].position < step.position:
                self._tried(waiting.pop(), window.tokens)
            window = folded(step, window, run, None)
            if isinstance(step, Step):
                calls += [step.position] if step.kind == "call" else []
                came |= {step.origin: step.item} if step.item is not None else {}
            elif step.kind == "render":
                for item, _ in step.items:
                    if item.form in PLACEHOLDERS:
                        placed.setdefault(step.origin, []).append(step.position)
            elif step.kind == "compact":
                for origin in step.covered:
                    placed.pop(origin, None)
            else:
                placed.clear()
                for item, _ in step.items:
                    if item.form in PLACEHOLDERS:
                        placed[runs.origin(item.id)] = [int(item.rendition.partition("@")[2])]
        for origin, entry in window.entries.items():
            entry.call = bisect_left(calls, position_of(origin))
            if entry.item.form in PLACEHOLDERS - {"cut"} and not entry.is_settled:
                window.settle(origin)
            if (first := came.get(origin, entry.original)).message != entry.original.message:
                self.deciding.originals.setdefault(origin, first)  # repaired since
        while waiting:
            self._tried(waiting.pop(), window.tokens)
        window.pins, window.task_type = {*pins, *self._held}, task
        self.window = self.deciding.window = window

    def _tried(self, event: RecordedEvent, tokens: int) -> None:
        """Raise the trigger of a strategy that got stuck there, or lower it again."""
        by = event.data.get("by")
        for place, strategy in enumerate(self.strategies):
            if by is None or not is_same(by, self.deciding.by[strategy.spec]):
                continue
            if event.type != "compaction_declined":
                self._raised.pop(place, None)
            elif event.data.get("reason") != "no_gain":
                self._raised[place] = tokens * RAISED

    def catch_up(self, steps: Iterable[Step], known: Collection[Told] = ()) -> None:
        """Go through moments that lie in the past; what is decided will stand at the end."""
        self._known = frozenset(known)
        self.deciding.told = set(known)
        self.recording = replace(self.recording, steps=tuple(steps))
        self.run()

    def ask_all(self, position: int, kinds: Collection[str]) -> None:
        """Ask at moments of some kinds, of the context as it is now."""
        if "tool_result" in kinds:
            for origin in list(self.window.results):
                if origin in self.window.entries:
                    self._at(Moment("tool_result", position, result=origin))
        if "user_turn" in kinds:
            self._at(Moment("user_turn", position))

    def _step(self, step: Step) -> None:
        self.deciding.later = step.position + (step.kind != "item")
        if step.kind == "revise":
            self._revising(step, take_back=True)
        super()._step(step)
        self.window.pins |= self._held  # whatever was unpinned, or rewound, in between

    def _at(self, moment: Moment) -> None:
        if moment.kind == "tool_result" and self.deciding.later == moment.position:
            self.deciding.later += 1  # the result itself stands in the window
        super()._at(moment)

    def _begins(self, place: int, moment: Moment) -> None:
        self.attention[place].begins(moment)

    def _waiting(self, place: int, moment: Moment, until: float | None = None) -> None:
        attention = self.attention[place]
        if until is None:
            attention.not_triggered(self.strategies[place], self.window, moment)
        else:
            attention.is_stuck(self.window, until, moment)

    def _revising(self, step: Step, take_back: bool) -> None:
        """What was decided about an item gives way to its revision.

        A decision that is appended after a revision would win over it, so it is undone then.
        """
        entry = self.window.entries.get(step.origin)
        if entry is None:
            return
        self.deciding.originals.setdefault(step.origin, entry.original)
        if take_back:
            self.deciding.take_back(step.origin, REVISED_SINCE)
        else:
            self.deciding.placed.pop(step.origin, None)

    def _remember(self, position: int) -> None:
        super()._remember(position)
        placed = {origin: list(of) for origin, of in self.deciding.placed.items()}
        self._kept[position] = len(self.deciding.events), placed

    def _rewind(self, step: Step) -> None:
        """What was decided since the place that is gone back to will not be appended."""
        super()._rewind(step)
        count, placed = self._kept.get(step.to, (0, {}))
        deciding = self.deciding
        del deciding.events[count:]
        deciding.placed = {origin: list(of) for origin, of in placed.items()}
        told = (told_of(e) for e in deciding.events if isinstance(e, CompactionDeclined))
        deciding.told = {*self._known, *(each for each in told if each is not None)}


def is_same(by: Mapping[str, object], own: DecidedBy) -> bool:
    """Whether a recorded decision names that strategy, with the same parameters."""
    return {"parameters": None, **by} == own.model_dump(mode="json")
