"""Which events carry an item, and what was made of it, in a stream and all its forks.

A memory is carried like an item: by the event that brought it in, and by its revisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from eventlog.errors import InputRefused, ItemNotFound
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from projections import runs
from projections.context import ITEM_TYPES
from projections.live import Live
from projections.session_rows import linked
from projections.sessions import session_query

_ITEM = re.compile(r"[1-9]\d*(\.\d+)?", re.ASCII)
_RENDERING = ("message_revised", "placeholder_substituted", "prompt_rendered")
"""A rendered prompt is no rendition of its item, but the text that one was made of."""

MEMORY = "remembered"
"""Brings in a memory."""


_OF_MEMORIES = ("memory_revised", "memory_forgotten", "memory_restored")


class Carriers:
    """The events of a log, asked for by the items that they carry."""

    def __init__(self, live: Live) -> None:
        self.log = live.log
        self._infos = {info.key: info for info in live.log.streams()}

    def named(self, key: str) -> StreamKey | None:
        """The stream of that full key; None where there is none."""
        return next((each for each in self._infos if str(each) == key), None)

    def owner(self, stream: StreamKey, position: int) -> StreamInfo:
        """The stream to which a position of one belongs."""
        info = self._infos[stream]
        while info.parent is not None and position <= info.base:
            info = self._infos[info.parent]
        return info

    def holders(self, owner: StreamKey, position: int) -> list[StreamInfo]:
        """The streams in which that position is the same event."""
        found = [self._infos[owner]]
        for info in found:
            found += [
                child
                for child in self._infos.values()
                if child.parent == info.key and child.base >= position
            ]
        return found

    def origin(self, stream: StreamKey, item: str) -> RecordedEvent:
        """The event that brought an item in. Raises InputRefused, ItemNotFound."""
        if not _ITEM.fullmatch(item):
            raise InputRefused(f"{item!r} is not an item such as 12 or 57.0")
        at = runs.position_of(runs.origin(item))
        event = self.log.at(stream, [at]).get(at)
        if event is None or not _brings_in(event, item):
            raise ItemNotFound(str(stream), item)
        return event

    def renditions(self, stream: StreamKey, item: str) -> list[RecordedEvent]:
        """The events that carry the item, each with the stream that owns it."""
        origin = self.origin(stream, item)
        owner = self.owner(stream, origin.position)
        found = list(self.log.at(owner.key, [origin.position]).values())
        for info in self.holders(owner.key, origin.position):
            if origin.type == MEMORY:
                changed = self._own(info, _OF_MEMORIES, f'"memory":{item}')
                found += [e for e in changed if _says(e, origin.position)]
                continue
            for event in self._own(info, _RENDERING, f'"item":"{item}"'):
                if event.data.get("item") == item:
                    found.append(event)
        return found

    def carrying(self, stream: StreamKey, entry: str) -> RecordedEvent | None:
        """The event that carries a rendition of an item; None where there is none of that name."""
        try:
            at, rendition = runs.standing(entry)
            found = rendition or runs.position_of(at)
        except ValueError:
            return None
        if not 1 <= found <= self.log.version(stream):
            return None
        owner = self.owner(stream, found)
        return self.log.at(owner.key, [found]).get(found)

    def _own(
        self, info: StreamInfo, types: Sequence[str], containing: str = ""
    ) -> Iterable[RecordedEvent]:
        return self.log.read(info.key, after=info.base, types=types, containing=containing)

    def made_of(self, stream: StreamKey, item: str) -> list[tuple[RecordedEvent, list[str]]]:
        """The compactions with messages that were made of an item, and the items they brought."""
        at = runs.position_of(runs.origin(item))
        owner = self.owner(stream, at)
        found = []
        for info in self.holders(owner.key, at):
            for event in self._own(info, ("context_compacted",)):
                data = event.data
                shown = (data.get("summarizer") or {}).get("shown", ())
                brought = [f"{event.position}.{n}" for n in range(len(data.get("messages", ())))]
                if brought and names(item, [*data.get("covered", ()), *shown], event.position):
                    found.append((event, brought))
        return found


def _says(event: RecordedEvent, memory: int) -> bool:
    """Whether an event says what a memory says, or why it was forgotten or restored."""
    is_of_it = event.data.get("memory") == memory
    return is_of_it and (event.type == "memory_revised" or bool(event.data.get("reason")))


def _brings_in(event: RecordedEvent, item: str) -> bool:
    _, dot, number = item.partition(".")
    if not dot:
        return event.type in ITEM_TYPES or event.type == MEMORY
    field = {"context_compacted": "messages", "repair_applied": "inserted"}.get(event.type)
    return field is not None and int(number) < len(event.data.get(field, ()))


def names(item: str, entries: Iterable[str], end: int) -> bool:
    """Whether entries name an item, by itself or in a run."""
    origin = runs.origin(item)
    for entry in entries:
        if runs.is_run(entry):
            low, high = runs.bounds(entry, end)
            if isinstance(origin, int) and low <= origin <= high:
                return True
        elif runs.standing(entry.partition("/")[0])[0] == origin:
            return True
    return False


def family(live: Live, stream: StreamKey) -> list[StreamKey]:
    """The streams that are linked with one: forks and sub-agents, both ways; itself first."""
    infos = live.log.streams()
    pairs = [(str(info.key), str(info.parent)) for info in infos if info.parent is not None]
    pairs += linked(session_query(live))
    by_name = {str(info.key): info.key for info in infos}
    links: dict[StreamKey, set[StreamKey]] = {}
    for one, other in pairs:
        if one in by_name and other in by_name:
            links.setdefault(by_name[one], set()).add(by_name[other])
            links.setdefault(by_name[other], set()).add(by_name[one])
    found = [stream]
    for key in found:
        found += sorted(links.get(key, set()) - set(found))
    return found
