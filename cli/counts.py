"""Tokens of contexts, each item counted once."""

from __future__ import annotations

from dataclasses import dataclass, field

from eventlog import StreamKey
from projections import Live, tokens
from projections.items import Item
from projections.materialize import materialize, needed, referenced
from projections.runs import Standing


@dataclass(slots=True)
class Counts:
    """Tokens of items in their renditions, each counted once."""

    live: Live
    key: StreamKey
    counter: tokens.Counter = field(default_factory=tokens.counter)
    known: dict[Standing, int] = field(default_factory=dict)

    def of(self, standing: Standing, item: Item) -> int:
        """The tokens of one item in a rendition."""
        if standing not in self.known:
            self.known[standing] = tokens.count_item(self.counter, item)
        return self.known[standing]

    def total(self, standing: list[Standing]) -> int:
        """The tokens of a context."""
        missing = [each for each in standing if each not in self.known]
        if missing:
            events = self.live.log.at(self.key, needed(missing))
            events.update(self.live.log.at(self.key, referenced(missing, events)))
            for each in missing:
                made = materialize([each], events)
                self.known[each] = tokens.count_item(self.counter, made[0]) if made else 0
        return sum(self.known[each] for each in standing)
