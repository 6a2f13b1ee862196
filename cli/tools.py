"""Which tool a result is of, where only the message that called it says so."""

from __future__ import annotations

from collections.abc import Sequence

from eventlog import StreamKey
from projections import Live
from projections.items import Item
from projections.materialize import original

_PAGE = 200
"""Positions that are looked at together."""


class Tools:
    """The names of tools by the ids of their calls, those from a position on as they come.

    A call that stands before it is looked for from there back, each position once.
    """

    def __init__(self, live: Live, key: StreamKey, begin: int) -> None:
        self._live, self._key = live, key
        self._names: dict[str, str] = {}
        self._earlier: dict[str, str] = {}
        self._begin = begin

    def note(self, item: Item) -> None:
        """Take the calls of the next item."""
        self._names.update((p.id, p.name) for p in item.parts if p.kind == "call")

    def of(self, call_ids: Sequence[str]) -> str:
        """The name of the tool; empty where no call of these ids says one."""
        while True:
            for names in (self._names, self._earlier):
                found = next((names[i] for i in call_ids if names.get(i)), "")
                if found:
                    return found
            if self._begin <= 1:
                return ""
            self._look_back()

    def _look_back(self) -> None:
        end, self._begin = self._begin, max(1, self._begin - _PAGE)
        kinds = ["message_appended"]
        found: dict[str, str] = {}
        for event in self._live.log.read(self._key, self._begin - 1, end - 1, types=kinds):
            item = original(event.position, {event.position: event})
            if item is not None:
                found.update((p.id, p.name) for p in item.parts if p.kind == "call")
        self._earlier = {**found, **self._earlier}
