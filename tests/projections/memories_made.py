"""Events of memory: some by hand, and any at all, of two persons and of sessions that recall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from eventlog import StreamKey, codec, events
from eventlog.events import Event
from eventlog.jsonvalue import Json
from eventlog.recorded import Draft, RecordedEvent
from projections.memory import memory_stream
from projections.memory.folding import evolve
from projections.memory.lifecycle import DAY
from projections.memory.state import MemoryState

ADA, BOB = memory_stream("ada"), memory_stream("bob")
WORK, TALK = StreamKey("ada", "coder", "work"), StreamKey("bob", "writer", "talk")
START = 1_767_225_600_000_000
"""The first of January 2026, when all of them are recorded; a label may say another day."""


def prefers(text: str = "tabs, please", **more: Any) -> events.Remembered:
    """A preference about indentation, which a person told."""
    fields = {"subject": "indentation", "is_explicit": True, **more}
    return events.Remembered(kind="preference", text=text, **fields)


def says(values: dict[str, Any], **more: Any) -> events.Remembered:
    """A preference about style that has values."""
    return prefers("see the values", **{"subject": "style", "values": Json(values), **more})


def shown(*memories: int | str, **more: Any) -> events.MemoryRecalled:
    """Memories of Ada in a message of a session."""
    fields = {"of": str(ADA), "item": "1", **more}
    return events.MemoryRecalled(memories=tuple(map(str, memories)), **fields)


def placed(
    event: Event, position: int, stream: StreamKey = ADA, day: float = 0, erased: bool = False
) -> RecordedEvent:
    """An event at its place, so many days after the start."""
    encoded = codec.encode(event)
    return RecordedEvent(
        stream=stream,
        sequence=position,
        position=position,
        event_id=b"",
        type=encoded.type,
        schema_version=encoded.schema_version,
        critical=encoded.critical,
        occurred_at=None,
        recorded_at=START + int(day * DAY),
        chain=b"",
        erased=erased,
        payload=encoded.payload,
    )


def folded(*said: Event, state: MemoryState | None = None) -> MemoryState:
    """The memories of Ada after these events, of which recalls stand in a session; a day each."""
    state = state if state is not None else MemoryState()
    for position, event in enumerate(said, 1):
        evolve(state, placed(event, position, day=position))
    return state


# -- any at all -----------------------------------------------------------------------------------


def weighed(*choices: tuple[st.SearchStrategy[Any], int]) -> st.SearchStrategy[Any]:
    """One of these strategies, each as often as its number says: ``one_of`` takes equal ones for
    one."""
    several = [strategy for strategy, times in choices for _ in range(times)]
    return st.sampled_from(range(len(several))).flatmap(several.__getitem__)


ODD = st.sampled_from(["", "x", "\ud83d", "\x00\u202e", "y" * 300, "\u200b"])
SUBJECTS = st.sampled_from(
    [*["tabs", "naming"] * 4, "Tabs ", "\uff54abs", "t\u200babs", "", " ", "\u200b", "\ud83d"]
)
KINDS = st.sampled_from([*["preference"] * 6, "fact", "code"])
IDS = weighed((st.integers(1, 6), 6), (st.integers(1, 20), 3), (st.sampled_from([99, 2**70]), 1))
VALUE = st.sampled_from(["tabs", "spaces", None, 4, 10**400, 0.5, ["a"], "\ud83d"])
VALUES = st.dictionaries(st.sampled_from(["a", "b", "\ud83d"]), VALUE, min_size=1, max_size=3)
GIVEN = weighed((VALUES.map(Json), 4), (st.none(), 1), (st.just(Json({})), 1))
ENTRIES = weighed(
    (st.integers(1, 9).map(str), 5),
    (st.integers(1, 9).map(lambda id: f"{id}@40"), 2),
    (st.sampled_from(["3@redacted", "5.0", "1-9", "7-", "9" * 5000, "1\u0663", "99"]), 2),
)
SOURCES = st.lists(
    st.builds(
        events.MemorySource,
        stream=st.sampled_from([str(WORK), "x", "\ud83d"]),
        positions=st.lists(st.integers(1, 9), max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)

REMEMBERED = st.builds(
    events.Remembered,
    kind=KINDS,
    text=ODD,
    importance=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    is_explicit=st.booleans(),
    subject=SUBJECTS,
    values=GIVEN,
    sources=SOURCES,
    supersedes=st.just(()) | st.lists(IDS, max_size=2).map(tuple),
)
REVISED = st.builds(
    events.MemoryRevised,
    memory=IDS,
    kind=st.sampled_from([None, None, None, "preference", "fact"]),
    text=st.none() | ODD,
    importance=st.none() | st.just(0.2),
    is_explicit=st.none() | st.booleans(),
    subject=st.none() | SUBJECTS,
    values=GIVEN,
    sources=SOURCES,
)
FORGOTTEN = st.builds(
    events.MemoryForgotten,
    memory=IDS,
    rule=st.sampled_from(["asked", "expired", "unimportant"]),
)
RESTORED = st.builds(events.MemoryRestored, memory=IDS)
UPDATED = st.builds(
    events.ProfileUpdated,
    section=st.sampled_from(["basics", "behaviour"]),
    values=st.dictionaries(
        st.sampled_from(["n", "m", "\ud83d"]), VALUE | st.sampled_from([1, 2.5, -1]), max_size=3
    ).map(Json),
    how=st.sampled_from(["set", "added"]),
    is_explicit=st.booleans(),
    sources=SOURCES,
)
OF = st.sampled_from([*[str(ADA)] * 8, str(BOB), "x", "", "a/b", str(WORK), "\ud83d"])
RECALLED = st.builds(
    events.MemoryRecalled,
    of=OF,
    item=st.just("1"),
    memories=st.lists(ENTRIES, min_size=1, max_size=4).map(tuple),
    is_renewed=st.sampled_from([False, False, True]),
)
OF_MEMORY = weighed((REMEMBERED, 8), (REVISED, 4), (RESTORED, 3), (FORGOTTEN, 1), (UPDATED, 1))
LABELS = st.sampled_from(
    [None, None, "2026-01-09", "2026-03-01T10:00:00.123456Z", "1999-01-01", "9999-12-31", "soon"]
)


class Said(NamedTuple):
    """An event, where it is appended, and what its source's clock said."""

    stream: StreamKey
    event: Event
    label: str | None = None

    @property
    def draft(self) -> Draft:
        """As it is appended."""
        return Draft(self.event, occurred_at=self.label)


SAID: st.SearchStrategy[Said] = weighed(
    (st.builds(Said, st.just(ADA), OF_MEMORY, LABELS), 12),
    (st.builds(Said, st.just(BOB), OF_MEMORY, LABELS), 1),
    (st.builds(Said, st.sampled_from([WORK, TALK, ADA]), RECALLED, LABELS), 3),
)


def recorded(said: Iterable[Said]) -> Iterator[RecordedEvent]:
    """Events in the order of a log, each at the next position of its stream; a day each."""
    positions: dict[StreamKey, int] = {}
    for day, (stream, event, _) in enumerate(said):
        positions[stream] = positions.get(stream, 0) + 1
        yield placed(event, positions[stream], stream, day)
