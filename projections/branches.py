"""From where a request goes on, where it does not go on from the last one: from an earlier call, or
from what would stand if something had not been taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from eventlog.messages import SYSTEM_ROLES
from projections import forms, runs
from projections.alignment import Pair, align
from projections.changes import change, entry_key, entry_kind, is_like, item_kind
from projections.context import View
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


@dataclass(frozen=True, slots=True)
class Undone:
    """What would stand if some compactions had not been."""

    compactions: Sequence[int]
    """Their positions, the newest first."""
    view: View
    items: Sequence[Item]


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
    lead = len(list(takewhile(lambda entry: entry.role in SYSTEM_ROLES, entries)))
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
        given = list(known.answers(call.position)) or list(items[size : size + 1])
        same = False
        if given and following is not None:
            same = any(is_like(part, following) for part in given)
            behind = entries[size + len(given) : size + len(given) + 1]
            if same and (last > size or _goes_on(items, given[-1], behind)):
                continue
        front = same_front(pieces, known.front)
        sent = enumerate(islice(known.sent(call), front, None), front)
        # A system prompt may be another one each time: that is told beside.
        if not all(
            _is_at(item, entries[place], place, keys)
            or (place < lead and item.role in SYSTEM_ROLES)
            for place, item in sent
        ):
            continue
        if same and given[0].call == call.position:
            return _answered(known, call, given)
        return call
    return None


def _answered(known: Known, call: Earlier, given: Sequence[Item]) -> Earlier:
    """A call of the past together with what came back to it."""
    answer = Piece(runs.origin(given[0].id))
    (as_given,) = known.sent(Earlier(call.position, [(answer,)], 1))
    sent_back = [(answer._replace(part=item.part),) for item in parted([as_given])]
    whole = [*islice(call.sent, call.size), *sent_back]
    return Earlier(runs.position_of(answer.item), whole, len(whole))


TRIED = 4
"""Earlier calls that are looked at closely: those that hold most of what came back."""


def returned(
    known: Known,
    old: Sequence[str],
    new: Sequence[str],
    pairs: Sequence[Pair],
    entries: Sequence[RequestEntry],
) -> Undone | Earlier | None:
    """From where more of a request stands than now, where something is in it that had left.

    ``old`` and ``new`` are the keys of the items that stand and of the entries, as far as they had
    to be made, ``pairs`` those that are alike.
    """
    known_now, there = {j for _, j in pairs}, set(old)
    missing = [key for j, key in enumerate(new) if j not in known_now and key not in there]
    if not known.stood(missing):
        return None
    hashed = [hash(entry_key(entry_kind(e), e.message)) for e in entries]
    best: Undone | Earlier | None = None
    most = (len(pairs), 0)
    for undone in known.undone():
        keys = [hash(entry_key(item_kind(i), i.message)) for i in undone.items]
        found = len(align(keys, hashed))
        if found > len(pairs) and (found, found - len(keys)) > most:
            best, most = undone, (found, found - len(keys))
    for call, keys in _fullest(known, hashed):
        found = len(align(keys, hashed))
        if found > len(pairs) and (found, found - len(keys)) > most:
            best, most = call, (found, found - len(keys))
    return best


def _fullest(known: Known, new: Sequence[int]) -> list[tuple[Earlier, list[int]]]:
    """The earlier calls, with what came back to them, that hold most of a request; and their
    keys."""
    wanted = Counter(new)
    counted = []
    for at, call in enumerate(list(known.calls())[: -2 - MAX_BRANCHES : -1]):
        given = known.answers(call.position)
        if given:
            call = _answered(known, call, given)
        keys = list(known.keys(call))
        counted.append((-(Counter(keys) & wanted).total(), at, call, keys))
    counted.sort(key=lambda each: each[:2])
    return [(call, keys) for _, _, call, keys in counted[:TRIED]]


def _goes_on(items: Sequence[Item], answer: Item, behind: Sequence[RequestEntry]) -> bool:
    """Whether what is behind an answer in the request stood there, with other content, and was not
    answered again: else that left, and what the request holds in its place is another one."""
    place = next(
        (n for n, i in enumerate(items, 1) if (i.id, i.part) == (answer.id, answer.part)), 0
    )
    if not 0 < place < len(items) or not behind:
        return False
    if any(item.role == "assistant" for item in items[place:]):
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
