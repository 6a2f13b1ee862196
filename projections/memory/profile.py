"""The profile of a person: what is known by name, and how much was done together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard, get_args

from eventlog.events import MemorySource, ProfileSection, ProfileUpdated
from eventlog.jsonvalue import MAX_DEPTH, Json, depth
from eventlog.values import Value

MOST = 1e15
"""A larger number is none of a count: it is not added, nor is anything added to it."""

MOST_SOURCES = 50
"""Sessions of others that a number which was added to, or a memory that took in values, names: the
last ones."""

SECTIONS: tuple[ProfileSection, ...] = get_args(ProfileSection)


class Known(Value):
    """One thing that is known."""

    section: ProfileSection
    name: str
    value: Json
    is_explicit: bool = False
    sources: tuple[MemorySource, ...] = ()
    position: int
    """Of the event that said so last."""


class Profile(Value):
    """All that is known, by section and name, in the order in which it came."""

    known: tuple[Known, ...] = ()
    position: int = 0
    """Of the last event that changed it."""

    def section(self, section: ProfileSection) -> dict[str, Any]:
        """What is known in a section."""
        return {each.name: each.value.value for each in self.known if each.section == section}

    def get(self, section: ProfileSection, name: str) -> Known | None:
        """One thing, where it is known."""
        found = (e for e in self.known if (e.section, e.name) == (section, name))
        return next(found, None)


def updated(profile: Profile, said: ProfileUpdated, position: int) -> Profile:
    """The profile after an update.

    What was said takes the place of what was inferred, the newer of the older; what is inferred
    does not change what was said. Numbers that are added to no number begin at zero; what is no
    number, or a huge one, is not added.
    """
    known = {(each.section, each.name): each for each in profile.known}
    for name, value in said.values.value.items():
        at = (said.section, name)
        before = known.get(at)
        if before is not None and before.is_explicit and not said.is_explicit:
            continue
        if said.how == "added":
            if not _is_number(value):
                continue
            old = before.value.value if before is not None else 0
            value = value + (old if _is_number(old) else 0)
            if abs(value) > MOST:
                continue
        if value is None:
            known.pop(at, None)
            continue
        if not can_be_held(value):
            continue
        sources = before.sources if before is not None and said.how == "added" else ()
        known[at] = Known(
            section=said.section,
            name=name,
            value=Json(value),
            is_explicit=said.is_explicit,
            sources=together(sources, said.sources)[-MOST_SOURCES:],
            position=position,
        )
    found = tuple(known.values())
    if found == profile.known:
        return profile
    return Profile(known=found, position=position)


def together(*of: Iterable[MemorySource]) -> tuple[MemorySource, ...]:
    """Sources by session, each position once."""
    found: dict[tuple[str, bool], set[int]] = {}
    for source in (each for sources in of for each in sources):
        found.setdefault((source.stream, source.elsewhere), set()).update(source.positions)
    return tuple(
        MemorySource(stream=stream, positions=tuple(sorted(positions)), elsewhere=elsewhere)
        for (stream, elsewhere), positions in found.items()
    )


def can_be_held(value: object) -> bool:
    """Whether a value of an event can stand in a state, which nests it a little deeper."""
    return depth(value) <= MAX_DEPTH - 5


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST
