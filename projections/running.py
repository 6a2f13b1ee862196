"""A strategy in charge of a session: what it decides, as the events to append.

The moments, the window, the applier and the ladder are those of a what-if, so that the same
strategy decides the same at the same moment. There are two ways to be in charge:

``decided_now``   for a session as it is. The strategy goes through the moments since the last
                  decision that the log holds (all of them, where there is none: then the context
                  becomes the one that the what-if shows), and a call is about to be made. What it
                  decides is appended at the end. Where the last decision is not its own it has not
                  seen the context as it is, so each of its moments is asked at least once.
``InCharge``      for a session that goes on: it is told of each item and each call, and gives the
                  events that belong in the same append.

Pure: recordings in, events out; whoever writes appends them at the version that was read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eventlog.events import CompactionDeclined, DecidedBy, Event
from eventlog.recorded import RecordedEvent
from projections import runs
from projections.applying import Asked, Change
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

_TRIED = frozenset({"placeholder_substituted", "context_compacted", "compaction_declined"})

REVISED_SINCE = "the item was revised since"


def _no_digest(name: str) -> str:
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
        digest: PromptDigest = _no_digest,
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
        if entry is None:
            return False
        self.deciding.originals.setdefault(origin, entry.original)
        entry.original, entry.original_tokens = item, tokens
        self.window.substitute(origin, item, tokens, cleared=entry.is_settled)
        return True

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
        calls: list[int] = []
        came: dict[Origin, Item] = {}
        placed = self.deciding.placed
        waiting = list(reversed(tried))
        for step in seen:
            while waiting and waiting[-1].position < step.position:
                self._tried(waiting.pop(), window.tokens)
            window = folded(step, window, run, None)
            if isinstance(step, Step):
                if step.kind == "call":
                    calls.append(step.position)
                elif step.item is not None:
                    came[step.origin] = step.item
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
            first = came.get(origin)  # a repair may have given its calls other ids since
            if first is not None and first.message != entry.original.message:
                self.deciding.originals.setdefault(origin, first)
        while waiting:
            self._tried(waiting.pop(), window.tokens)
        window.pins, window.task_type = {*pins, *self._held}, task
        self.window = self.deciding.window = window

    def _tried(self, event: RecordedEvent, tokens: int) -> None:
        """Raise the trigger of a strategy that got stuck there, or lower it again."""
        by = event.data.get("by")
        for place, strategy in enumerate(self.strategies):
            if by is None or not _is_same(by, self.deciding.by[strategy.spec]):
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


# -- now ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DecidedNow:
    """What a strategy decides about a session as it is."""

    events: tuple[Event, ...]
    items: tuple[Item, ...]
    """The context after them."""
    changes: tuple[Change, ...]
    asked: tuple[Asked, ...]
    """The summaries that were asked for."""
    needs_summary: int
    """Those that could not be had."""
    since: int
    """The position of the last decision that the log held; 0 where there was none."""
    attention: tuple[Attention, ...]
    """How often each strategy was asked, and what it waits for."""
    now: int
    """Moments at this position and behind it are about the context as it is now."""
    stuck: str
    """What cannot be reduced, when the context is over a promised number at the end."""


def last_decided(found: Recording) -> int:
    """The position of the last decision in the context of a recording; 0 where there is none.

    Revisions are part of the conversation, and so are rewinds as long as nothing was decided.
    """
    rewinds = {step.position for step in found.steps if step.kind == "rewind"}
    seen = [step for step in found.seen if isinstance(step, Seen) and not _is_revision(step)]
    if all(step.position in rewinds for step in seen):
        return 0
    return max(step.position for step in seen)


def _is_revision(step: Seen) -> bool:
    return step.kind == "render" and all(item.form == "revised" for item, _ in step.items)


def decided_now(
    found: Recording,
    history: Sequence[RecordedEvent],
    strategies: Sequence[Strategy],
    counting: Counter,
    *,
    first: int,
    pins: Mapping[int, Collection[Origin]],
    held: Collection[Origin] = (),
    summarize: Summarize | None = None,
    embed: Embed | None = None,
    digest: PromptDigest = _no_digest,
) -> DecidedNow:
    """What strategies decide about a session as it is, when a call is about to be made.

    ``history`` are the stream's events, decisions with their payload, and what was declined;
    ``pins`` are the pinned items after ``last_decided(found)``, by that position, and ``held``
    those that are pinned now: they are not touched at any moment, since what is decided about the
    past is appended now. ``first`` is the position at which the first of the events will stand.
    """
    runner = InCharge(
        strategies,
        counting,
        recording=found,
        summarize=summarize,
        embed=embed,
        digest=digest,
        first=first,
        held=held,
    )
    start, end = last_decided(found), len(history)
    if start:
        seen = (step for step in found.seen if step.position <= start)
        tasks = [s.text for s in found.steps if s.kind == "task" and s.position <= start]
        later = min((s.position for s in found.steps if s.position > start), default=end + 1)
        tried = [e for e in history[: later - 1] if e.type in _TRIED]
        runner.follow(seen, pins.get(start, ()), tasks[-1] if tasks else "", tried)
    steps = [step for step in found.steps if step.position > start]
    # Directly behind an earlier run, everything that it declined is known.
    quiet = max((s.position for s in found.steps if s.kind in ("item", "call")), default=0)
    known = {
        told
        for event in history[min(start, quiet) :]
        if event.type == "compaction_declined"
        and isinstance(event.event, CompactionDeclined)
        and (told := told_of(event.event)) is not None
    }
    runner.catch_up(steps, known)
    is_own = bool(start) and _is_own(history[start - 1], runner)
    if start and not is_own:
        runner.ask_all(end, _kinds_missing(steps))
    runner._step(Step("call", end + 1))
    events = runner.deciding.events
    if is_own and not steps and not any(map(_tells, events)):
        events.clear()  # nothing came since its own last decision, and it changes nothing
    changes = tuple(runner.deciding.changes)
    last = [c for c in changes if c.position == end + 1 and c.kind == "over_budget"]
    return DecidedNow(
        events=tuple(events),
        items=tuple(runner.items()),
        changes=changes,
        asked=tuple(runner.deciding.asked),
        needs_summary=runner.deciding.needs_summary,
        since=start,
        attention=tuple(runner.attention),
        now=end if start and not is_own else end + 1,
        stuck=last[-1].reason if last else "",
    )


def _tells(event: Event) -> bool:
    """Whether an event changes the context, or says what was paid."""
    return not isinstance(event, CompactionDeclined) or event.usage is not None


def _is_own(event: RecordedEvent, runner: InCharge) -> bool:
    """Whether a decision was taken by one of these strategies, with the same parameters."""
    by = event.data.get("by")
    return by is not None and any(_is_same(by, own) for own in runner.deciding.by.values())


def _is_same(by: Mapping[str, object], own: DecidedBy) -> bool:
    return {"parameters": None, **by} == own.model_dump(mode="json")


def _kinds_missing(steps: Sequence[Step]) -> set[str]:
    """The kinds of moments of which none lies in these steps; a call comes in any case."""
    items = [step.item for step in steps if step.kind == "item" and step.item is not None]
    missing = set[str]()
    if not any(item.kind == "tool_result" for item in items):
        missing.add("tool_result")
    if not any(item.is_human for item in items):
        missing.add("user_turn")
    return missing
