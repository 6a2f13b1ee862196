"""The recalls of a log: which message of a session shows which memories.

A ``MemoryRecalled`` says so of one rendition of an item. What a rendition says never changes, so
wherever that one stands, in a fork too, those memories stand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from eventlog.reading import Reading
from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.memory.stream import stream_id
from projections.runs import Standing, standing


class Recall(NamedTuple):
    """One message, and the memories that it shows."""

    stream: StreamKey
    """That owns the event."""
    position: int
    """Of the event."""
    item: str
    """The rendition that shows them: ``5``, or ``5@40``."""
    of: str
    """The full key of the stream in which they stand."""
    memories: tuple[str, ...]
    """As they were shown: ``12``, or ``12@40``."""
    profile: int
    """The last position there that the profile was made of; 0: none was shown."""
    of_id: str = ""
    """The id of that stream, in hexadecimal; empty where it is not told."""
    left_out: tuple[str, ...] = ()
    """Related ones, likewise, for which there was no room."""

    def is_elsewhere(self, log: Reading) -> bool:
        """Whether those memories stand in another log, whose stream of that name is another one
        than that of this log."""
        is_own = not self.of_id or str(self.stream) == self.of
        return not is_own and stream_id(log, self.of) != self.of_id

    @property
    def standing(self) -> Standing:
        """The item and its rendition, as a view has them."""
        return standing(self.item)

    @property
    def ids(self) -> tuple[int, ...]:
        """The memories, each once."""
        return tuple(dict.fromkeys(filter(None, map(memory_of, self.memories))))


def memory_of(entry: str) -> int:
    """The memory of which an entry names a rendition; 0 where it names none."""
    id = entry.partition("@")[0]
    return int(id) if id.isdecimal() and id.isascii() and len(id) < _DIGITS else 0


_DIGITS = 16


def recall_of(event: RecordedEvent) -> Recall | None:
    """What an event says was recalled; None where what it names as an item is none."""
    data = event.data
    item = str(data.get("item", ""))
    try:
        standing(item)
    except ValueError:
        return None
    return Recall(
        stream=event.stream,
        position=event.position,
        item=item,
        of=str(data.get("of", "")),
        memories=tuple(map(str, data.get("memories", ()))),
        profile=int(data.get("profile", 0)),
        of_id=str(data.get("of_id", "")),
        left_out=tuple(map(str, data.get("left_out", ()))),
    )


def recalls_in(live: Live, stream: StreamKey) -> list[Recall]:
    """Those of a session and of what it was forked from, in their order; those of another log's
    memories too. Raises StreamNotFound."""
    found = map(recall_of, live.log.read(stream, types=["memory_recalled"]))
    return [recall for recall in found if recall is not None]


def recalls_of(
    live: Live, key: StreamKey, memories: Collection[int], *, left_out: bool = False
) -> list[Recall]:
    """Those in the whole log that show one of some memories of the stream ``key``, or had no room
    for it, in the order of the log, but for those of another log's stream of that name. All of the
    log is looked through once."""
    wanted = set(memories)
    names = [name for id in wanted for name in (f'"{id}"', f'"{id}@')]
    # The skeleton of an erased one says what it showed, and stands elsewhere.
    some = "e.payload is null" + " or instr(e.payload, ?)" * len(names)
    if len(wanted) > _FEW:
        some, names = "1", []
    rows = live.log.query(
        "select s.user, s.agent, s.session, e.position from events e "
        f"join streams s on s.row = e.stream where e.type = 'memory_recalled' and ({some}) "
        "order by e.sequence",
        names,
    ).fetchall()
    found = map(recall_of, _events(live, rows))
    every = (each for each in found if each and each.of == str(key))
    some_of = (each for each in every if not each.is_elsewhere(live.log))
    if left_out:
        return [each for each in some_of if wanted & {*map(memory_of, each.left_out)}]
    return [each for each in some_of if wanted & {*each.ids}]


_FEW = 50
"""Memories that are looked for by their names in the payloads."""


def _events(live: Live, rows: Iterable[tuple[str, str, str, int]]) -> list[RecordedEvent]:
    at: dict[StreamKey, list[int]] = {}
    for user, agent, session, position in rows:
        at.setdefault(StreamKey(user, agent, session), []).append(position)
    found = [each for key, some in at.items() for each in live.log.at(key, some).values()]
    return sorted(found, key=lambda event: event.sequence)
