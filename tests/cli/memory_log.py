"""A log with memories of two persons, learned from a session, shown in another; always the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from running import data
from small_log import answered, called, said

from eventlog import Draft, Json, StreamKey
from eventlog.events import (
    Entity,
    Event,
    Experience,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRevised,
    MemorySource,
    MessageAppended,
    ProfileUpdated,
    Relation,
    Remembered,
    SessionStarted,
)
from projections import open_log
from projections.memory import memory_stream

FIRST = StreamKey("local", "chat", "monday-0001")
SECOND = StreamKey("local", "chat", "tuesday-0002")
KEY = memory_stream("local")
NOW = "2026-09-30"
"""When it is looked at."""
KEY_TEXT = "sk-ant-api03-" + "aB3dE6gH9_" * 9 + "abc-AAAAAAAA"
"""What has the shape of a key."""

FROM_FIRST = MemorySource(stream=str(FIRST), positions=(2,))

MEMORIES: tuple[tuple[str, Event], ...] = (
    (
        "2026-09-01T09:00:00Z",
        Remembered(
            kind="project",
            text="We deploy on Fridays only.",
            importance=0.8,
            scored=("decision +0.30", "length +0.50"),
            subject="deploy day",
            sources=(FROM_FIRST,),
            by="statement",
        ),
    ),  # m1
    (
        "2026-09-02T09:00:00Z",
        Remembered(
            kind="preference",
            text="Indents with tabs.",
            importance=1.0,
            is_explicit=True,
            subject="indentation",
            area="technical",
            values=Json({"indentation": "tabs"}),
            sources=(MemorySource(stream=str(FIRST)),),
            by="human",
        ),
    ),  # m2
    (
        "2026-09-03T09:00:00Z",
        Remembered(
            kind="project",
            text="We deploy on Thursdays.",
            importance=1.0,
            is_explicit=True,
            subject="Deploy  day",
            entities=(Entity(name="deploy.sh", kind="file"), Entity(name="staging")),
            relations=(Relation(subject="deploy.sh", predicate="writes to", object="staging"),),
            sources=(
                MemorySource(stream=str(SECOND), positions=(2, 99)),
                MemorySource(stream="local/chat/elsewhere", positions=(7,)),
            ),
            by="human",
        ),
    ),  # m3
    (
        "2026-09-04T09:00:00Z",
        MemoryRevised(
            memory=3,
            text="We deploy on Thursdays, at noon.",
            reason="more exact",
            by="human",
        ),
    ),
    (
        "2026-08-01T09:00:00Z",
        Remembered(
            kind="experience",
            text="The tests hung; a lock was left; removing it helped.",
            importance=0.35,
            experience=Experience(
                situation="the tests hung",
                action="removed the lock",
                outcome="they ran",
                success=True,
            ),
            by="experience",
        ),
    ),  # m5
    ("2026-09-05T09:00:00Z", Remembered(kind="code", text="The parser is in src/parse.py.")),  # m6
    ("2026-09-28T09:00:00Z", Remembered(text="The kiln is called Brunhilde.")),  # m7
    ("2026-09-29T09:00:00Z", MemoryForgotten(memory=7, reason="no longer so", by="human")),
    (
        "2026-09-29T10:00:00Z",
        ProfileUpdated(
            section="basics", values=Json({"name": "Ada"}), is_explicit=True, by="human"
        ),
    ),
    (
        "2026-09-29T11:00:00Z",
        ProfileUpdated(
            section="technical",
            values=Json({"language": "Python", "editors": ["vi"]}),
            sources=(FROM_FIRST,),
            by="statement",
        ),
    ),
)


def shown_message(text: str) -> MessageAppended:
    """A message that shows memories."""
    return MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": "memory",
            "message": {"role": "user", "content": text},
        }
    )


SESSIONS: dict[StreamKey, tuple[Event, ...]] = {
    FIRST: (
        SessionStarted(title="Monday"),
        said("user", "We deploy on Fridays only, and I indent with tabs."),
        called(),  # 3: c1
        said("assistant", "I see.", call=3),
        answered(3, 10),
    ),
    SECOND: (
        SessionStarted(title="Tuesday"),
        said("user", "Remember: we deploy on Thursdays."),
        shown_message("m2: Indents with tabs. m3: We deploy on Thursdays, at noon."),  # 3
        MemoryRecalled(of=str(KEY), item="3", memories=("2", "3@4"), profile=10),  # 4
        called(),  # 5: c1
        said("assistant", "I see.", call=5),
        answered(5, 20),
        said("user", "Go on."),
        called(),  # 9: c2
        said("assistant", "Done.", call=9),
        answered(9, 30),
    ),
}


def memory_log(folder: Path, name: str = "memory.db", *, timed: bool = True) -> Path:
    """Write it; returns its file. Without its times all of it happened just now."""
    path = folder / name
    with open_log(path, durability="normal") as live:
        drafts = [Draft(event, occurred_at=at if timed else None) for at, event in MEMORIES]
        live.append(FIRST, *_timed(SESSIONS[FIRST], "2026-09-20"))
        live.append(KEY, *drafts)
        live.append(SECOND, *_timed(SESSIONS[SECOND], "2026-09-21" if timed else ""))
        live.append(
            memory_stream("bob"), Draft(Remembered(text="Bob paints."), occurred_at="2026-09-01")
        )
    return path


def _timed(events: tuple[Event, ...], day: str) -> list[Draft]:
    return [
        Draft(event, occurred_at=f"{day}T14:{number:02}:00Z" if day else None)
        for number, event in enumerate(events, 1)
    ]


def names(*args: str | Path) -> list[str]:
    """The memories that ``memory list`` lists."""
    return [row["name"] for row in data("memory", "list", *args)["memories"]]


def add(db: Path, *args: str) -> Any:
    """What ``memory add`` answers."""
    return data("memory", "add", *args, "--db", db)
