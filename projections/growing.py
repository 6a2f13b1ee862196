"""One context after the other made sendable, each from where it differs from the one before.

A context mostly is the one before it with something new behind it. Then all that legality changed
of the old part stands as it was, and the new part can be looked at alone, if nothing ties the two
together: no result answers across the seam, no call id stands on both sides of it, and neither
answer nor thinking goes on over it. Where that is not known, the whole context is made sendable
again. So the result always is the one of ``legality.sendable``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from eventlog.errors import NoContext
from projections.items import Item
from projections.legality import Sendable, sendable
from projections.pairing import known_ids, original_id
from projections.reading import calls_of, is_system, only_thinks, readable, results_of, role_of
from projections.repairs import Repair
from projections.walked import common

FEW = 8
"""Items that are looked at together, at least."""

_USER = Item("0", "0", "message", "openai_chat", "user", {"role": "user", "content": "-"})
"""Stands in front of a new part, since a context begins with a user."""


class _Seam(NamedTuple):
    """A context that was made sendable, as the beginning of those behind it."""

    given: int
    made: int
    ids: int


class Growing:
    """The context that was taken last."""

    def __init__(self) -> None:
        self._given: list[Item] = []
        self._made: list[Item] = []
        self._repairs: tuple[Repair, ...] = ()
        self._ids: dict[str, None] = {}
        """Of all calls and results, as they were given and as they are now, in their order."""
        self._seams: list[_Seam] = []
        self._named: dict[int, tuple[Item, tuple[str, ...]]] = {}
        """The ids of an item, by its ``id``, which is its own as long as it is held here."""

    def take(self, items: Sequence[Item]) -> Sendable:
        """The next context. Raises NoContext when no message is left."""
        self._cut(common(self._given, items))
        if not self._grows(items):
            self._anew(items)
        return Sendable(tuple(self._made), self._repairs)

    def _cut(self, shared: int) -> None:
        """Back to the latest seam in front of which nothing has changed."""
        while self._seams and self._seams[-1].given > shared:
            self._seams.pop()
        given, made, ids = self._seams[-1] if self._seams else _Seam(0, 0, 0)
        del self._given[given:], self._made[made:]
        while len(self._ids) > ids:
            self._ids.popitem()

    def _grows(self, items: Sequence[Item]) -> bool:
        """Take the items behind the latest seam, a few at a time, so that there are seams where a
        later context may differ from this one."""
        if not self._seams:
            first = next((n for n, item in enumerate(items) if not _is_front(item)), len(items))
            if first == len(items):
                return False
            try:
                self._anew(items[: _parting(items, first + 1)])
            except NoContext:
                return False
        while self._seams and self._seams[-1].given == len(self._given) < len(items):
            start = len(self._given)
            if not self._goes_on(items[start : _parting(items, start + FEW)]):
                return False
        return len(self._given) == len(items)

    def _goes_on(self, new: Sequence[Item]) -> bool:
        """Take what is new, if it can be looked at alone."""
        if not all(map(readable, new)):
            return False
        ids = [each for item in new for each in self._ids_of(item)]
        if not self._ids.keys().isdisjoint(ids):
            return False
        made = sendable([_USER, *new])
        if made.repairs or [*map(id, made.items[1:])] != [*map(id, new)]:
            return False
        self._given += new
        self._made += new
        self._ids.update(dict.fromkeys(ids))
        if _ends(new[-1]):
            self._seams.append(_Seam(len(self._given), len(self._made), len(self._ids)))
        return True

    def _anew(self, items: Sequence[Item]) -> None:
        self._given, self._made, self._repairs = [], [], ()
        self._ids, self._seams = {}, []
        if not items:
            raise NoContext
        made = sendable(items)
        self._given, self._made, self._repairs = list(items), list(made.items), made.repairs
        there = (*filter(readable, items), *made.items)
        self._ids = {each: None for item in there for each in self._ids_of(item)}
        if (
            made.items[-1] is items[-1]
            and _ends(items[-1])
            and not _reaches_on(made.repairs, items)
        ):
            self._seams.append(_Seam(len(self._given), len(self._made), len(self._ids)))

    def _ids_of(self, item: Item) -> tuple[str, ...]:
        known = self._named.get(id(item))
        if known is None:
            known = self._named[id(item)] = (item, tuple(_ids(item)))
        return known[1]


def _is_front(item: Item) -> bool:
    return not readable(item) or is_system(item)


def _parting(items: Sequence[Item], least: int) -> int:
    """The first place, behind at least so many items, at which a seam is likely."""
    for at in range(least, len(items)):
        before, item = items[at - 1], items[at]
        if readable(item) and readable(before) and role_of(item) != "tool" and _ends(before):
            return at
    return len(items)


def _ends(item: Item) -> bool:
    """Whether what comes behind an item is never of one answer with it, and no thinking of it.

    Only items of OpenAI's Responses are of one answer.
    """
    speaks = role_of(item) == "assistant"
    return not only_thinks(item) and not (speaks and item.dialect == "openai_responses")


def _reaches_on(repairs: Iterable[Repair], items: Iterable[Item]) -> bool:
    """Whether a repair may change what comes next: what a model says behind reasoning that left
    loses its provider's id."""
    left = any(repair.rule == "thinking_alone" for repair in repairs)
    return left and any(item.dialect == "openai_responses" for item in items)


def _ids(item: Item) -> Iterator[str]:
    for part, known in zip(calls_of(item), known_ids(item), strict=True):
        yield from (part.id, known, original_id(item, part.id))
    for part in results_of(item):
        yield part.id
