"""The events of what outlives a session: memories, the profile of a person, and their recall.

What is remembered of a person stands in a stream of that person's own, ``user/_/memory``. There a
memory is named by the position of the ``Remembered`` that brought it in: ``12``, and ``12@40`` as
event 40 revised it. That it stood before a model is a fact of the session in which it did.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from eventlog.values import Entry, EventBase, ItemId, JsonObject, Position, Value

MemoryKind = Literal[
    "preference",
    "project",
    "code",
    "error_fix",
    "conversation",
    "experience",
    "session_summary",
    "fact",
]
"""What a memory is about; how long it lives depends on it."""

ProfileSection = Literal["basics", "technical", "interaction", "behaviour"]

Importance = Annotated[float, Field(ge=0.0, le=1.0)]


class MemorySource(Value):
    """Events that a memory came from."""

    stream: str
    """The full key of their session."""
    positions: tuple[Position, ...] = ()
    elsewhere: bool = False
    """That session stands in another log; one of that name here is another one."""


class Entity(Value):
    """Something that memories speak of: a file, a tool, a person, a service."""

    name: str
    kind: str = ""


class Relation(Value):
    """How one entity is related to another."""

    subject: str
    predicate: str
    object: str


class Experience(Value):
    """What was done in a situation, and how it went."""

    situation: str
    action: str
    outcome: str = ""
    success: bool | None = None
    """Nothing: nobody knows."""


class SessionSummary(Value):
    """What a session leaves behind, in its parts."""

    goal: str = ""
    decisions: tuple[str, ...] = ()
    """The last ones, the newest last; so are the others."""
    tasks: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    open_points: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


class Remembered(EventBase):
    """Something is to be known in later sessions too."""

    type: Literal["remembered"] = "remembered"
    kind: MemoryKind = "fact"
    text: str
    importance: Importance = 0.5
    scored: tuple[str, ...] = ()
    """The rules that made up the importance: ``decision +0.30``."""
    is_explicit: bool = False
    """A person asked for it, or said it; else it was inferred."""
    subject: str = ""
    """What it is about. Two of one kind with the same subject contradict each other."""
    area: Literal["", "technical", "interaction"] = ""
    """Of a preference: what part of the profile it belongs to."""
    values: JsonObject | None = None
    """Of a preference: what it says by name, as ``{"indentation": "tabs"}``."""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    experience: Experience | None = None
    summary: SessionSummary | None = None
    sources: tuple[MemorySource, ...] = ()
    supersedes: tuple[Position, ...] = ()
    """Memories that it takes the place of, whatever their subject."""
    by: str = ""
    """``human``, ``model``, or the rule that found it."""


class MemoryRevised(EventBase):
    """A memory says something else from here on; what is not given stays."""

    type: Literal["memory_revised"] = "memory_revised"
    memory: Position
    kind: MemoryKind | None = None
    text: str | None = None
    importance: Importance | None = None
    is_explicit: bool | None = None
    subject: str | None = None
    area: Literal["", "technical", "interaction"] | None = None
    values: JsonObject | None = None
    entities: tuple[Entity, ...] | None = None
    relations: tuple[Relation, ...] | None = None
    sources: tuple[MemorySource, ...] = ()
    """Beside those that it has."""
    reason: str = ""
    by: str = ""


class MemoryForgotten(EventBase):
    """A memory is not recalled any more. It stays readable, and can be restored."""

    type: Literal["memory_forgotten"] = "memory_forgotten"
    memory: Position
    rule: Literal["asked", "expired", "unimportant"] = "asked"
    reason: str = ""
    by: str = ""


class MemoryRestored(EventBase):
    """A memory that was forgotten, or that another one had taken the place of, is recalled again;
    what stands about the same subject gives way to it."""

    type: Literal["memory_restored"] = "memory_restored"
    memory: Position
    reason: str = ""
    by: str = ""


class ProfileUpdated(EventBase):
    """Something is known of the person, by name."""

    type: Literal["profile_updated"] = "profile_updated"
    section: ProfileSection
    values: JsonObject
    """By name; null: nothing is known of it any more."""
    how: Literal["set", "added"] = "set"
    """``added``: numbers that are added to those that stand."""
    is_explicit: bool = False
    sources: tuple[MemorySource, ...] = ()
    reason: str = ""
    by: str = ""


class MemoryRecalled(EventBase):
    """Memories stand in a message of this session from here on. It is in the append of that message
    or of its revision."""

    type: Literal["memory_recalled"] = "memory_recalled"
    of: str
    """The full key of the stream that they stand in."""
    of_id: str = ""
    """Its id, in hexadecimal: a stream of that name in another log has another one, and holds other
    memories. Empty: nobody knows, and it is that of this log."""
    item: Entry
    """The rendition that shows them: ``5``, or ``5@40``."""
    memories: tuple[Entry, ...] = ()
    """As they were shown, in that order: ``12``, or ``12@40`` as revised by event 40."""
    profile: Annotated[int, Field(ge=0)] = 0
    """The last position there that the profile was made of; 0: none was shown."""
    asked: ItemId | None = None
    """The item whose text they are related to."""
    query: str = ""
    """What they are related to, where that is no item."""
    embedder: str = ""
    dimension: Annotated[int, Field(ge=0)] = 0
    left_out: tuple[Entry, ...] = ()
    """Related ones for which there was no room."""
    is_renewed: bool = False
    """They stood there already: it is no new access to any of them."""
