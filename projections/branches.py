"""From which earlier call a request goes on, where it does not go on from the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from projections import forms, runs
from projections.alignment import Pair
from projections.changes import change, entry_key, entry_kind, is_like, item_kind
from projections.dialects.entries import RequestEntry
from projections.items import Item
from projections.manifest import Piece, SentAs
from projections.parts import parted

if TYPE_CHECKING:
    from projections.observe import Known

MAX_BRANCHES = 200
"""Earlier manifests that a request is compared with."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A call of the past, as far as branches need it."""

    position: int
    sent: Sequence[SentAs]
    """The entries of its manifest, and maybe those of later calls that went on from it."""
    size: int
    """How many of them are its own."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of its entries."""
        return tuple(piece for entry in islice(self.sent, self.size) for piece in entry)


def branch_of(
    known: Known, items: Sequence[Item], entries: Sequence[RequestEntry], pairs: Sequence[Pair]
) -> Earlier | None:
    """The newest call from which a request goes on in another way, or which it makes again.

    It does so only if no answer that was given later stands in it, and where it goes on with the
    one that was given, nothing of what came later: else it is the same conversation, and what
    differs has changed there, or left. ``pairs`` are the items and entries that are alike.
    """
    keys: dict[int, str] = {}
    last = pairs[-1][1] if pairs else -1
    latest = max((items[i].call or 0 for i, _ in pairs), default=0)
    answers: dict[int | None, list[Item]] = {}
    for item in items:
        answers.setdefault(item.call, []).append(item)
    calls = list(known.calls())[: -2 - MAX_BRANCHES : -1]
    for call in calls:
        if latest > call.position or call.size > len(entries):
            continue
        pieces = call.pieces
        size = len(pieces)
        if size > len(entries) or not size:
            continue
        if call is calls[0] and size != len(entries):
            continue  # it goes on from the last call; only the same again is a branch of it
        following = entries[size] if size < len(entries) else None
        if following is not None and following.role != "assistant":
            continue
        given = answers.get(call.position) or list(items[size : size + 1])
        same = False
        if given and following is not None:
            same = any(is_like(part, following) for part in given)
            behind = entries[size + len(given) : size + len(given) + 1]
            if same and (last > size or _goes_on(items, given[-1], behind)):
                continue
        front = same_front(pieces, known.front)
        sent = enumerate(islice(known.sent(call), front, None), front)
        if not all(_is_at(item, entries[place], place, keys) for place, item in sent):
            continue
        if same and given[0].call == call.position:
            answer = Piece(runs.origin(given[0].id))
            (as_given,) = known.sent(Earlier(call.position, [(answer,)], 1))
            sent_back = [(answer._replace(part=item.part),) for item in parted([as_given])]
            whole = [*islice(call.sent, call.size), *sent_back]
            return Earlier(runs.position_of(answer.item), whole, len(whole))
        return call
    return None


def _goes_on(items: Sequence[Item], answer: Item, behind: Sequence[RequestEntry]) -> bool:
    """Whether what is behind an answer in the request stood there, with other content."""
    place = next((n for n, item in enumerate(items, 1) if item is answer), 0)
    if not 0 < place < len(items) or not behind:
        return False
    return change(items[place], behind[0], in_place=True) is not None


def same_front(pieces: Sequence[Piece], others: Sequence[Piece]) -> int:
    """How many pieces two requests have in common at their front."""
    for place, (one, other) in enumerate(zip(pieces, others, strict=False)):
        if one != other:
            return place
    return min(len(pieces), len(others))


def _is_at(item: Item, entry: RequestEntry, place: int, keys: dict[int, str]) -> bool:
    """Whether an item is like an entry, whose key is made once, by its place."""
    kind = item_kind(item)
    if kind == entry_kind(entry) and forms.identical(item.message, entry.message):
        return True
    if place not in keys:
        keys[place] = entry_key(entry_kind(entry), entry.message)
    return entry_key(kind, item.message) == keys[place]
