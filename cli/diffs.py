"""Two contexts of one session against each other, as data."""

from __future__ import annotations

from collections import Counter as Bag
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from cli.models_whatif import (
    AnchorCount,
    DecidedData,
    DiffData,
    DiffRow,
    LostAnchorData,
    PrefixData,
    SideData,
    SumData,
)
from cli.naming import place, ref_of
from cli.saying import ERASED_SUMMARY, SEALED, full_text, preview, who
from cli.strategies import strategies_of
from cli.summaries import Summaries
from cli.whatifs import FORCED, Made, make, recorded
from cli.windows import items_at, tool_names
from cli.words import first_difference, word_diff
from eventlog.errors import InputRefused, NoContext
from projections import Live, tokens
from projections.anchors import KINDS, Kind, item_anchors
from projections.diff import Became, Diff, Line, LostAnchor, diff
from projections.items import Item
from projections.leaving import became
from projections.losses import earlier, later
from projections.observed import OBSERVED
from projections.one_session import in_one_session
from projections.references import Reference
from projections.runs import origin, position_of
from projections.strategies.none import NoStrategy
from projections.takings import taking_at
from projections.verdicts import has_erased_summary, is_sealed


@dataclass(frozen=True, slots=True)
class Side:
    """One context, and how it came about."""

    place: Reference
    items: tuple[Item, ...]
    kind: Literal["as_sent", "as_folded", "what_if"]
    spec: str = ""
    became: Mapping[str, Became] = field(default_factory=dict)
    decided: tuple[DecidedData, ...] = ()
    made: Made | None = None
    """Of a what-if."""

    def data(self) -> SideData:
        """As data."""
        counting = tokens.counter()
        return SideData(
            ref=ref_of(self.place),
            strategy=self.spec,
            kind=self.kind,
            items=len(self.items),
            tokens=sum(tokens.count_item(counting, item) for item in self.items),
            decided=list(self.decided),
        )


# -- which two ------------------------------------------------------------------------------------


def two_places(live: Live, first: str, second: str | None) -> tuple[Reference, Reference]:
    """The contexts that one reference or two name. Raises InputRefused and NotFound."""
    one = place(live, first)
    if second is not None:
        own = f"{one.stream}{second}" if second.startswith("@") else second
        other = place(live, own)
        return in_one_session(live, one, other)
    if one.kind == "compaction":
        return place(live, f"{one.stream}@k{one.number}^"), one
    if one.kind == "call":
        if one.number == 1:
            raise InputRefused("c1 is the first call; there is none before it")
        return place(live, f"{one.stream}@c{one.number - 1}"), one
    taking = taking_at(live, one.stream, one.position) if one.kind != "now" else None
    if taking is not None:
        ends = taking.first - 1, taking.events[-1].position
        left, right = (Reference(one.stream, "position", at) for at in ends)
        return left, right
    raise InputRefused(
        "name a second place, a compaction (S@k1), a call (S@c12), the event of a substitution or "
        "a revision, or --left and --right"
    )


def as_it_was(live: Live, where: Reference) -> Side:
    """The context as it really was. Raises NoContext."""
    items, kind = items_at(live, where)
    if not items:
        raise NoContext(str(where.stream), where.position)
    return Side(where, tuple(items), kind)


def compared(live: Live, left: Side, right: Side, words: bool = False) -> DiffData:
    """The right context held against the left one."""
    stream, last = left.place.stream, max(left.place.position, right.place.position)
    found = diff(
        left.items,
        right.items,
        tokens.counter(),
        became=became(live, stream, [origin(item.id) for item in left.items], right.place.position),
        earlier=(before := earlier(live, stream, left.place.position)),
        later=list(later(live, stream, last)),
    )
    of = _Named(left.items, right.items, earlier=before)
    lost = _ranked([_lost(one, of, "right") for one in found.lost])
    data = _data(live, left, right, found, of, [_row(line, of, words) for line in found.lines])
    data.sums = _sums(found)
    data.lost = lost
    data.anchors = _counts(of, lost, two=False)
    stream, at = right.place.stream, right.place.position
    if lost and is_sealed(live, stream, at, right.items):
        data.notes.append(f"what seems lost may not be: {SEALED}")
    if lost and has_erased_summary(right.items):
        data.notes.append(f"what seems lost may not be: {ERASED_SUMMARY}")
    return data


# -- two strategies -------------------------------------------------------------------------------


def sides_under(
    live: Live, where: Reference, left: str | None, right: str | None, summaries: Summaries
) -> tuple[Side, Side]:
    """What two strategies would have made at a place; one that is not named is what really was.

    Raises InputRefused, NoContext.
    """
    sides: list[Side] = []
    session = recorded(live, where)
    for text in (left, right):
        if text is None or text.strip() == OBSERVED:
            sides.append(as_it_was(live, where))
            continue
        made = make(session, strategies_of(text), summaries)
        if not made.items:
            raise NoContext(str(where.stream), where.position)
        sides.append(
            Side(
                where,
                made.items,
                "what_if",
                text.strip(),
                made.became(),
                tuple(made.decided()),
                made,
            )
        )
    return sides[0], sides[1]


def versus(
    live: Live, left: Side, right: Side, summaries: Summaries, words: bool = False
) -> DiffData:
    """Two such sides, each held against everything that was recorded."""
    whole = make(recorded(live, left.place), (NoStrategy(),)).items
    data = _held(live, left, right, whole, words)
    data.teacher_forced = True
    said = summaries.said([side.made for side in (left, right) if side.made is not None])
    data.notes = [FORCED, *said]
    return data


def _held(live: Live, left: Side, right: Side, whole: Sequence[Item], words: bool) -> DiffData:
    counting = tokens.counter()
    behind = list(later(live, left.place.stream, left.place.position))
    ours = diff(whole, left.items, counting, became=left.became, later=behind)
    theirs = diff(whole, right.items, counting, became=right.became, later=behind)
    between = diff(left.items, right.items, counting)
    of = _Named(left.items, right.items, whole)
    rows = list(_rows(ours, theirs, of, words))
    data = _data(live, left, right, between, of, rows)
    data.left.sums, data.right.sums = _sums(ours), _sums(theirs)
    data.lost = _both_lost(ours.lost, theirs.lost, of)
    data.anchors = _counts(of, data.lost, two=True)
    return data


def _rows(ours: Diff, theirs: Diff, of: _Named, words: bool) -> Iterator[DiffRow]:
    """The lines of both in the order of what was recorded; what is new stands by itself."""
    rest = iter(theirs.lines)
    for line in ours.lines:
        if line.state == "new":
            yield _new(line, of, "left")
            continue
        for other in rest:
            if other.state == "new":
                yield _new(other, of, "right")
                continue
            yield _pair(line, other, of, words)
            break
    for other in rest:
        yield _new(other, of, "right")


def _new(line: Line, of: _Named, side: Literal["left", "right"]) -> DiffRow:
    item = of.left[line.item] if side == "left" else of.right[line.item]
    on_left = side == "left"
    said = preview(item)
    return DiffRow(
        item=line.item,
        state="" if on_left else "new",
        left_state="new" if on_left else "",
        left=line.right if on_left else None,
        right=None if on_left else line.right,
        who=of.who(item),
        preview=said,
        left_preview=said if on_left else "",
        right_preview="" if on_left else said,
        tokens=line.right_tokens,
        left_tokens=line.right_tokens if on_left else 0,
        right_tokens=0 if on_left else line.right_tokens,
    )


def _pair(left: Line, right: Line, of: _Named, words: bool) -> DiffRow:
    item = of.whole[left.item]
    one, other = of.left.get(left.item), of.right.get(left.item)
    return DiffRow(
        item=left.item,
        state=right.state,
        left_state=left.state,
        left=left.right,
        right=right.right,
        who=of.who(item),
        preview=preview(item),
        left_preview=preview(one) if one is not None and left.right is not None else "",
        right_preview=preview(other) if other is not None and right.right is not None else "",
        tokens=left.left_tokens,
        left_tokens=left.right_tokens,
        right_tokens=right.right_tokens,
        by=right.by,
        reason=right.reason or left.reason,
        words=_words(one or item, other or item) if words else "",
    )


def _both_lost(
    ours: Iterable[LostAnchor], theirs: Iterable[LostAnchor], of: _Named
) -> list[LostAnchorData]:
    left = {(one.kind, one.text): one for one in ours}
    found = []
    for one in theirs:
        other = left.pop((one.kind, one.text), None)
        data = _lost(one, of, "right" if other is None else "both")
        data.in_other_words = one.is_reworded and (other is None or other.is_reworded)
        found.append(data)
    found += [_lost(one, of, "left") for one in left.values()]
    return _ranked(found)


# -- what both kinds share ------------------------------------------------------------------------


class _Named:
    """The items by their ids, and who speaks in them."""

    def __init__(
        self,
        left: Sequence[Item],
        right: Sequence[Item],
        whole: Sequence[Item] | None = None,
        earlier: Sequence[Item] = (),
    ) -> None:
        self.left = {item.id: item for item in left}
        self.right = {item.id: item for item in right}
        self.whole = {item.id: item for item in whole} if whole is not None else self.left
        self.said = {**self.whole, **{item.id: item for item in earlier}}
        self.anchors = {anchor for item in self.whole.values() for anchor in item_anchors(item)}
        self._tools = tool_names([*(whole or earlier), *left, *right])

    def who(self, item: Item) -> str:
        if item.kind != "tool_result":
            return who(item)
        named = (self._tools.get(call, "") for call in item.result_ids)
        return item.tool_name or next((name for name in named if name), "") or "tool"


def _data(
    live: Live, left: Side, right: Side, between: Diff, of: _Named, rows: list[DiffRow]
) -> DiffData:
    return DiffData(
        key=str(left.place.stream),
        left=left.data(),
        right=right.data(),
        same=all(line.state == "kept" for line in between.lines),
        sums=[],
        rows=rows,
        prefix=_prefix(between, of),
        anchors=[],
        lost=[],
        teacher_forced=False,
    )


def _row(line: Line, of: _Named, words: bool) -> DiffRow:
    left = of.left.get(line.item) if line.left is not None else None
    right = of.right.get(line.item) if line.right is not None else None
    item = left or right
    assert item is not None
    return DiffRow(
        item=line.item,
        state=line.state,
        left=line.left,
        right=line.right,
        who=of.who(item),
        preview=preview(item),
        left_preview=preview(left) if left is not None else "",
        right_preview=preview(right) if right is not None else "",
        tokens=max(line.left_tokens, line.right_tokens),
        left_tokens=line.left_tokens,
        right_tokens=line.right_tokens,
        by=line.by,
        reason=line.reason,
        words=_words(left, right) if words and line.state != "kept" else "",
    )


def _words(left: Item | None, right: Item | None) -> str:
    if left is None or right is None or left is right:
        return ""
    return word_diff(full_text(left), full_text(right))


def _sums(found: Diff) -> list[SumData]:
    return [SumData(**one.model_dump()) for one in found.sums]


def _prefix(found: Diff, of: _Named) -> PrefixData:
    data = PrefixData(**found.prefix.model_dump())
    if data.left_ends_at is not None and data.left_ends_at == data.right_ends_at:
        texts = full_text(of.left[data.left_ends_at]), full_text(of.right[data.left_ends_at])
        at, common, left, right = first_difference(*texts)
        data.character, data.common_text = at, common
        data.left_text, data.right_text = left, right
        return data
    if data.left_ends_at is not None:
        data.left_text = preview(of.left[data.left_ends_at])
    if data.right_ends_at is not None:
        data.right_text = preview(of.right[data.right_ends_at])
    return data


def _lost(one: LostAnchor, of: _Named, by: Literal["left", "right", "both"]) -> LostAnchorData:
    return LostAnchorData(
        kind=one.kind,
        text=one.text,
        item=one.first,
        newest=one.item,
        who=of.who(of.said[one.first]),
        state=one.state,
        lost_by=by,
        used_by=list(one.used_by),
        uses=one.uses,
        in_other_words=one.is_reworded,
    )


def _ranked(lost: list[LostAnchorData]) -> list[LostAnchorData]:
    """By kind; what is used behind the place first, then what people said, then what was used."""

    def rank(one: LostAnchorData) -> tuple[int, ...]:
        kind = [*KINDS].index(cast(Kind, one.kind))
        return (kind, -len(one.used_by), one.who != "user", -one.uses, _at(one.item))

    return sorted(lost, key=rank)


def _at(item: str) -> int:
    return position_of(origin(item))


def _counts(of: _Named, lost: Sequence[LostAnchorData], two: bool) -> list[AnchorCount]:
    before = Bag(anchor.kind for anchor in of.anchors)
    left = Bag(one.kind for one in lost if one.lost_by != "right")
    right = Bag(one.kind for one in lost if one.lost_by != "left")
    return [
        AnchorCount(
            kind=kind,
            before=before[kind],
            left_lost=left[kind] if two else None,
            right_lost=right[kind],
        )
        for kind in KINDS
        if before[kind]
    ]
