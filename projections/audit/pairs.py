"""Tool calls and their results: what lacks the other half, in the log or by a decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from projections.audit.model import Finding, Severity
from projections.audit.passages import Move, Passage
from projections.audit.rule import Rule, plural, some
from projections.audit.subject import Subject
from projections.items import Item
from projections.pairing import pair
from projections.reading import results_of
from projections.runs import Origin, origin


@dataclass(slots=True)
class _Parted:
    """Halves whose other half a decision took, by decision."""

    position: int
    call: int
    items: list[Origin]
    is_result: bool


class Pairs(Rule):
    """Pairs over the whole log, and pairs in each context that a decision changed."""

    name = "pairs"
    about = "tool results without their call, calls without a result, pairs that were parted"

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._items = list(subject.items.values())
        self._pairing = pair(self._items)
        self._halves: dict[Origin, list[Origin]] = {}
        for each in self._pairing.pairs:
            if each.result_at is not None and each.result_at != each.call_at:
                one, other = self._id(each.call_at), self._id(each.result_at)
                self._halves.setdefault(one, []).append(other)
                self._halves.setdefault(other, []).append(one)
        self._standing: set[Origin] = set()
        self._doubtful: list[tuple[Origin, int]] = []
        """Items that left since the last call while a half of theirs may still stand."""
        self._parted: dict[tuple[int, bool], _Parted] = {}

    def _id(self, place: int) -> Origin:
        return origin(self._items[place].id)

    def came(self, item: Item, move: Move | None) -> None:
        """An item stands."""
        self._standing.add(origin(item.id))

    def left(self, item: Item, move: Move) -> None:
        """A half may be left behind."""
        name = origin(item.id)
        self._standing.discard(name)
        if name in self._halves and move.kind in ("summarised", "dropped", "repaired"):
            self._doubtful.append((name, move.position))

    def called(self, number: int, passage: Passage) -> None:
        """Whether one is."""
        for name, position in self._doubtful:
            if name in self._standing:
                continue
            for half in self._halves[name]:
                if half in self._standing:
                    is_result = bool(results_of(self.subject.items[half]))
                    key = position, is_result
                    parted = self._parted.setdefault(key, _Parted(position, number, [], is_result))
                    parted.items.append(half)
        self._doubtful = []

    def find(self) -> Iterator[Finding]:
        """Halves that the log lacks, then those that a decision took."""
        yield from self._orphans()
        yield from self._unanswered()
        for parted in self._parted.values():
            names, listed = self.told(dict.fromkeys(parted.items))
            by, halves = self.subject.name(parted.position), dict.fromkeys(parted.items)
            what = "result" if parted.is_result else "call"
            other = "call" if parted.is_result else "result"
            yield Finding(
                rule=self.name,
                severity="error",
                refs=some((by, *names)),
                message=f"{by} took the {other} of {plural(len(halves), what)} that stayed in the "
                f"context of c{parted.call}: {listed}",
                next=("show", f"S@c{parted.call}", "--context"),
                position=parted.position,
                count=len(halves),
            )

    def _orphans(self) -> Iterator[Finding]:
        seconds = [place for place in self._pairing.seconds if self._is_second(self._id(place))]
        kinds = (
            (self._pairing.orphans, "warning", "answers no call", "answer no call"),
            (seconds, "info", "is a second one for its call", "are second ones"),
        )
        for places, severity, one, many in kinds:
            items = list(dict.fromkeys(map(self._id, places)))
            if items:
                what = f"{plural(len(items), 'tool result')} {one if len(items) == 1 else many}"
                yield self._finding("warning" if severity == "warning" else "info", what, items)

    def _is_second(self, result: Origin) -> bool:
        """Whether its call has another result, and the session was not rewound between them."""
        if self._is_rewound(result):
            return False
        results = (half for call in self._halves.get(result, ()) for half in self._halves[call])
        return any(half != result and not self._is_rewound(half) for half in results)

    def _is_rewound(self, item: Origin) -> bool:
        fate = self.subject.passages.fates.get(item)
        return fate is not None and fate.move is not None and fate.move.kind == "rewound"

    def _unanswered(self) -> Iterator[Finding]:
        """Calls that no result will come for: the model, or a person, has spoken since."""
        pending = {id(each) for each in self._pairing.pending}
        interrupted: list[Origin] = []
        forgotten: list[Origin] = []
        fates = self.subject.passages.fates
        for each in self._pairing.unanswered:
            name = self._id(each.call_at)
            move = fates[name].move if name in fates else None
            if id(each) in pending and not self._spoken(each.call_at):
                continue
            if move is not None and move.kind == "rewound" and not fates[name].first:
                continue  # taken back before any call was made with it
            (interrupted if self._spoken(each.call_at) else forgotten).append(name)
        if forgotten:
            items = list(dict.fromkeys(forgotten))
            text = f"{plural(len(forgotten), 'tool call')} got no result, and the model went on"
            yield self._finding("warning", text, items)
        if interrupted:
            items = list(dict.fromkeys(interrupted))
            text = f"{plural(len(interrupted), 'tool call')} got no result before a person spoke"
            yield self._finding("info", text, items)

    def _spoken(self, place: int) -> bool:
        """Whether what came next, behind the results, was said to the model and not by it."""
        for at in range(place + 1, len(self._items)):
            item = self._items[at]
            if item.role == "assistant":
                return False
            if not results_of(item):
                return True
        return False

    def _finding(self, severity: Severity, what: str, items: list[Origin]) -> Finding:
        names, listed = self.told(items)
        return Finding(
            rule=self.name,
            severity=severity,
            refs=some(names),
            message=f"{what}: {listed}",
            next=("show", f"S@{items[0]}"),
            position=items[0] if isinstance(items[0], int) else 0,
            count=len(items),
        )
