"""What is least important leaves, by a score, down to a low-water mark.

An item's score is ``base``, plus points for a user's words, an error, a decision and a failed tool
(English and Chinese words), times a decay by age, times one plus its relevance to the current task.
Age is counted in calls, never in wall-clock time: it halves every ``half_life`` calls. Relevance is
the share of the newest human message's words that the item has. A unit is worth its best item; of
equal units the older one leaves. Scores are worked out at the trigger only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from heapq import heapify, heappop, heapreplace
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision
from projections.strategies.hashing import words
from projections.strategies.signs import HEAD, share_of, shows_decision, shows_error
from projections.strategies.window import Entry, Window

TASK_WORDS = 60
"""So many different words of the task are looked for."""


class Prune(Strategy):
    """``prune``: the lowest scores go."""

    name: ClassVar[str] = "prune"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """The budget, and the weights of the score."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        low: Annotated[int, Field(ge=1, le=100)] = 60
        """Per cent of ``tokens`` that it goes down to."""
        base: Annotated[float, Field(ge=0)] = 5
        user: Annotated[float, Field(ge=0)] = 3
        error: Annotated[float, Field(ge=0)] = 5
        decision: Annotated[float, Field(ge=0)] = 3
        failed: Annotated[float, Field(ge=0)] = 4
        half_life: Annotated[float, Field(gt=0)] = 20
        """Calls after which a score has halved."""
        max_score: Annotated[float, Field(ge=0)] = 0
        """Only what scores less may leave; 0: whatever it takes."""

    parameters: Parameters

    @property
    def limit(self) -> int | None:
        """The budget, unless important units stay whatever it takes."""
        return None if self.parameters.max_score else self.parameters.tokens

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether more stands than the budget."""
        return window.tokens > self.parameters.tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.tokens, "tokens stand", self.parameters.tokens)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """One compaction without messages, of the lowest units."""
        p = self.parameters
        task = self._task(window, moment)
        latest = window.last_answer()
        over = window.tokens - p.tokens * p.low // 100
        gone: list[int] = []
        for worth, number in self._lowest_first(window, task):
            unit = window.units[number]
            if over <= 0 or (p.max_score and worth >= p.max_score):
                break
            if window.removable(unit) and (latest is None or unit is not latest.unit):
                gone.append(number)
                over -= window.tokens_of(unit)
        origins = tuple(origin for number in gone for origin in window.units[number].items)
        if origins:
            yield Compact(origins, reason="least important")

    def score(self, entry: Entry, window: Window, task: Set[str]) -> float:
        """How important an item is now."""
        return self._at_least(entry, window) * (1 + share_of(entry, task))

    def _at_least(self, entry: Entry, window: Window) -> float:
        """Its score if nothing in it were relevant to the task."""
        p = self.parameters
        points = p.base
        points += p.user if entry.is_human else 0
        points += p.error if shows_error(entry) else 0
        points += p.decision if shows_decision(entry) else 0
        points += p.failed if entry.failed else 0
        age = window.calls - entry.call
        return float(points * 2.0 ** (-age / p.half_life))

    def _lowest_first(self, window: Window, task: Set[str]) -> Iterator[tuple[float, int]]:
        """Units by their worth, the least first; of equal ones the older, by its place.

        What a unit is worth is worked out when it may be the next: until then it is known that it
        is worth at least what it would be if nothing in it were relevant, and that is enough for
        most of those that stay.
        """
        units: dict[int, list[Entry]] = {}
        for entry in window.oldest():
            units.setdefault(entry.unit.number, []).append(entry)
        waiting = [
            (max(self._at_least(entry, window) for entry in entries), place, number, False)
            for place, (number, entries) in enumerate(units.items())
        ]
        heapify(waiting)
        while waiting:
            worth, place, number, is_known = waiting[0]
            if is_known:
                heappop(waiting)
                yield worth, number
            else:
                worth = max(self.score(entry, window, task) for entry in units[number])
                heapreplace(waiting, (worth, place, number, True))

    def _task(self, window: Window, moment: Moment) -> Set[str]:
        """The words of the newest human message: of long ones the first, and none of one letter."""
        last = window.last_human()
        item = moment.incoming or (last.item if last is not None else None)
        found = words(item.text[:HEAD]) if item is not None else ()
        return frozenset(list(dict.fromkeys(word for word in found if len(word) > 1))[:TASK_WORDS])
