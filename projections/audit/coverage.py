"""What became of everything that ever came in: one state each, one reason, and it adds up.

kept: it stands as it came · edited: it stands as less · summarised: a compaction put messages in
its place · dropped: nothing stands for it · never_visible: no call was ever given it, it came and
left in between. What left with no decision that names it is a hole: ``unaccounted``.

The decision is the one in force at the end, as ``why`` names it: not the last that changed what
stands, which may itself have been undone, or have undone something only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from eventlog.recorded import RecordedEvent
from projections.audit.model import Coverage, Finding, State
from projections.audit.passages import EDITED, Fate, Move, MoveKind
from projections.audit.rule import Rule, plural, some
from projections.audit.subject import Subject
from projections.items import Item
from projections.leaving import is_folding
from projections.runs import Named, Origin, label, origin, standing
from projections.triggers import trigger_of

StateName = Literal["kept", "edited", "summarised", "dropped", "never_visible", "unaccounted"]
_ORDER: tuple[StateName, ...] = (
    *("kept", "edited", "summarised", "dropped", "never_visible", "unaccounted"),
)


def state_of(name: Origin, subject: Subject) -> tuple[StateName, str, int]:
    """The state of an item, the reason, and the position of the decision; 0 where there is none."""
    fate = subject.passages.fates[name]
    if fate.stands:
        if fate.form not in EDITED:
            return "kept", "", 0
        why, by = _edited(name, fate, subject)
        return "edited", f"{fate.form}: {why}" if why else fate.form, by
    event = subject.taker(name)
    if event is None or not _names(event, name):
        by = event.position if event is not None else 0
        return "unaccounted", "no decision names it", by
    kind, reason = _taken(event)
    if kind in ("summarised", "dropped") and fate.first:
        return ("summarised" if kind == "summarised" else "dropped"), reason, event.position
    why = f"{kind}: {reason}" if reason else kind
    return ("dropped" if fate.first else "never_visible"), why, event.position


def _edited(name: Origin, fate: Fate, subject: Subject) -> tuple[str, int]:
    """Why an item stands as less, and the event that says so; of a pass the first in force."""
    passages, gone = subject.passages, subject.recording.force.gone
    if fate.form == "redacted":
        move = fate.move
        return (move.reason, move.position) if move and move.position not in gone else ("", 0)
    _, rendition = standing(passages.standing[name][0].rendition)
    if rendition in passages.renderings:
        move, events = passages.renderings[rendition]
        return move.reason, next(event for event in events if event not in gone)
    # It did not stand when it was substituted, or a repair renamed what stands for it.
    return subject.reasons.get(rendition, ""), rendition


_KINDS: dict[str, tuple[MoveKind, str]] = {
    "session_rewound": ("rewound", "reason"),
    "decision_undone": ("undone", "reason"),
    "repair_applied": ("repaired", "rule"),
    "tool_result_recorded": ("inserted", ""),
}
"""What an event that took something out is called, and the field that says why."""


def _taken(event: RecordedEvent) -> tuple[MoveKind, str]:
    if event.type not in _KINDS:
        return "summarised" if is_folding(event) else "dropped", trigger_of(event.data)
    kind, why = _KINDS[event.type]
    return kind, str(event.data.get(why) or "")


def _names(event: RecordedEvent, item: Origin) -> bool:
    """Whether a decision tells that it took the item; a layout may leave one out in silence."""
    if event.type != "context_compacted" or event.data.get("layout") is None:
        return True
    return item in Named(event.data.get("covered", ()), event.position)


def coverage(subject: Subject) -> Coverage:
    """The account of a session, at its end; of one state and reason in the order of what was
    decided."""
    groups: dict[tuple[StateName, str, int], list[int]] = {}
    for name, fate in subject.passages.fates.items():
        state, reason, position = state_of(name, subject)
        sums = groups.setdefault((state, reason, position), [0, 0, 0])
        for place, count in enumerate((1, fate.came, fate.tokens)):
            sums[place] += count
    return Coverage(
        items=len(subject.passages.fates),
        tokens=sum(tokens for _, tokens, _ in groups.values()),
        context_items=len(subject.passages.standing),
        context_tokens=subject.passages.tokens,
        states=tuple(
            State(
                state=state,
                reason=reason,
                by=subject.name(position) if position else "",
                items=items,
                tokens=tokens,
                tokens_left=left,
            )
            for (state, reason, position), (items, tokens, left) in sorted(
                groups.items(), key=lambda group: (_ORDER.index(group[0][0]), group[0][1:])
            )
        ),
    )


class Covered(Rule):
    """Holes in the account, and in the recording."""

    name = "coverage"
    about = "items that left with no decision that names them, calls that were not recorded"

    def find(self) -> Iterator[Finding]:
        """Holes, sums that do not agree, pins that were not kept, calls that were missed."""
        yield from self._holes()
        yield from self._sums()
        yield from self._pins()
        yield from self._stored()
        yield from self._missed()

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._pinned: dict[Origin, list[tuple[int, bool]]] = {}
        for step in subject.recording.steps:
            if step.kind in ("pin", "unpin"):
                self._pinned.setdefault(step.origin, []).append((step.position, step.kind == "pin"))
        self._taken: dict[int, dict[Origin, None]] = {}
        """Pinned items that a decision took or cut, by its position."""
        self._taken_back: set[int] = set()
        """Those decisions that are undos and rewinds: somebody wanted that, and may not have seen
        the pin."""

    def left(self, item: Item, move: Move) -> None:
        """Pinned items stay."""
        self._touched(origin(item.id), move)

    def changed(self, before: Item, after: Item, move: Move) -> None:
        """As they are."""
        if after.form in EDITED - {"redacted"}:
            self._touched(origin(after.id), move)

    def _touched(self, item: Origin, move: Move) -> None:
        if item not in self._pinned:
            return
        told = [pins for position, pins in self._pinned[item] if position < move.position]
        if told and told[-1]:
            self._taken.setdefault(move.position, {})[item] = None
            if move.kind in ("rewound", "undone"):
                self._taken_back.add(move.position)

    def _pins(self) -> Iterator[Finding]:
        for position, items in self._taken.items():
            by, (names, listed) = self.subject.name(position), self.told(items)
            yield Finding(
                rule=self.name,
                severity="info" if position in self._taken_back else "error",
                refs=some((by, *names)),
                message=f"{by} touched {plural(len(items), 'pinned item')}: {listed}",
                next=("why", "S", names[0].partition("-")[0]),
                position=position,
                count=len(items),
            )

    def _holes(self) -> Iterator[Finding]:
        holes: dict[int, list[Origin]] = {}
        for item in self.subject.passages.fates:
            state, _, position = state_of(item, self.subject)
            if state == "unaccounted":
                holes.setdefault(position, []).append(item)
        for position, items in holes.items():
            name, (names, listed) = self.subject.name(position), self.told(items)
            yield Finding(
                rule=self.name,
                severity="error",
                refs=some((name, *names)),
                message=f"{plural(len(items), 'item')} left with {name}, which covers nothing of "
                f"the kind: {listed}",
                next=("why", "S", str(items[0])),
                position=position,
                count=len(items),
            )

    def _sums(self) -> Iterator[Finding]:
        """Two ways to the same contexts: by what moved, and call by call."""
        passages = self.subject.passages
        wrong = [
            call
            for call, passage, row in zip(
                self.subject.calls, passages.calls, self.subject.prefixes, strict=True
            )
            if row.kind == "as_folded" and row.items != passage.items
        ]
        if wrong:
            yield Finding(
                rule=self.name,
                severity="error",
                refs=some(call.name for call in wrong),
                message=f"what came and left does not add up to the context of {wrong[0].name}",
                next=("show", f"S@{wrong[0].name}", "--context"),
                position=wrong[0].position,
                count=len(wrong),
            )

    def _stored(self) -> Iterator[Finding]:
        subject = self.subject
        if subject.stands is None:
            return
        folded = {item.id: item for item, _ in subject.passages.standing.values()}
        same = len(folded) == len(subject.stands) and all(
            str(name) in folded
            and (
                folded[str(name)].form == "redacted"
                or folded[str(name)].rendition == label(name, at)
            )
            for name, at in subject.stands
        )
        if not same:
            yield Finding(
                rule=self.name,
                severity="error",
                refs=(),
                message="the stored view is not what the events fold to",
                next=("rebuild",),
            )

    def _missed(self) -> Iterator[Finding]:
        for position, missed, why in self.subject.noted.interruptions:
            calls = plural(missed, "call") if missed else "some calls"
            because = f": {why}" if why else ""
            yield Finding(
                rule=self.name,
                severity="warning",
                refs=(str(position),),
                message=f"{calls} before {position} {'was' if missed == 1 else 'were'} not "
                f"recorded{because}",
                position=position,
                count=max(missed, 1),
            )
        unread = self.subject.noted.unrecognized
        if unread:
            yield Finding(
                rule=self.name,
                severity="info",
                refs=some(map(str, unread)),
                message=f"{plural(len(unread), 'record')} of the source "
                f"{'is' if len(unread) == 1 else 'are'} kept as notes: what "
                f"{'it means' if len(unread) == 1 else 'they mean'} is not known here",
                next=("log", "S", "--type", "record_unrecognized"),
                position=unread[0],
                count=len(unread),
            )
