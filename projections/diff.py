"""Two contexts of one session against each other: what became of each item, and what was lost.

Items are aligned by their ids, which never change; what differs is the rendition, or that an item
stands on one side only. Pure: two lists of items in, one result out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from projections.anchors import KINDS, Anchor, Kind, item_anchors
from projections.held import Held, reworded
from projections.items import Item
from projections.metrics.model import Result
from projections.runs import origin, position_of
from projections.said import first_said
from projections.tokens import Counter, count_item
from projections.whatif import Change

State = Literal[
    "kept",
    "cut",
    "cleared",
    "deduplicated",
    "revised",
    "redacted",
    "restored",
    "summarised",
    "dropped",
    "new",
]
STATES: tuple[State, ...] = (
    *("kept", "cut", "cleared", "deduplicated", "revised", "redacted", "restored"),
    *("summarised", "dropped", "new"),
)


class Became(NamedTuple):
    """What a decision made of an item that left."""

    kind: Literal["summarised", "dropped"]
    by: str
    """The compaction: the position of its event, or the item that it put into a what-if."""
    reason: str = ""


class Line(Result):
    """One item, on either side or both."""

    item: str
    state: State
    role: str
    left: str | None
    """Its rendition; None where it does not stand."""
    right: str | None
    left_tokens: int
    right_tokens: int
    by: str = ""
    """Of a summarised item the compaction, by the position of its event where it has one."""
    reason: str = ""


class Sum(Result):
    """All items in one state."""

    state: State
    items: int
    left_tokens: int
    right_tokens: int


class LostAnchor(Result):
    """A literal of the left context that the right one does not hold word for word."""

    kind: Kind
    text: str
    item: str
    """The newest item of the left context in which it stands."""
    first: str
    """Where it was first said (see ``said``)."""
    uses: int
    """Items of the left context behind that one, of the model or of people, that hold it."""
    state: State
    """What became of the newest one."""
    used_by: tuple[str, ...]
    """Later messages, of the model or a person, that hold it."""
    found_in: tuple[str, ...]
    """Later items of others that hold it: a tool returned it again, or a program put it in."""
    is_reworded: bool
    """It is a rule, and what is new on the right says it in other words."""


class CommonPrefix(Result):
    """What both contexts begin with, byte for byte."""

    items: int
    tokens: int
    left_ends_at: str | None
    """The first item of the left that is not part of it; None where all of it is."""
    right_ends_at: str | None
    left_behind: int
    """Tokens."""
    right_behind: int
    """Tokens that a cache of the left does not hold."""


class Diff(Result):
    """The right context, held against the left one."""

    lines: tuple[Line, ...]
    """In the order of the left, with what is new where it stands on the right."""
    sums: tuple[Sum, ...]
    left_tokens: int
    right_tokens: int
    prefix: CommonPrefix
    lost: tuple[LostAnchor, ...]
    """By kind, then in the order of the left."""


def diff(
    left: Sequence[Item],
    right: Sequence[Item],
    counting: Counter,
    *,
    became: Mapping[str, Became] | None = None,
    earlier: Sequence[Item] = (),
    later: Sequence[Item] = (),
) -> Diff:
    """Hold the right context against the left.

    ``became`` says of items that left which decision took them; without it, an item is taken to be
    summarised by a summary that stands on the right only, between its neighbours. ``earlier`` are
    the items that had been said by the left one, as they came in, for ``LostAnchor.first``;
    ``later`` those that came after both, for ``LostAnchor.used_by``.
    """
    lines = list(_lines(left, right, counting, became or {}))
    states = {(line.item, line.left): line.state for line in lines}
    lost = _lost(left, right, states, earlier, later)
    sums = [
        Sum(
            state=state,
            items=len(of),
            left_tokens=sum(line.left_tokens for line in of),
            right_tokens=sum(line.right_tokens for line in of),
        )
        for state in STATES
        if (of := [line for line in lines if line.state == state])
    ]
    return Diff(
        lines=tuple(lines),
        sums=tuple(sums),
        left_tokens=sum(line.left_tokens for line in lines),
        right_tokens=sum(line.right_tokens for line in lines),
        prefix=_prefix(left, right, counting),
        lost=tuple(sorted(lost, key=lambda one: KINDS.index(one.kind))),
    )


def became(changes: Iterable[Change]) -> dict[str, Became]:
    """What the decisions of a run made of the items that left."""
    found: dict[str, Became] = {}
    for change in changes:
        if change.kind in ("summarised", "dropped"):
            kind: Literal["summarised", "dropped"] = (
                "summarised" if change.kind == "summarised" else "dropped"
            )
            by = str(change.messages[0]) if change.messages else str(change.position)
            said = Became(kind, by, change.reason)
            found.update(dict.fromkeys(map(str, change.items), said))
    return found


# -- lines ----------------------------------------------------------------------------------------


def _key(item: Item) -> tuple[str, str]:
    """Messages of a what-if's compactions are numbered anew in each: they go by their text too."""
    return item.id, item.text if item.id.startswith("0.") else ""


def _lines(
    left: Sequence[Item], right: Sequence[Item], counting: Counter, became: Mapping[str, Became]
) -> Iterator[Line]:
    standing = {_key(item): at for at, item in enumerate(right)}
    known = {_key(item) for item in left}
    summaries = _summaries(left, right, standing, known)
    written = 0
    for number, item in enumerate(left):
        at = standing.get(_key(item))
        if at is not None:
            for new in right[written:at]:
                if _key(new) not in known:
                    yield _new(new, counting)
            written = max(written, at + 1)
            yield _both(item, right[at], counting)
            continue
        said = became.get(item.id)
        if said is None:
            by = summaries[number]
            said = Became("summarised" if by else "dropped", by)
        yield Line(
            item=item.id,
            state=said.kind,
            role=item.role,
            left=item.rendition,
            right=None,
            left_tokens=count_item(counting, item),
            right_tokens=0,
            by=said.by,
            reason=said.reason,
        )
    for new in right[written:]:
        if _key(new) not in known:
            yield _new(new, counting)


def _new(item: Item, counting: Counter) -> Line:
    return Line(
        item=item.id,
        state="new",
        role=item.role,
        left=None,
        right=item.rendition,
        left_tokens=0,
        right_tokens=count_item(counting, item),
    )


def _both(left: Item, right: Item, counting: Counter) -> Line:
    state: State = "kept"
    if not _same(left, right):
        state = "restored" if right.form == "original" else right.form
    return Line(
        item=left.id,
        state=state,
        role=right.role,
        left=left.rendition,
        right=right.rendition,
        left_tokens=count_item(counting, left),
        right_tokens=count_item(counting, right),
    )


def _same(left: Item, right: Item) -> bool:
    return left is right or (left.role, left.message) == (right.role, right.message)


def _summaries(
    left: Sequence[Item],
    right: Sequence[Item],
    standing: Mapping[tuple[str, str], int],
    known: set[tuple[str, str]],
) -> list[str]:
    """For each item of the left the new summary in the gap on the right that it would stand in.

    Items of both sides in the order of the left bound the gaps; where the order differs, the gap is
    empty and nothing is taken to be summarised.
    """
    found = [""] * len(left)
    gap: list[int] = []
    start = 0
    for number in range(len(left) + 1):
        at = len(right) if number == len(left) else standing.get(_key(left[number]))
        if at is None:
            gap.append(number)
            continue
        new = [i for i in right[start:at] if i.kind == "summary" and _key(i) not in known]
        for missing in gap if new else ():
            found[missing] = _compaction(new[0])
        gap, start = [], max(start, at + 1)
    return found


def _compaction(item: Item) -> str:
    """``57`` of ``57.0``; in a what-if, whose compactions are no events, the message's own name."""
    position = item.id.partition(".")[0]
    return item.id if position == "0" else position


# -- the prefix -----------------------------------------------------------------------------------


def _prefix(left: Sequence[Item], right: Sequence[Item], counting: Counter) -> CommonPrefix:
    same = 0
    for one, other in zip(left, right, strict=False):
        if _key(one) != _key(other) or not _same(one, other):
            break
        same += 1
    return CommonPrefix(
        items=same,
        tokens=sum(count_item(counting, item) for item in left[:same]),
        left_ends_at=left[same].id if same < len(left) else None,
        right_ends_at=right[same].id if same < len(right) else None,
        left_behind=sum(count_item(counting, item) for item in left[same:]),
        right_behind=sum(count_item(counting, item) for item in right[same:]),
    )


# -- anchors --------------------------------------------------------------------------------------


def _lost(
    left: Sequence[Item],
    right: Sequence[Item],
    states: Mapping[tuple[str, str | None], State],
    earlier: Sequence[Item],
    later: Sequence[Item],
) -> Iterator[LostAnchor]:
    found: dict[Anchor, list[Item]] = {}
    for item in left:
        if states.get((item.id, item.rendition)) != "kept":
            for anchor in item_anchors(item):
                found.setdefault(anchor, []).append(item)
    anchors = list(found)
    if not anchors:
        return
    kept = Held(anchors).inside(right)
    lost = [anchor for place, anchor in enumerate(anchors) if place not in kept]
    used: dict[int, list[str]] = {}
    again_in: dict[int, list[str]] = {}
    known = {(item.id, item.rendition) for item in left}
    again = reworded(lost, (one for one in right if (one.id, one.rendition) not in known))
    held = Held(lost)
    for item in later:
        if not item.is_recovered:
            into = used if item.is_spoken else again_in
            for place in held.inside([item]):
                into.setdefault(place, []).append(item.id)
    # What only a summary or a revision said is said by that: it stands behind what came in.
    said = first_said(lost, (*earlier, *left))
    for place, anchor in enumerate(lost):
        mentions = found[anchor]
        item, first = mentions[-1], said.get(place, mentions[0])
        behind = [one for one in mentions if _at(one) > _at(first)]
        yield LostAnchor(
            kind=anchor.kind,
            text=anchor.text,
            item=item.id,
            first=first.id,
            uses=sum(one.is_spoken for one in behind),
            state=states[(item.id, item.rendition)],
            used_by=tuple(used.get(place, ())),
            found_in=tuple(again_in.get(place, ())),
            is_reworded=place in again,
        )


def _at(item: Item) -> int:
    return position_of(origin(item.id))
