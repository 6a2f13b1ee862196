"""Decisions as events: what an applier does to a window, a log is told of.

The window, the checks and the ladder are those of a what-if; here each change also becomes the
event that makes the fold show the same. Positions are known before anything is appended, since an
append that loses its place is refused as a whole: so the messages of a compaction have their true
names from the first, and an event may name one that stands before it in the same append.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from eventlog import messages
from eventlog.events import (
    CompactionDeclined,
    ContextCompacted,
    DecidedBy,
    DecisionUndone,
    Event,
    MessageRevised,
    NewMessage,
    PlaceholderSubstituted,
    Summarizer,
    Usage,
)
from eventlog.jsonvalue import Json
from projections import runs
from projections.applying import Applier, Change, ChangeKind
from projections.items import Item
from projections.runs import Origin
from projections.strategies.base import Moment, Strategy
from projections.strategies.decisions import Compact, Decision, Said, Substitute, Summary
from projections.strategies.window import Entry
from projections.written import Written

PromptDigest = Callable[[str], str]
"""From the name of a prompt to the digest of its text; empty where there is none."""

Declined = Literal["no_gain", "empty", "failed", "refused", "inflated", "over_budget"]

_FAULTS: Mapping[str | None, Declined] = {
    "empty": "empty",
    "refused": "refused",
    "inflated": "inflated",
    None: "inflated",  # the text is fine, and not smaller than what it would stand for
}
"""Of a summary that became no memory; every other fault is a failure."""

_DETAIL = 500
"""Characters of the reason of a declined decision."""

Told = tuple[str, str, str]
"""Who declined, the reason, and its detail."""


@dataclass(slots=True)
class Deciding(Applier):
    """Applies decisions to a window, and keeps the events that say so."""

    first: int = 1
    """The position of the first event that will be appended."""
    events: list[Event] = field(default_factory=list)
    by: dict[str, DecidedBy] = field(default_factory=dict)
    """Who decides, by the spec."""
    digest: PromptDigest = lambda name: ""
    originals: dict[Origin, Item] = field(default_factory=dict)
    """Items as they came in, where what the window calls the original is a revision of it."""
    placed: dict[Origin, list[int]] = field(default_factory=dict)
    """By item, the positions of what strategies made of it and is in force, in order."""
    later: int = 0
    """When a moment of the past is gone through: from which position on items came later, which the
    log holds and the window does not yet."""
    told: set[Told] = field(default_factory=set)
    """What was declined since the last decision: it is recorded once."""
    _decision: Decision | None = None
    _pass: str = ""

    @property
    def next(self) -> int:
        """The position of the next event."""
        return self.first + len(self.events)

    # -- what an applier does ---------------------------------------------------------------------

    def decided(self, strategy: Strategy, moment: Moment, rung: str = "", by: str = "") -> None:
        """The same, and what is substituted in one go is one pass."""
        self._pass = ""
        Applier.decided(self, strategy, moment, rung, by)  # type: ignore[arg-type]

    def apply(self, decision: Decision, *, last_human: bool = False) -> None:
        """The same; the decision is what the event says."""
        self._decision = decision
        Applier.apply(self, decision, last_human=last_human)

    def new_names(self, count: int) -> list[str]:
        """``57.0``, ``57.1`` … of the event that comes next."""
        self.made += count
        return [f"{self.next}.{number}" for number in range(count)]

    def _replace(
        self,
        decision: Compact,
        chosen: Sequence[Entry],
        said: Sequence[Said],
        unseen: tuple[Origin, ...] = (),
    ) -> bool:
        self._decision = decision
        return Applier._replace(self, decision, chosen, said, unseen)

    def no_summary(self, reason: str, written: Written | None) -> None:
        """The same, and the log is told, with what that cost."""
        Applier.no_summary(self, reason, written)
        fault: Declined = "failed"
        if written is not None:
            fault = _FAULTS.get(written.fault, "failed")
            reason += f": {written.detail}" if written.detail else ""
        self._decline_event(fault, reason, written.usage if written is not None else None)

    def _changed(
        self,
        kind: ChangeKind,
        items: tuple[Origin, ...],
        before: int,
        after: int,
        reason: str,
        made: tuple[Origin, ...] = (),
        unseen: tuple[Origin, ...] = (),
    ) -> None:
        Applier._changed(self, kind, items, before, after, reason, made, unseen)
        self._tell(self.changes[-1])

    # -- what a log is told -----------------------------------------------------------------------

    def _tell(self, change: Change) -> None:
        kind = change.kind
        if kind not in ("declined", "over_budget"):
            self.told.clear()
        if kind in ("cut", "cleared", "deduplicated"):
            self._substituted(change)
        elif kind == "revised":
            self._revised(self.window.entries[change.items[0]], change.reason)
        elif kind == "restored":
            self.take_back(change.items[0], change.reason)
        elif kind in ("summarised", "dropped"):
            self._compacted(change)
        elif kind == "over_budget":
            self._decline_event("over_budget", change.reason)
        elif not change.reason.startswith("no summary could be had"):  # that was told already
            self._decline_event("no_gain", change.reason)

    def take_back(self, origin: Origin, reason: str) -> None:
        """Undo what was decided about one item, the latest first."""
        for position in reversed(self.placed.pop(origin, [])):
            self.events.append(DecisionUndone(target=position, reason=reason))

    def _who(self) -> DecidedBy:
        return self.by.get(self.strategy) or DecidedBy(name=self.strategy)

    def _substituted(self, change: Change) -> None:
        (origin,) = change.items
        entry, decision = self.window.entries[origin], self._decision
        assert isinstance(decision, Substitute)
        came = self.originals.get(origin, entry.original)
        shown = messages.with_content(came.dialect, came.message, decision.content)
        if shown != entry.item.message:  # it is a cut of a revision, which no substitution shows
            self._revised(entry, change.reason)
            return
        self._pass = self._pass or f"pass-{self.next}"
        self._place(entry)
        rung = f" (ladder: {change.rung})" if change.rung else ""
        self.events.append(
            PlaceholderSubstituted(
                item=str(origin),
                kind=decision.kind,
                content=decision.content,
                reason=change.reason + rung,
                pass_id=self._pass,
                by=self._who(),
            )
        )

    def _place(self, entry: Entry) -> None:
        """The next event is what an item's rendition is named by."""
        self.placed.setdefault(entry.origin, []).append(self.next)
        entry.item = replace(entry.item, rendition=runs.label(entry.origin, self.next))

    def _revised(self, entry: Entry, reason: str) -> None:
        self._place(entry)
        message = Json(dict(entry.item.message))
        self.events.append(MessageRevised(item=str(entry.origin), message=message, reason=reason))

    def _compacted(self, change: Change) -> None:
        entries = [self.window.entries[origin] for origin in change.messages]
        decision = self._decision
        assert isinstance(decision, Compact)
        summarizer = None
        if change.kind == "summarised" and isinstance(decision.by, Summary):
            shown = [origin for origin in change.items if origin not in change.unseen]
            written = self.asked[-1].written
            summarizer = Summarizer(
                model=written.model,
                prompt_digest=self.digest(decision.by.prompt),
                shown=tuple(self._named(shown, change.items)),
                usage=written.usage,
            )
        self.events.append(
            ContextCompacted(
                covered=tuple(self._named(change.items, change.items)),
                layout=self._layout(change) if decision.place == "last" and entries else None,
                by=self._who(),
                trigger=self.moment.kind,
                summarizer=summarizer,
                fell_back_from=self._fell_back_from(change),
                messages=tuple(
                    NewMessage.model_validate(
                        {
                            "dialect": entry.item.dialect,
                            "message": dict(entry.item.message),
                            "label": entry.item.label,
                        }
                    )
                    for entry in entries
                ),
            )
        )
        for origin in change.items:
            self.placed.pop(origin, None)

    def _fell_back_from(self, change: Change) -> str:
        """What had been tried before items left: a summary that was not had, or the rung above."""
        if change.kind == "summarised":
            return ""
        if isinstance(self._decision, Compact) and isinstance(self._decision.by, Summary):
            return "summary"
        return "clear" if change.rung == "truncate" else ""

    def _named(self, origins: Iterable[Origin], covered: Iterable[Origin]) -> list[str]:
        """Items as runs that span nothing else of what stood there."""
        chosen = list(origins)
        others = {*self.window.entries, *covered} - set(chosen)
        barriers = sorted(float(origin) for origin in others if isinstance(origin, int))
        return runs.encode([(origin, 0) for origin in chosen], barriers)

    def _layout(self, change: Change) -> tuple[str, ...]:
        """The whole context as it is now, with the new messages as ``m0``, ``m1`` …"""
        new = {origin: f"m{number}" for number, origin in enumerate(change.messages)}
        found: list[str] = []
        between: list[Origin] = []
        for origin in self.window.entries:
            if origin in new:
                found += self._named(between, change.items)
                found.append(new[origin])
                between = []
            else:
                between.append(origin)
        found += self._named(between, change.items)
        if 0 < self.later < self.first:
            found.append(f"{self.later}-{self.first - 1}")
        return tuple(found)

    def _decline_event(self, reason: Declined, detail: str, usage: Usage | None = None) -> None:
        by = self._who()
        told = repr(by), reason, detail[:_DETAIL]
        if usage is None and told in self.told:
            return
        self.told.add(told)
        self.events.append(
            CompactionDeclined(reason=reason, detail=detail[:_DETAIL], usage=usage, by=by)
        )


def told_of(event: CompactionDeclined) -> Told | None:
    """What a recorded event told; None where nobody is named."""
    if event.by is None:
        return None
    return repr(event.by), event.reason, event.detail


def who(strategy: Strategy) -> DecidedBy:
    """A strategy as events name it: with the parameters that differ from their defaults."""
    parameters = strategy.parameters.model_dump(mode="json", exclude_defaults=True)
    if strategy.at != strategy.moment:
        parameters["at"] = strategy.at
    return DecidedBy(name=strategy.name, parameters=Json(parameters) if parameters else None)
