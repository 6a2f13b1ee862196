"""The originals of what is no longer shown: of items, of what a decision lost, of a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.models_reasons import (
    RecoverData,
    RecoveredItem,
    RecoveredLiteral,
    RecoveredSentence,
)
from cli.naming import place
from cli.occurrences import number_of
from cli.passes import change_of
from cli.replays import describe
from cli.snippets import excerpt
from cli.timeline import States
from cli.windows import item_data, tool_names
from eventlog import StreamKey
from eventlog.errors import InputRefused, ItemNotFound
from eventlog.messages import SYSTEM_ROLES
from projections import Live, tokens
from projections.dialects import dialect
from projections.diff import LostAnchor
from projections.excerpt import excerpt as legal
from projections.items import Item
from projections.losses import later, losses
from projections.references import Reference
from projections.runs import Origin, label, origin, position_of
from projections.search import Place, Search, Wanted
from projections.search_index import SearchIndex
from projections.search_query import Query, Term
from projections.searchable import item_texts
from projections.takings import KINDS

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


# -- what a decision lost --------------------------------------------------------------------------


def lost_with(
    live: Live, stream: StreamKey, decision: str, *, every: bool = False, whole: bool = False
) -> RecoverData:
    """The literals that a decision lost, with the sentences in which they stood.

    Unless ``every`` of them is asked for: those that are needed. ``whole``: the items that hold
    them, as they came in. Raises PositionNotFound, and InputRefused for what names no decision that
    takes content out of sight.
    """
    where = place(live, f"{stream}@{decision.removeprefix('@').removesuffix('^')}")
    event = live.log.at(stream, [where.position]).get(where.position)
    if where.kind == "call" or event is None or event.type not in KINDS:
        raise InputRefused(f"{decision!r} took nothing out of sight: {_such(live, stream, where)}")
    found = losses(live, stream, where.position)
    name = number_of(live, stream, where.position) or str(found.taking.first)
    shown = found.lost if every else found.telling
    data = RecoverData(
        key=str(stream),
        lost_with=name,
        lost_how=found.taking.did,
        sealed=found.is_sealed,
        summary_erased=found.is_erased,
        found=len(found.lost),
        left_out=len(found.lost) - len(shown),
    )
    if whole:
        literals: dict[str, list[str]] = {}
        for one in shown:
            literals.setdefault(one.first, []).append(one.text)
        names = sorted(literals, key=lambda item: (position_of(origin(item)), item))
        made = live.materialize(stream, [(origin(item), 0) for item in names])
        data.items = _Found(live, stream).items(made, literals)
    else:
        names_of = tool_names(found.items.values())
        counter = tokens.counter()
        data.sentences = [
            RecoveredSentence(
                item=sentence.item.id,
                who=item_data(sentence.item, counter, names_of).who,
                text=sentence.text,
                literals=[_literal(one) for one in sentence.literals],
            )
            for sentence in found.sentences(shown)
        ]
    return data


def _such(live: Live, stream: StreamKey, where: Reference) -> str:
    """What can be named instead."""
    item = origin(where.item or str(where.position))
    rendition = live.view(stream).items.get(item)
    if rendition:
        return f"it stands as {label(item, rendition)}, so --lost {rendition} tells what that lost"
    return "name a compaction such as k1, or the event of a substitution or a revision"


def _literal(one: LostAnchor) -> RecoveredLiteral:
    return RecoveredLiteral(
        kind=one.kind,
        text=one.text,
        used_by=list(one.used_by),
        found_in=list(one.found_in),
        in_other_words=one.is_reworded,
    )


# -- messages -------------------------------------------------------------------------------------


def as_messages(live: Live, data: RecoverData) -> tuple[list[Any], list[str]]:
    """What was recovered as messages that a provider takes, and what was done for that.

    In the form of the newest item. Raises NoContext.
    """
    stream = StreamKey.parse(data.key)
    if not data.items:
        return [], []
    made = legal(live, stream, [one.item for one in data.items])
    body = dialect(made.items[-1].dialect).render(made.items)
    notes = []
    if made.added:
        notes.append(f"added, since a call and its result go together: {', '.join(made.added)}")
    notes += [f"made legal: {describe(repair)}" for repair in made.repairs]
    apart = [item.id for item in made.items if item.role in SYSTEM_ROLES]
    if apart and ("system" in body or "instructions" in body):
        notes.append(f"a system prompt is no message here, so left out: {', '.join(apart)}")
    return list(body.get("messages", body.get("input", ()))), notes


# -- a query --------------------------------------------------------------------------------------


def queried(
    live: Live, stream: StreamKey, text: str, *, every: bool = False, whole: bool = False
) -> RecoverData:
    """The originals of the items in which a text stands, upper and lower case being equal.

    Unless they are wanted ``whole``, each with the lines around what was found. First those in
    which the context does not show it any more, then the others, each in the order of the log.
    Raises InputRefused for an empty text.
    """
    if not text.strip():
        raise InputRefused("what is to be looked for? --query takes a text")
    wanted = Wanted(Query((Term(text, any_before=True, any_behind=True),)))
    where = Place(stream, live.log.version(stream), inherited=True)
    hits: list[tuple[bool, int, int, str]] = []
    for hit in Search(live, SearchIndex(live), wanted, [where]).hits():
        if hit.item is not None and _came_with(live, stream, hit.item, wanted.query):
            number = int(hit.item.id.partition(".")[2] or 0)
            hits.append((hit.state == "visible", hit.event.position, number, hit.item.id))
    hits.sort()
    chosen = [origin(hit[3]) for hit in hits[: None if every else HITS]]
    made = live.materialize(stream, [(item, 0) for item in chosen])
    items = _Found(live, stream).items(made) if made else []
    for one, item in zip(items, made, strict=True):
        if not whole:
            one.excerpt = _excerpt(wanted.query, item, one.text)
    return RecoverData(
        key=str(stream),
        query=text,
        found=len(hits),
        left_out=len(hits) - len(chosen),
        items=items,
    )


def _excerpt(query: Query, item: Item, shown: str) -> str | None:
    """The lines around what was found, where that is not all that there is."""
    made = excerpt(query, shown)
    if made.is_cut or query.first_in(shown) is None:  # arguments of a call, on a line of their own?
        texts = (text.text for text in item_texts(item) if query.first_in(text.text) is not None)
        made = excerpt(query, max(texts, key=lambda text: text.count("\n"), default=shown))
        return made.text
    return made.text if made.left_out else None


def _came_with(live: Live, stream: StreamKey, item: Item, query: Query) -> bool:
    """Whether the original holds it too, where another rendition was found."""
    if item.form == "original":
        return True
    made = live.materialize(stream, [(origin(item.id), 0)])
    return any(query.best([text.text for text in item_texts(one)]) is not None for one in made)


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
            names = tool_names(later(self.live, self.stream, 0))
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
