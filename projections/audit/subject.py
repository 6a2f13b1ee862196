"""What the rules look at: one session, read once.

Of the events only what the rules need is kept; the text stays in the recording, once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from eventlog.recorded import RecordedEvent
from projections.anchors import Anchor
from projections.audit.model import MemoryRow
from projections.audit.passages import Passages, Watcher
from projections.items import Item
from projections.metrics.ground import Ground
from projections.metrics.measure import Measured, Options, measure
from projections.observed import observed
from projections.prefixes import PrefixRow
from projections.recording import Recording, Step
from projections.runs import Origin, Standing, label
from projections.tokens import Counter
from projections.triggers import trigger_of
from projections.usage import usage_totals
from projections.verdicts import Verdict

Outcome = Literal["answered", "failed", "unknown"]
W = TypeVar("W", bound=Watcher)


@dataclass(slots=True)
class Called:
    """A call, and what came of it."""

    number: int
    position: int
    model: str
    tools: int
    outcome: Outcome = "unknown"
    status: int | None = None
    error: str = ""
    """Of a failed call."""
    billed: int | None = None
    cached: int | None = None
    output: int | None = None
    may_belong_to: tuple[str, ...] = ()
    """Other sessions that it may be a call of."""

    @property
    def name(self) -> str:
        """``c5``."""
        return f"c{self.number}"


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction, without its text."""

    number: int
    position: int
    trigger: str
    shown: tuple[str, ...]
    """What its summarizer was shown, as entries; empty where nobody recorded that."""
    is_opaque: bool
    is_erased: bool
    """What it put in was erased from the log since: nobody can say any more what that held."""
    messages: int
    pre_tokens: int | None
    post_tokens: int | None
    fell_back_from: str
    is_inferred: bool
    """It was read off two requests: whoever made it may have had more than was sent."""

    @property
    def name(self) -> str:
        """``k1``."""
        return f"k{self.number}"


@dataclass(frozen=True, slots=True)
class Substituted:
    """A placeholder, without its text."""

    position: int
    item: str
    kind: str
    reason: str


@dataclass(slots=True)
class Noted:
    """What was read of the events besides the recording."""

    calls: dict[int, Called] = field(default_factory=dict)
    compactions: dict[int, Compacted] = field(default_factory=dict)
    substitutions: list[Substituted] = field(default_factory=list)
    revisions: set[int] = field(default_factory=set)
    interruptions: list[tuple[int, int, str]] = field(default_factory=list)
    """(position, calls missed, why)"""
    unrecognized: list[int] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)

    def of(self, events: Iterable[RecordedEvent]) -> Iterator[RecordedEvent]:
        """The events, looked at while they pass."""
        for event in events:
            self._note(event)
            yield event

    def _note(self, event: RecordedEvent) -> None:
        at, kind = event.position, event.type
        if event.erased:
            self.erased.add(at)
        if kind == "model_called":
            number = len(self.calls) + 1
            model, tools = str(event.data.get("model", "")), event.data.get("tools") or 0
            others = tuple(map(str, event.data.get("may_belong_to", ())))
            self.calls[at] = Called(number, at, model, tools, may_belong_to=others)
        elif kind in ("model_responded", "model_failed"):
            self._ended(event.data, kind == "model_responded")
        elif kind == "context_compacted":
            self.compactions[at] = _compacted(event, len(self.compactions) + 1)
        elif kind == "placeholder_substituted":
            data = event.data
            what = str(data.get("kind", "cleared"))
            made = Substituted(at, data["item"], what, str(data.get("reason", "")))
            self.substitutions.append(made)
        elif kind == "message_revised":
            self.revisions.add(at)
        elif kind == "recording_interrupted":
            missed = int(event.data.get("calls_missed") or 0)
            self.interruptions.append((at, missed, str(event.data.get("reason", ""))))
        elif kind == "record_unrecognized" and event.data.get("kind", "unknown") != "known":
            self.unrecognized.append(at)

    def _ended(self, data: dict[str, Any], answered: bool) -> None:
        call = self.calls.get(data.get("call", 0))
        if call is None or call.outcome != "unknown":
            return
        call.outcome = "answered" if answered else "failed"
        if not answered:
            call.status, call.error = data.get("status"), str(data.get("error") or "")
        if data.get("usage") is not None:
            usage = usage_totals(data["usage"])
            call.billed, call.cached, call.output = usage.prompt, usage.cached, usage.output


def _compacted(event: RecordedEvent, number: int) -> Compacted:
    data = event.data
    by = data.get("by") or {}
    summarizer = data.get("summarizer") or {}
    return Compacted(
        number=number,
        position=event.position,
        trigger=str(data.get("trigger") or by.get("name") or trigger_of(data)),
        shown=tuple(summarizer.get("shown") or ()),
        is_opaque=bool(data.get("opaque")),
        is_erased=event.erased and bool(data.get("messages")),
        messages=len(data.get("messages", ())),
        pre_tokens=data.get("pre_tokens"),
        post_tokens=data.get("post_tokens"),
        fell_back_from=str(data.get("fell_back_from") or ""),
        is_inferred=bool(data.get("inferred")),
    )


@dataclass(frozen=True, slots=True)
class Recalled:
    """What of a person's memories the session showed."""

    rows: Mapping[int, Sequence[MemoryRow]] = field(default_factory=dict)
    """By the positions of the calls."""
    explained: frozenset[str] = frozenset()
    """The renditions of items of which an event says what they show."""
    is_observed: bool = False
    """Another program wrote the session: what it remembers stands elsewhere."""


@dataclass
class Subject:
    """A session under audit."""

    recording: Recording
    noted: Noted
    counting: Counter
    verdicts: Sequence[Verdict]
    """Of all calls, in their order."""
    prefixes: Sequence[PrefixRow]
    """Likewise."""
    stands: Sequence[Standing] | None = None
    """The view that is stored, where it is to be compared."""
    recalled: Recalled = field(default_factory=Recalled)
    base: int = 0
    """Of a fork: the last event that is its parent's; what it shares is told there."""
    passages: Passages = field(init=False)
    literals: list[Anchor] = field(default_factory=list, init=False)
    """What watchers want to be looked for in all items, once for all of them."""
    _watchers: dict[type[Watcher], Watcher] = field(default_factory=dict, init=False)

    def walk(
        self,
        watchers: Sequence[Watcher],
        shared: Iterable[type[Watcher]] = (),
        gone_through: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Fill ``passages``, with all watchers told; of each kind in ``shared`` one is made."""
        self._watchers = {kind: kind(self) for kind in dict.fromkeys(shared)}  # type: ignore[call-arg]
        told = [*self._watchers.values(), *watchers]
        self.passages = Passages(self.recording, told, gone_through)

    def release(self) -> None:
        """Let go of what only the rules needed, and of who watched: they hold this, and nothing
        may go round in a circle."""
        self._watchers = {}
        vars(self).pop("ground", None)

    def watched(self, kind: type[W]) -> W:
        """What was watching for several rules."""
        found = self._watchers[kind]
        assert isinstance(found, kind)
        return found

    @cached_property
    def ground(self) -> Ground:
        """What each call needed, whatever its context; not to be asked before the walk is over."""
        return Ground(self.recording, self.counting, self.literals)

    @cached_property
    def items(self) -> dict[Origin, Item]:
        """Every item that ever stood, as it came in; in the order of the log."""
        found = {s.origin: s.item for s in self.recording.steps if s.kind == "item" and s.item}
        return found

    @cached_property
    def summaries(self) -> dict[int, list[Item]]:
        """What each compaction put in, by its position."""
        found: dict[int, dict[str, Item]] = {}
        for step in self.recording.seen:
            for item, _ in () if isinstance(step, Step) else step.items:
                if item.kind == "summary":
                    found.setdefault(int(item.id.partition(".")[0]), {})[item.id] = item
        return {position: list(items.values()) for position, items in found.items()}

    @cached_property
    def calls(self) -> list[Called]:
        """All calls, in their order."""
        return list(self.noted.calls.values())

    def measured(self) -> Measured:
        """All metrics of the contexts as they really were. They are many, so nobody keeps them."""
        return measure(self.ground, lambda look: observed(self.recording, look), Options())

    @cached_property
    def _places(self) -> dict[int, int]:
        positions = sorted(o for o in self.passages.fates if isinstance(o, int))
        return {position: place for place, position in enumerate(positions)}

    def name(self, position: int) -> str:
        """``c5``, ``k1``, or the position itself."""
        known = self.noted.calls.get(position) or self.noted.compactions.get(position)
        return known.name if known is not None else str(position)

    def taker(self, item: Origin) -> RecordedEvent | None:
        """The event in force that keeps out an item that does not stand, as ``why`` names it."""
        return self.recording.takers.get(self.recording.force.taker(item))

    @cached_property
    def reasons(self) -> dict[int, str]:
        """Why each substitution was made, by its position."""
        return {each.position: each.reason for each in self.noted.substitutions}

    def is_taking(self, position: int) -> bool:
        """Whether there is a decision that can be asked what it lost."""
        noted = self.noted
        return (
            position in noted.compactions
            or position in noted.revisions
            or (position in self.reasons)
        )

    def is_sealed(self, position: int) -> bool:
        """Whether a compaction is encrypted: nobody knows what it kept."""
        compaction = self.noted.compactions.get(position)
        return compaction is not None and compaction.is_opaque

    def is_erased(self, position: int) -> bool:
        """Whether the summary of a compaction was erased: nobody knows any more what it kept."""
        compaction = self.noted.compactions.get(position)
        return compaction is not None and compaction.is_erased

    def next_call(self, position: int) -> Called | None:
        """The first call behind a position."""
        at = bisect_right(self._calls_at, position)
        return self.calls[at] if at < len(self.calls) else None

    @cached_property
    def _calls_at(self) -> list[int]:
        return [call.position for call in self.calls]

    def runs(self, items: Iterable[Origin]) -> tuple[str, ...]:
        """Items in few words: ``58-120`` names every item that came in between."""
        return tuple(name for name, _ in self.counted_runs(items))

    def counted_runs(self, items: Iterable[Origin]) -> list[tuple[str, int]]:
        """The same, each with how many items it names."""
        found: list[tuple[str, int]] = []
        first = last = count = 0
        for item in items:
            if isinstance(item, int) and first and self._follows(last, item):
                last, count = item, count + 1
                continue
            if first:
                found.append((_run(first, last), count))
            first = last = 0
            if isinstance(item, int):
                first = last = item
                count = 1
            else:
                found.append((label(item, 0), 1))
        if first:
            found.append((_run(first, last), count))
        return found

    def _follows(self, before: int, item: int) -> bool:
        return self._places.get(item, 0) == self._places.get(before, -9) + 1


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
