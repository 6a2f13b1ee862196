"""Decisions, applied to a window: what is legal and saves something is done, and all is noted.

A strategy proposes. What may not be touched stays, whatever it says: system messages, pinned items,
open calls, the newest human message, signed thinking, a summary, a placeholder. What saves nothing
is declined, and that is noted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from eventlog import messages
from eventlog.errors import InputRefused
from projections.items import Item
from projections.reading import binds_thinking, says_something
from projections.runs import Origin
from projections.shown import shown
from projections.strategies.base import Moment, Strategy
from projections.strategies.decisions import (
    Compact,
    Decision,
    Restore,
    Revise,
    Said,
    Substitute,
    Summary,
)
from projections.strategies.marks import unframed
from projections.strategies.spec import parse
from projections.strategies.window import Entry, Window
from projections.tokens import Counter, count_item
from projections.written import Summarize, Written, as_written

ChangeKind = Literal[
    "cut",
    "cleared",
    "deduplicated",
    "revised",
    "restored",
    "summarised",
    "dropped",
    "declined",
    "over_budget",
]
Rung = Literal["", "summary", "clear", "truncate", "cut", "over_budget"]


@dataclass(frozen=True, slots=True)
class Change:
    """One decision as it was applied or declined."""

    position: int
    call: int
    """The calls made before it."""
    kind: str
    """One of ChangeKind, or the form that an observed session's item was given."""
    items: tuple[Origin, ...]
    before: int
    after: int
    """Tokens of what it changed, before and after."""
    reason: str
    rung: Rung = ""
    """The rung of the ladder that it was: empty where the strategy's own decision did."""
    messages: tuple[Origin, ...] = ()
    """What a compaction put into the context."""
    unseen: tuple[Origin, ...] = ()
    """Of a summary: the items of which the summarizer was shown nothing. They are lost."""
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One summary that a summarizer was asked for, whether or not it became memory."""

    call: int
    """The calls made before it."""
    shown: int
    """Tokens that it was given, as counted here."""
    written: Written
    written_tokens: int


NO_SUCH = "there never was an item"
"""How the reason of a decision begins that names what is not there."""

TRIES = 3
"""Failed summaries in a row after which a strategy's summarizer is not asked again."""


@dataclass(slots=True)
class Applier:
    """Applies decisions to a window, and keeps what it did."""

    window: Window
    counting: Counter
    summarize: Summarize | None = None
    changes: list[Change] = field(default_factory=list)
    fates: dict[Origin, Change | None] = field(default_factory=dict)
    """What took each item out of the context; None: the session was rewound."""
    needs_summary: int = 0
    """Summaries that could not be had."""
    made: int = 0
    """Messages that compactions brought in, ever."""
    brought: dict[Origin, int] = field(default_factory=dict)
    """Those messages, with their tokens."""
    asked: list[Asked] = field(default_factory=list)
    moment: Moment = field(default_factory=lambda: Moment("model_call", 0))
    strategy: str = ""
    rung: Rung = ""
    stuck: bool = False
    """The last strategy wanted a summary, had none, and keeps the originals."""
    _declined: list[tuple[Origin, ...]] = field(default_factory=list)
    _said: dict[str, str] = field(default_factory=dict)
    """The last reason for which each strategy was declined."""
    _failed: dict[str, int] = field(default_factory=dict)

    def decided(self, strategy: Strategy, moment: Moment, rung: Rung = "", by: str = "") -> None:
        """Ask a strategy, and apply what it decides. ``by``: for whom it is a rung."""
        self.moment, self.strategy, self.rung = moment, by or strategy.spec, rung
        self.stuck = False
        for decision in list(strategy.decide(self.window, moment)):
            self.apply(decision)
        declined = tuple(origin for items in self._declined for origin in items)
        if declined:
            self._declined.clear()
            self._decline(declined, "no gain")

    def apply(self, decision: Decision, *, last_human: bool = False) -> None:
        """Apply one decision. ``last_human``: the newest human message may be cut as well.

        Raises InputRefused for what is no decision. An item that never was is declined, and noted.
        """
        self._known(decision)
        if isinstance(decision, Substitute):
            self._substitute(decision, last_human)
        elif isinstance(decision, Compact):
            self._compact(decision)
        elif isinstance(decision, Revise):
            self._revise(decision)
        elif isinstance(decision, Restore):
            self._restore(decision)
        else:
            raise InputRefused(
                f"{self.strategy} decided {type(decision).__name__} {str(decision)[:60]!r}, which "
                "is none of Substitute, Revise, Compact and Restore"
            )

    def _known(self, decision: Decision) -> None:
        named = getattr(decision, "items", None) or (getattr(decision, "item", None),)
        window = self.window.entries
        never = [o for o in named if o is not None and o not in window and o not in self.fates]
        if never:
            self._decline((), f"{NO_SUCH} {never[0]!r}")

    def note(self, kind: ChangeKind, items: tuple[Origin, ...], reason: str, after: int) -> None:
        """Keep what is no decision: what cannot be reduced, or was not worth it."""
        self._changed(kind, items, self.window.tokens, after, reason)

    # -- one item -------------------------------------------------------------------------------

    def _touchable(self, origin: Origin, last_human: bool = False) -> Entry | None:
        """The item, if its content may be replaced."""
        entry = self.window.entries.get(origin)
        if entry is None or entry.is_system or entry.is_summary or entry.origin in self.window.pins:
            return None
        if not last_human and entry is self.window.last_human():
            return None
        return None if binds_thinking(entry.item) else entry

    def _substitute(self, decision: Substitute, last_human: bool) -> None:
        entry = self._touchable(decision.item, last_human)
        if entry is None or entry.item.form in ("cleared", "deduplicated"):
            return
        original = entry.original
        message = messages.with_content(original.dialect, original.message, decision.content)
        item = replace(original, message=message, form=decision.kind)
        settled = decision.kind != "cut"
        if not self._in_force(entry, item, decision.kind, decision.reason, settled) and settled:
            self.window.settle(decision.item)

    def _revise(self, decision: Revise) -> None:
        entry = self._touchable(decision.item)
        if entry is None or entry is self.window.last_answer():
            return
        item = replace(entry.original, message=decision.message, form="revised")
        self._in_force(entry, item, "revised", decision.reason, settled=False)

    def _in_force(
        self, entry: Entry, item: Item, kind: ChangeKind, reason: str, settled: bool
    ) -> bool:
        tokens, before = count_item(self.counting, item), entry.tokens
        if tokens >= before:
            self._declined.append((entry.origin,))
            return False
        self.window.substitute(entry.origin, item, tokens, cleared=settled)
        self._changed(kind, (entry.origin,), before, tokens, reason)
        return True

    def _restore(self, decision: Restore) -> None:
        entry = self.window.entries.get(decision.item)
        if entry is None or entry.item is entry.original:
            return
        before = entry.tokens
        self.window.substitute(decision.item, entry.original, entry.original_tokens, cleared=False)
        self._changed("restored", (decision.item,), before, entry.tokens, "restored")

    # -- many items -----------------------------------------------------------------------------

    def _compact(self, decision: Compact) -> None:
        chosen = self._whole_units(decision.items)
        if not chosen:
            return
        if isinstance(decision.by, Summary):
            self._summarise(decision, decision.by, chosen)
        else:
            self._replace(decision, chosen, decision.by)

    def _summarise(self, decision: Compact, wanted: Summary, chosen: Sequence[Entry]) -> None:
        if all(entry.is_summary for entry in chosen):
            return  # a summary of nothing but summaries says nothing new
        seen = {e.origin for e in chosen if shown(e.item, texts_only=wanted.texts_only)}
        written = self._written(wanted, [entry for entry in chosen if entry.origin in seen])
        reason = "no summary could be had"
        if written is not None and written.fault is None:
            unseen = tuple(entry.origin for entry in chosen if entry.origin not in seen)
            if self._replace(decision, chosen, wanted.frame(written.text.strip()), unseen):
                self._failed.pop(self.strategy, None)
                return
            reason = "the summary is not smaller than what it covers"
        elif written is not None and written.fault is not None:
            reason += f" ({written.fault})"
        if seen and self.summarize is not None:
            self._failed[self.strategy] = self._failed.get(self.strategy, 0) + 1
        self.no_summary(reason, written)
        self._fall_back(decision, chosen, reason)

    def no_summary(self, reason: str, written: Written | None) -> None:
        """A summary could not be had; ``written`` is None where none was asked for."""
        self.needs_summary += 1

    def _written(self, wanted: Summary, entries: Sequence[Entry]) -> Written | None:
        if self.summarize is None or not entries or self._failed.get(self.strategy, 0) >= TRIES:
            return None
        written = as_written(self.summarize(wanted, [_without_marks(e) for e in entries]))
        given = sum(entry.tokens for entry in entries)
        self.asked.append(
            Asked(self.window.calls, given, written, self.counting.count(written.text))
        )
        return written

    def _fall_back(self, decision: Compact, chosen: Sequence[Entry], reason: str) -> None:
        if not decision.fallback:
            self._decline(tuple(entry.origin for entry in chosen), reason)
            self.stuck = True
            return
        rung, self.rung = self.rung, "truncate"
        if decision.fallback == "drop":
            self._replace(replace(decision, reason=reason), chosen, ())
        else:
            for strategy in parse(decision.fallback):
                for other in list(strategy.decide(self.window, self.moment)):
                    self.apply(other)
        self.rung = rung

    def _replace(
        self,
        decision: Compact,
        chosen: Sequence[Entry],
        said: Sequence[Said],
        unseen: tuple[Origin, ...] = (),
    ) -> bool:
        if not said:
            chosen = self._never_empty(chosen)
        covered = tuple(entry.origin for entry in chosen)
        before = sum(entry.tokens for entry in chosen)
        new = self._new_items(said)
        after = sum(tokens for _, tokens in new.values())
        if after >= before:
            self._declined.append(covered)
            return False
        self.brought.update({origin: tokens for origin, (_, tokens) in new.items()})
        self.window.replace(covered, new, at_last=decision.place == "last")
        kind: ChangeKind = "summarised" if said and isinstance(decision.by, Summary) else "dropped"
        self._changed(kind, covered, before, after, decision.reason, tuple(new), unseen)
        self.fates.update(dict.fromkeys(covered, self.changes[-1]))
        return True

    def _whole_units(self, origins: Iterable[Origin]) -> list[Entry]:
        """Only units that are named whole and may leave, in the order of the context."""
        window = self.window
        named = {origin for origin in origins if origin in window.entries}
        units = {window.entries[origin].unit.number for origin in named}
        found: list[Entry] = []
        for number in units:
            unit = window.units[number]
            if unit.items.keys() <= named and window.removable(unit):
                found.extend(window.members(unit))
        found.sort(key=lambda entry: entry.order)
        return found

    def _never_empty(self, chosen: Sequence[Entry]) -> Sequence[Entry]:
        """What may leave so that something is left to send: if need be, the newest unit stays."""
        going = {entry.origin for entry in chosen}
        staying = (e for e in self.window.oldest() if e.origin not in going)
        coming = self.moment.incoming
        if (coming is not None and says_something(coming)) or any(map(self._speaks, staying)):
            return chosen
        newest = next((entry.unit for entry in reversed(chosen) if self._speaks(entry)), None)
        return [entry for entry in chosen if entry.unit is not newest]

    def _speaks(self, entry: Entry) -> bool:
        """Whether it would be sent: it says something, and is no result of a call that is gone."""
        if says_something(entry.item, results=False):
            return True
        members = self.window.members(entry.unit)
        called = any(e is not entry and e.role == "assistant" for e in members)
        return called and says_something(entry.item)

    def new_names(self, count: int) -> list[str]:
        """The names of the messages of a compaction: in a what-if they are numbered on."""
        self.made += count
        return [f"0.{self.made - count + number}" for number in range(1, count + 1)]

    def _new_items(self, said: Sequence[Said]) -> dict[Origin, tuple[Item, int]]:
        found: dict[Origin, tuple[Item, int]] = {}
        for name, each in zip(self.new_names(len(said)), said, strict=True):
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

    # -- notes ----------------------------------------------------------------------------------

    def _decline(self, items: tuple[Origin, ...], reason: str) -> None:
        """Once for each strategy, until it is another reason or something was changed."""
        if self._said.get(self.strategy) != reason:
            tokens = sum(self.window.entries[o].tokens for o in items if o in self.window.entries)
            self._changed("declined", items, tokens, tokens, reason)
            self._said[self.strategy] = reason

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
        rung = self.rung or ("summary" if kind == "summarised" else "")
        at, calls = self.moment.position, self.window.calls
        self.changes.append(
            Change(at, calls, kind, items, before, after, reason, rung, made, unseen, self.strategy)
        )
        if kind not in ("declined", "over_budget"):
            self._said.pop(self.strategy, None)


def _without_marks(entry: Entry) -> Item:
    """An earlier summary is shown as what it says, so that it is folded in and not nested."""
    item = entry.item
    if not entry.is_summary:
        return item
    message = messages.with_content(item.dialect, item.message, unframed(item.text))
    return replace(item, message=message)
