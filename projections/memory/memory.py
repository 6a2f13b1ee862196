"""A memory as it is now: what its events made of it."""

from __future__ import annotations

import unicodedata
from typing import Literal

from eventlog.events import (
    Entity,
    Experience,
    MemoryKind,
    MemorySource,
    Relation,
    SessionSummary,
)
from eventlog.jsonvalue import Json
from eventlog.values import Value
from projections.memory.characters import simplified
from projections.memory.stream import memory_name

PER_ACCESS = 0.05
MOST_BY_ACCESS = 0.15
"""What being recalled adds to the importance of a memory: each time, and at the most."""

ONLY_WISHES = "to say what is to be remembered"
"""The goal of a session in which nothing else was asked."""

SMALL_TALK = "nothing in particular"
"""That of a session in which nobody said more than "hi" and "go on"."""

Standing = Literal["stands", "superseded", "forgotten", "erased"]


class Held(Value):
    """A value that a preference holds, of its own or of one that it took the place of."""

    name: str
    value: Json
    memory: int
    """The memory that says so."""
    is_explicit: bool


class Memory(Value):
    """A memory after some event of the log."""

    id: int
    """The position of its ``Remembered``."""
    rendition: str
    """``12``, or ``12@40`` as event 40 revised it."""
    kind: MemoryKind
    text: str
    importance: float
    """As it was given or scored; ``weight`` counts how often it was recalled, too."""
    scored: tuple[str, ...] = ()
    is_explicit: bool = False
    subject: str = ""
    area: Literal["", "technical", "interaction"] = ""
    held: tuple[Held, ...] = ()
    """Of a preference, by their names."""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    experience: Experience | None = None
    summary: SessionSummary | None = None
    sources: tuple[MemorySource, ...] = ()
    by: str = ""
    remembered_at: int
    """Microseconds since 1970; so are the others."""
    refreshed_at: int
    """When it was remembered, revised, restored or recalled last: its life counts from there."""
    accesses: int = 0
    """How often it was recalled, and those that it took the place of."""
    superseded_by: int = 0
    """The memory that stands in its place; 0: none."""
    supersedes: tuple[int, ...] = ()
    """Those in whose place it stands."""
    forgotten: Literal["", "asked", "expired", "unimportant"] = ""
    """Why it was forgotten; empty: it was not."""
    forgotten_at: int = 0
    """The position at which it was."""
    is_erased: bool = False

    @property
    def name(self) -> str:
        """``m12``."""
        return memory_name(self.id)

    @property
    def weight(self) -> float:
        """Its importance with what its recalls add to it."""
        return weight(self.importance, self.accesses)

    @property
    def standing(self) -> Standing:
        """Whether it stands, else why not."""
        if self.is_erased:
            return "erased"
        if self.forgotten:
            return "forgotten"
        return "superseded" if self.superseded_by else "stands"

    @property
    def stands(self) -> bool:
        """Whether it can be recalled, as far as its age allows."""
        return not (self.superseded_by or self.forgotten or self.is_erased)

    @property
    def is_told(self) -> bool:
        """Whether it says something to a model. A session in which nothing was asked but to
        remember something, or nothing at all, has a summary since it was counted with it; wishes
        have memories of their own."""
        of_nothing = [SessionSummary(goal=goal) for goal in (ONLY_WISHES, SMALL_TALK)]
        return self.summary not in of_nothing

    @property
    def values(self) -> dict[str, object]:
        """What a preference says by name."""
        return {each.name: each.value.value for each in self.held}


def weight(importance: float, accesses: int) -> float:
    """An importance with what recalls add to it."""
    return round(min(1.0, importance + min(MOST_BY_ACCESS, PER_ACCESS * accesses)), 6)


def same_subject(subject: str) -> str:
    """Subjects that differ in case, in blanks, in how their characters are composed or how wide
    they are, or in what is not seen of them, are one; so are those in traditional and in simplified
    characters of what preferences are about.

    Source: Unicode Standard 5.18 and 3.13, "Default Caseless Matching" of compatible characters.
    """
    seen = "".join(each for each in subject if unicodedata.category(each) != "Cf")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    # A lone surrogate cannot stand in a column.
    return " ".join(simplified(folded).encode("utf-8", "backslashreplace").decode().split())
