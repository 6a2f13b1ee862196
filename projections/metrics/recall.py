"""Later-reference recall: of what an answer used, how much did its context still hold.

Recall over everything saturates near one for every strategy, since most references are near. So it
is a curve over the distance, always with its denominator, and without what the task itself says,
which strategies never take away. It is an upper bound for references that only a summary still
holds: those are counted apart. The list of what was needed and lost is what a person can act on; an
agent's own compaction may have taken the task away, and then what it said stands there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from projections.anchors import KINDS, Kind
from projections.metrics.facts import CallFacts, Need, Rendition
from projections.metrics.ground import Ground
from projections.metrics.model import Result, ratio
from projections.metrics.taken import Taken
from projections.runs import Origin

DISTANCES = (0, 1, 3, 5, 10, 20)
FAR = 5
"""The distance at which strategies differ."""


class RecallAt(Result):
    """References whose last mention is at least so many calls back."""

    distance: int
    needed: int
    kept: int
    in_summary_only: int
    """Of those kept."""
    recall: float | None


class RecallOf(Result):
    """References of one kind, at any distance and far ones."""

    kind: Kind
    needed: int
    kept: int
    recall: float | None
    far_needed: int
    far_kept: int
    far_recall: float | None


class Lost(Result):
    """A literal that an answer used and that its context no longer held."""

    call: int
    position: int
    """Of the call."""
    kind: Kind
    text: str
    distance: int
    item: str
    """In which it was first said (see ``said``)."""
    last: str
    """In which it stood last."""
    in_arguments: bool
    """A tool was called with it; else it was only spoken of."""
    taken_by: str = ""
    """What took it out of the context: cut, cleared, deduplicated, summarised, dropped …"""
    taken_at: int | None = None
    """The position of that decision."""
    reason: str = ""


class Recall(Result):
    """Later-reference recall of one run."""

    needed: int
    curve: tuple[RecallAt, ...]
    in_arguments: tuple[RecallAt, ...]
    """Of those only that tools were called with."""
    by_kind: tuple[RecallOf, ...]
    lost: tuple[Lost, ...]
    first_loss: int | None
    """The first call whose context lacked something that its answer used."""


class _Curve:
    def __init__(self) -> None:
        self.needed, self.kept = [0] * len(DISTANCES), [0] * len(DISTANCES)
        self.summary_only = [0] * len(DISTANCES)

    def add(self, distance: int, kept: bool, summary_only: bool) -> None:
        for place, least in enumerate(DISTANCES):
            if distance < least:
                break
            self.needed[place] += 1
            self.kept[place] += kept
            self.summary_only[place] += summary_only

    def result(self) -> tuple[RecallAt, ...]:
        return tuple(
            RecallAt(
                distance=least,
                needed=self.needed[place],
                kept=self.kept[place],
                in_summary_only=self.summary_only[place],
                recall=ratio(self.kept[place], self.needed[place]),
            )
            for place, least in enumerate(DISTANCES)
        )


class RecallMeter:
    """Counts, call by call, which literals the context mentions."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.count = [0] * len(ground.anchors)
        """How many items that stand mention each literal."""
        self.in_summaries = [0] * len(ground.anchors)
        self.appeared: set[int] = set()
        """Literals whose count left or reached zero since this was last emptied."""
        self._curve, self._arguments = _Curve(), _Curve()
        self._kinds: dict[Kind, list[int]] = {}
        self.missed: list[tuple[int, Need, Taken | None]] = []

    def change(self, origin: Origin, before: Rendition | None, after: Rendition | None) -> None:
        """An item came, left, or stands otherwise."""
        for rendition, sign in ((before, -1), (after, 1)):
            if rendition is None:
                continue
            is_summary = rendition.item.kind == "summary"
            for literal in rendition.mentions:
                self.count[literal] += sign
                if self.count[literal] == (sign + 1) // 2:
                    self.appeared ^= {literal}
                if is_summary:
                    self.in_summaries[literal] += sign

    def call(self, number: int, facts: CallFacts, taken: Mapping[Origin, Taken]) -> None:
        """A call is made with what stands; ``taken`` says what became of what does not."""
        for need in facts.needs:
            held = self.count[need.literal]
            kept = held > 0
            only = kept and held == self.in_summaries[need.literal]
            self._curve.add(need.distance, kept, only)
            if need.in_arguments:
                self._arguments.add(need.distance, kept, only)
            kind = self._kinds.setdefault(need.kind, [0, 0, 0, 0])
            far = need.distance >= FAR
            for place, hit in enumerate((True, kept, far, far and kept)):
                kind[place] += hit
            if not kept:
                self.missed.append((number, need, taken.get(need.last)))
        for need in facts.of_head:
            if not self.count[need.literal]:
                self.missed.append((number, need, taken.get(need.last)))

    def result(self) -> Recall:
        """Over all calls."""
        curve = self._curve.result()
        return Recall(
            needed=curve[0].needed,
            curve=curve,
            in_arguments=self._arguments.result(),
            by_kind=tuple(_of(kind, self._kinds[kind]) for kind in KINDS if kind in self._kinds),
            lost=tuple(self._lost(*missed) for missed in self.missed),
            first_loss=self.missed[0][0] if self.missed else None,
        )

    def _lost(self, number: int, need: Need, taken: Taken | None) -> Lost:
        return Lost(
            call=number,
            position=self.ground.calls[number - 1].position,
            kind=need.kind,
            text=self.ground.anchors[need.literal].text,
            distance=need.distance,
            item=str(need.first),
            last=str(need.last),
            in_arguments=need.in_arguments,
            taken_by=taken.kind if taken else "",
            taken_at=taken.position if taken else None,
            reason=taken.reason if taken else "",
        )


def _of(kind: Kind, counts: Sequence[int]) -> RecallOf:
    needed, kept, far_needed, far_kept = counts
    return RecallOf(
        kind=kind,
        needed=needed,
        kept=kept,
        recall=ratio(kept, needed),
        far_needed=far_needed,
        far_kept=far_kept,
        far_recall=ratio(far_kept, far_needed),
    )
