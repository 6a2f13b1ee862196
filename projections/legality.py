"""The one layer that makes a context sendable, whatever the log, the strategy and the dialect.

``sendable`` is pure and total: any items give a context that every provider accepts, or
``NoContext`` where no message is left. It keeps the order of the log, with one exception that
providers demand: a result stands right behind the message that called it. What it changed it says,
as repairs.

1. A result stands after its call; all results of a batch together, right behind it. Repeated call
   ids are renamed, the second result of a call and the result of no call are left out.
2. An unanswered call is closed by a synthetic result, unless it is the live frontier.
3. The leading run of system messages stands first, verbatim, once; a later one keeps its place.
4. The order of the log holds; the first message that is not the system's is a user's.
5. Reasoning stays byte-identical with what it precedes, or leaves whole.

Every provider's own rules beyond these (blank blocks, forms of ids, merging) are the dialects'
work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eventlog.errors import NoContext
from projections.boundaries import legal_boundaries, snap_backward, snap_forward, units
from projections.items import Item
from projections.repairing import Repairing
from projections.repairs import Insertion, Renaming, Repair, Rule, Violation
from projections.standins import NO_RESULT, START

__all__ = [
    "NO_RESULT",
    "START",
    "Insertion",
    "Renaming",
    "Repair",
    "Rule",
    "Sendable",
    "Violation",
    "check",
    "legal_boundaries",
    "sendable",
    "snap_backward",
    "snap_forward",
    "units",
]


@dataclass(frozen=True, slots=True)
class Sendable:
    """A context that every provider accepts, and what had to be changed for it.

    An item of ``items`` that a repair renamed or replaced keeps its id and its rendition although
    its bytes are others: append the events of the repairs before a manifest names it.
    """

    items: tuple[Item, ...]
    repairs: tuple[Repair, ...]


def sendable(items: Sequence[Item], *, live_frontier: bool = False) -> Sendable:
    """The items as they can be sent. With ``live_frontier`` calls that wait for results stay open.

    Raises NoContext when no message is left.
    """
    work = Repairing(items)
    work.drop_what_says_nothing()
    batches = work.order(work.drop_unpaired())
    work.rename(batches)
    work.close(batches, live_frontier=live_frontier)
    work.drop_loose_thinking()
    work.drop_repeated_system()
    if not work.pieces:
        raise NoContext
    work.start_with_user()
    return Sendable(*work.finished())


def check(items: Sequence[Item], *, live_frontier: bool = False) -> tuple[Violation, ...]:
    """What keeps the items from being sent as they are; empty when ``sendable`` changes nothing."""
    try:
        repairs = sendable(items, live_frontier=live_frontier).repairs
    except NoContext:
        return (Violation("no_context", ()),)
    return tuple(Violation(repair.rule, _named(repair)) for repair in repairs)


def _named(repair: Repair) -> tuple[str, ...]:
    """The items that a repair is about: for what was put in, the item that it was made for."""
    names = [
        *repair.dropped,
        *(change.item for change in repair.renamed),
        *(change.item.id for change in repair.replaced),
        *repair.moved,
    ]
    if not names:
        names = [insertion.item.id.partition("+")[0] for insertion in repair.inserted]
    return tuple(dict.fromkeys(names))
