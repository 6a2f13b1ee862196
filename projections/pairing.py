"""Which result answers which call.

Call ids repeat in real logs, so an id is no key: a result belongs to the nearest call before it
that has its id and is still open, and within one batch to the first such call. The search has no
bound.

A batch is what one answer calls: one message, or, in OpenAI's Responses, the items that stand
together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from eventlog.messages import Part
from projections.items import Item
from projections.reading import calls_of, results_of, role_of

NO_RESULT_LABEL = "no-result"
"""Label of a synthetic result; a real one takes its place."""


@dataclass(slots=True)
class Pair:
    """A call, and its result if there is one."""

    call_at: int
    """Index of the item that calls."""
    call: Part
    batch: int
    result_at: int | None = None
    result: Part | None = None


@dataclass(frozen=True, slots=True)
class Pairing:
    """All calls of a sequence of items, in order, and the results that answer none of them."""

    pairs: tuple[Pair, ...]
    batches: tuple[int, ...]
    """For each item the number of its batch; -1 for what is no message of a model."""
    orphans: tuple[int, ...]
    """Items with a result that no call before them asked for."""
    seconds: tuple[int, ...]
    """Items with one more result of a call that is answered already."""

    @property
    def unanswered(self) -> tuple[Pair, ...]:
        """The calls that are open."""
        return tuple(pair for pair in self.pairs if pair.result_at is None)

    @property
    def pending(self) -> tuple[Pair, ...]:
        """The live frontier: open calls after which the model has not spoken again."""
        latest = max(self.batches, default=-1)
        return tuple(pair for pair in self.unanswered if pair.batch == latest)


def batches(items: Sequence[Item]) -> tuple[int, ...]:
    """The number of each item's batch, counted up in their order; -1 where no model speaks."""
    found: list[int] = []
    number = -1
    before: Item | None = None
    for item in items:
        if role_of(item) != "assistant":
            found.append(-1)
            before = None
            continue
        if before is None or not one_answer(before, item):
            number += 1
        found.append(number)
        before = item
    return tuple(found)


def one_answer(first: Item, second: Item) -> bool:
    """Whether two neighbouring messages of a model are items of one answer."""
    both = first.dialect == second.dialect == "openai_responses"
    return both and (first.call is None or second.call is None or first.call == second.call)


def renamed_suffix(item: Item) -> str:
    """What is put behind a repeated call id, so that the name follows from the item alone."""
    if item.id.isascii() and item.id.isalnum():
        return f"_{item.id}"
    return "_" + "".join(c if c.isalnum() and c.isascii() else "-" for c in item.id)


def original_id(item: Item, call_id: str) -> str:
    """The id that the model gave to a call, whether or not it was renamed."""
    suffix = renamed_suffix(item)
    return call_id.removesuffix(suffix) if len(call_id) > len(suffix) else call_id


def known_ids(item: Item) -> list[str]:
    """The ids of the calls of an item; one without is known by the name that it is given."""
    found, name = [], "call" + renamed_suffix(item)
    for part in calls_of(item):
        found.append(part.id or name)
        name += "" if part.id else "_"
    return found


def is_synthetic(item: Item) -> bool:
    """Whether it is the result that legality put in for a missing one."""
    return item.label == NO_RESULT_LABEL and item.source == "injected"


class _Open:
    """Open calls by id: the latest batch first, within it the first call first."""

    def __init__(self) -> None:
        self._stacks: dict[str, list[tuple[int, deque[Pair]]]] = {}

    def add(self, key: str, pair: Pair) -> None:
        stack = self._stacks.setdefault(key, [])
        if not stack or stack[-1][0] != pair.batch:
            stack.append((pair.batch, deque()))
        stack[-1][1].append(pair)

    def take(self, key: str) -> Pair | None:
        stack = self._stacks.get(key)
        while stack:
            queue = stack[-1][1]
            while queue:
                pair = queue.popleft()
                if pair.result_at is None:
                    return pair
            stack.pop()
        return None


def pair(items: Sequence[Item]) -> Pairing:
    """Pair all calls and results of the items."""
    numbers = batches(items)
    exact, renamed = _Open(), _Open()
    closed: dict[str, list[Pair]] = {}
    known: set[str] = set()
    pairs: list[Pair] = []
    orphans: list[int] = []
    seconds: list[int] = []
    for at, item in enumerate(items):
        for call, name in zip(calls_of(item), known_ids(item), strict=True):
            made = Pair(at, call, numbers[at])
            pairs.append(made)
            exact.add(call.id, made)
            original = original_id(item, call.id) or name
            known.update((call.id, original))
            if original != call.id:
                # A result that comes after its call was renamed still has the model's id.
                renamed.add(original, made)
        for result in results_of(item):
            found = exact.take(result.id) or renamed.take(result.id)
            if found is None and not is_synthetic(item) and closed.get(result.id):
                found = closed[result.id].pop()
                assert found.result_at is not None
                seconds.append(found.result_at)
            if found is None:
                (seconds if result.id in known else orphans).append(at)
                continue
            found.result_at, found.result = at, result
            if is_synthetic(item):
                for key in {result.id, original_id(items[found.call_at], result.id)}:
                    closed.setdefault(key, []).append(found)
    return Pairing(tuple(pairs), numbers, tuple(orphans), tuple(sorted(seconds)))
