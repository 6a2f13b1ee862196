"""From where a request goes on, where it does not go on from the last one: from an earlier call,
from what would stand if something had not been taken out, or from nothing: it is asked beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, takewhile

from eventlog import messages
from eventlog.messages import SYSTEM_ROLES
from projections import forms, runs
from projections.alignment import Pair, align
from projections.changes import (
    SAME_PROMPT,
    change,
    entry_key,
    entry_kind,
    is_alike,
    is_like,
    item_kind,
)
from projections.dialects.entries import RequestEntry
from projections.items import Item
from projections.known import Earlier, Known, Request, Undone
from projections.manifest import Piece
from projections.parts import parted

MAX_BRANCHES = 200
"""Earlier manifests that a request is compared with."""


def base_of(
    known: Known,
    items: Sequence[Item],
    entries: Sequence[RequestEntry],
    old: Sequence[str],
    new: Sequence[str],
    pairs: Sequence[Pair],
) -> Undone | Earlier | None:
    """Where a request goes on from, if that is not what stands.

    ``old`` and ``new`` are the keys of the items that stand and of the entries, as far as they had
    to be made, ``pairs`` those that are alike.
    """
    if len(pairs) < len(items):
        branch = branch_of(known, items, entries, pairs)
        branch = branch or _begins_again(known, items, entries, pairs)
        if branch is not None:
            standing = [*dict(piece.standing for piece in branch.pieces).items()]
            return None if standing == known.view.standing() else branch
    return returned(known, old, new, pairs, entries)


def _begins_again(
    known: Known, items: Sequence[Item], entries: Sequence[RequestEntry], pairs: Sequence[Pair]
) -> Earlier | None:
    """The place before the first message, where only that one is sent, in other words."""
    said = next((n for n, item in enumerate(items) if item.role not in SYSTEM_ROLES), None)
    if said is None or not entries or any(i >= said for i, _ in pairs):
        return None
    first, entry = items[said], entries[-1]
    lead = all(e.role in SYSTEM_ROLES for e in entries[:-1])
    if not lead or not entry.role == first.role == "user" or "." in first.id:
        return None
    if not is_alike(first.text, messages.text(first.dialect, entry.message)):
        return None
    position = runs.position_of(runs.origin(first.id)) - 1
    stood = [(Piece(*standing),) for standing in known.at(position).standing()]
    return Earlier(position, stood, len(stood))


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
    """From where more of a request stands than now, where something is in it that had left."""
    told, there = {j for _, j in pairs}, set(old)
    missing = [key for j, key in enumerate(new) if j not in told and key not in there]
    if not missing or not known.stood(map(hash, missing)):
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
        keys = list(known.keys(call.pieces))
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


def is_side(
    known: Known,
    items: Sequence[Item],
    request: Request,
    pairs: Sequence[Pair],
    tools: int | None,
) -> bool:
    """Whether nothing of the conversation is in a request, and it is not asked in the same way.

    ``tools``: where its tools were declared, -1 for tools that never were.
    """
    standing = [item for item in items if item.role in SYSTEM_ROLES]
    if request.belongs or len(standing) == len(items):
        return False
    if any(items[i].role not in SYSTEM_ROLES for i, _ in pairs):
        return False
    system = [entry for entry in request.entries if entry.role in SYSTEM_ROLES]
    same_system = len(standing) == len(system) and all(
        is_alike(item.text, messages.text(item.dialect, entry.message), SAME_PROMPT)
        for item, entry in zip(standing, system, strict=True)
    )
    return not same_system or bool(known.asked and (tools, request.model) not in known.asked)
