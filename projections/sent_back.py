"""Answers of several parts, as a request sends them back.

Parts that stand together, in their order, are the answer. Where only some of them do, or one in
other words, the answer is revised to what stands there. A part that stands apart is none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eventlog.events import MessageRevised
from eventlog.jsonvalue import Json
from projections.alignment import Pair
from projections.changes import change
from projections.dialects.entries import RequestEntry
from projections.items import Item


class Revised(NamedTuple):
    """An answer of which not all came back, or not as it was."""

    event: MessageRevised
    parts: list[int]
    """All of its parts, by their places among the items."""
    places: list[int]
    """Those of what came back, among the entries."""


def sent_back(
    items: Sequence[Item],
    entries: Sequence[RequestEntry],
    old: Sequence[str],
    new: Sequence[str],
    pairs: list[Pair],
    front: int,
) -> tuple[list[Pair], list[Revised]]:
    """The pairs of items and entries, those of the parts of each answer together, and the answers
    that are revised. ``old`` and ``new`` are the keys of items and entries; the first ``front`` are
    known to be pairs."""
    answers: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        if item.part is not None:
            answers.setdefault(item.id, []).append(i)
    answers = {id: parts for id, parts in answers.items() if parts[-1] >= front}
    if not answers:
        return pairs, []
    revised: list[Revised] = []
    open_ = {i for parts in answers.values() for i in parts}
    found = [pair for pair in pairs if pair[0] not in open_]
    for parts in answers.values():
        behind = max((j for i, j in found if i < parts[0]), default=-1)
        before = min((j for i, j in found if i > parts[-1]), default=len(new))
        sent = _together(items, entries, old, new, parts, range(behind + 1, before))
        if not sent:
            continue
        found = sorted([*found, *((i, j) for i, j, _ in sent)])
        if [i for i, _, _ in sent] == parts and all(same for _, _, same in sent):
            continue
        given = [dict(items[i].message if same else entries[j].message) for i, j, same in sent]
        message = Json({"items": given})
        event = MessageRevised(item=items[parts[0]].id, message=message, inferred=True)
        revised.append(Revised(event, parts, [j for _, j, _ in sent]))
    return found, revised


def _together(
    items: Sequence[Item],
    entries: Sequence[RequestEntry],
    old: Sequence[str],
    new: Sequence[str],
    parts: Sequence[int],
    places: range,
) -> list[tuple[int, int, bool]]:
    """The first parts of an answer that stand together in the request, in their order: which,
    where, and whether as they were."""
    found: list[tuple[int, int, bool]] = []
    left = list(parts)
    for j in places:
        same = next((i for i in left if old[i] == new[j]), None)
        other = same
        if same is None and items[parts[0]].form != "redacted":
            other = next((i for i in left if change(items[i], entries[j]) is not None), None)
        if other is not None:
            found.append((other, j, same is not None))
            left = [i for i in left if i > other]
        elif found:
            break
    return found
