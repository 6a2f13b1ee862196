"""The originals of what is no longer shown: of items, of what a compaction lost, of a search."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from cli.diffs import as_it_was, compared
from cli.models_reasons import (
    RecoverData,
    RecoveredItem,
    RecoveredLiteral,
    RecoveredSentence,
)
from cli.models_whatif import LostAnchorData
from cli.naming import place, ref_of
from cli.occurrences import number_of
from cli.passes import change_of
from cli.timeline import States
from cli.windows import full_text, item_data, tool_names
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import InputRefused, ItemNotFound
from projections import Live, tokens
from projections.context import ITEM_TYPES
from projections.items import Item
from projections.materialize import original
from projections.metrics.mentions import texts
from projections.runs import Origin, origin, position_of
from projections.sentences import sentence_around

BRINGING = ("context_compacted", *sorted(ITEM_TYPES), "repair_applied")
"""Events that bring in items."""

HITS = 10
"""Items that a query shows unless all are asked for."""


def recovered(live: Live, stream: StreamKey, items: Sequence[str]) -> RecoverData:
    """The originals of some items, in the order of typing.

    Raises ItemNotFound where the text of all of them was erased.
    """
    found = _Found(live, stream)
    made = live.materialize(stream, [(origin(item), 0) for item in items])
    kept = [item for item in made if item.form != "redacted"]
    erased = [item.id for item in made if item.form == "redacted"]
    if not kept:
        error = ItemNotFound(str(stream), ", ".join(erased))
        error.args = (f"the text of {', '.join(erased)} was erased from the log for good",)
        raise error
    data = RecoverData(key=str(stream), found=len(kept), items=found.items(kept))
    if erased:
        data.notes.append(f"the text of {', '.join(erased)} was erased from the log for good")
    return data


# -- what a compaction lost -----------------------------------------------------------------------


def lost_with(
    live: Live, stream: StreamKey, compaction: str, *, every: bool = False, whole: bool = False
) -> RecoverData:
    """The literals that a compaction lost, with the sentences in which they stood.

    Unless ``every`` of them is asked for: those that a later message needed, and those that a
    person or a system message had said. ``whole``: the items that hold them, as they came in.
    Raises PositionNotFound, NoContext, and InputRefused for what names no compaction.
    """
    where = place(live, f"{stream}@{compaction.removeprefix('@').removesuffix('^')}")
    if where.kind != "compaction":
        raise InputRefused(f"{compaction!r} is no compaction such as k1")
    before = place(live, f"{stream}@k{where.number}^")
    left, right = as_it_was(live, before), as_it_was(live, where)
    lost = compared(live, left, right).lost
    shown = lost if every else [one for one in lost if _is_needed(one)]
    data = RecoverData(
        key=str(stream),
        lost_with=ref_of(where),
        found=len(lost),
        left_out=len(lost) - len(shown),
    )
    if whole:
        literals: dict[str, list[str]] = {}
        for one in shown:
            literals.setdefault(one.item, []).append(one.text)
        names = sorted(literals, key=lambda item: (position_of(origin(item)), item))
        made = live.materialize(stream, [(origin(item), 0) for item in names])
        data.items = _Found(live, stream).items(made, literals)
    else:
        data.sentences = _sentences({item.id: item for item in left.items}, shown)
    return data


def _is_needed(one: LostAnchorData) -> bool:
    return bool(one.used_by) or one.who in ("user", "system", "developer")


def _sentences(items: dict[str, Item], lost: Iterable[LostAnchorData]) -> list[RecoveredSentence]:
    """Literals of one sentence together; what is needed most first."""
    found: dict[tuple[str, str], RecoveredSentence] = {}
    for one in lost:
        said = (sentence_around(text, one.text) for text in texts(items[one.item]))
        text = next(filter(None, said), one.text)
        sentence = found.setdefault(
            (one.item, text),
            RecoveredSentence(item=one.item, who=one.who, text=text, literals=[]),
        )
        literal = RecoveredLiteral(
            kind=one.kind,
            text=one.text,
            used_by=one.used_by,
            in_other_words=one.in_other_words,
        )
        sentence.literals.append(literal)

    def rank(sentence: RecoveredSentence) -> tuple[bool, bool, int, str]:
        used = any(literal.used_by for literal in sentence.literals)
        human = sentence.who in ("user", "system", "developer")
        return not human, not used, position_of(origin(sentence.item)), sentence.item

    return sorted(found.values(), key=rank)


# -- a query --------------------------------------------------------------------------------------


def queried(live: Live, stream: StreamKey, query: str, *, every: bool = False) -> RecoverData:
    """The originals of the items in which a text stands, upper and lower case being equal.

    First those in which the context does not show it any more, then the others, each in the order
    of the log. Raises InputRefused for an empty query.
    """
    wanted = query.casefold()
    if not wanted.strip():
        raise InputRefused("what is to be looked for? --query takes a text")
    view = live.view(stream)
    limit = None if every else HITS
    hits: list[tuple[bool, int, int, Item]] = []
    count = 0
    for event in live.log.read(stream, types=BRINGING):
        for number, item in enumerate(_brought(event)):
            if item.form == "redacted" or wanted not in full_text(item).casefold():
                continue
            rendition = view.items.get(origin(item.id))
            visible = rendition == 0
            if rendition:
                shown = live.materialize(stream, [(origin(item.id), rendition)])
                visible = wanted in full_text(shown[0]).casefold()
            hit = (visible, event.position, number, item)
            count += 1
            hits.append(hit)
            if limit is not None and len(hits) > 2 * limit:
                hits = heapq.nsmallest(limit, hits, key=lambda one: one[:3])
    hits.sort(key=lambda one: one[:3])
    chosen = [hit[3] for hit in hits[:limit]]
    return RecoverData(
        key=str(stream),
        query=query,
        found=count,
        left_out=count - len(chosen),
        items=_Found(live, stream).items(chosen) if chosen else [],
    )


def _brought(event: RecordedEvent) -> list[Item]:
    at = event.position
    names: list[Origin] = [at]
    field = {"context_compacted": "messages", "repair_applied": "inserted"}.get(event.type)
    if field is not None:
        names = [f"{at}.{n}" for n in range(len(event.data.get(field, ())))]
    made = (original(name, {at: event}) for name in names)
    return [item for item in made if item is not None]


# -- what all share -------------------------------------------------------------------------------


class _Found:
    """Items with where they stand now."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        self.live, self.stream = live, stream
        self.states = States(live, stream, live.log.version(stream))

    def items(
        self, items: Sequence[Item], literals: dict[str, list[str]] | None = None
    ) -> list[RecoveredItem]:
        """They as data. A result that does not name its tool is looked up by its call."""
        counter = tokens.counter()
        names: dict[str, str] = {}
        if any(item.kind == "tool_result" and not item.tool_name for item in items):
            answers = self.live.log.read(self.stream, types=["message_appended"])
            names = tool_names(item for event in answers for item in _brought(event))
        events = self.live.log.at(self.stream, [position_of(origin(item.id)) for item in items])
        found = []
        for item in items:
            shown = item_data(item, counter, names)
            found.append(
                RecoveredItem(
                    item=item.id,
                    who=shown.who,
                    role=item.role,
                    state=self.states.of(origin(item.id)),
                    taken_by=self._taken_by(origin(item.id)),
                    tokens=shown.tokens,
                    text=shown.text,
                    dialect=item.dialect,
                    message=shown.message,
                    literals=(literals or {}).get(item.id, []),
                    occurred_at=events[position_of(origin(item.id))].occurred_at,
                )
            )
        return found

    def _taken_by(self, item: Origin) -> str:
        left_at = self.states.left_at(item)
        if left_at is not None:
            return number_of(self.live, self.stream, left_at) or str(left_at)
        changed, _ = change_of(self.live, self.stream, self.states, item)
        return str(changed) if changed else ""
