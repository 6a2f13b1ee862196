"""The profile of a person on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from cli.memories import users_instead
from cli.memory_values import clean, named_in_profile, profile_values, refuse_keys
from cli.models_memory import MemoryProfileData, ProfileRow
from cli.naming import place_names
from eventlog.errors import InputRefused
from eventlog.events import MemorySource, ProfileSection, ProfileUpdated
from eventlog.jsonvalue import Json
from harness.memory import UserMemory
from projections.memory.errors import NotKnown
from projections.memory.profile import SECTIONS


def profile_data(memory: UserMemory, changed: int = 0) -> MemoryProfileData:
    """What is known of the person, by section."""
    profile = memory.profile
    known = [
        ProfileRow(
            section=each.section,
            name=each.name,
            value=each.value.value,
            is_explicit=each.is_explicit,
            position=each.position,
            sources=named_sources(each.sources),
        )
        for each in sorted(profile.known, key=lambda each: SECTIONS.index(each.section))
    ]
    return MemoryProfileData(
        user=memory.user, position=profile.position, known=known, changed=changed
    )


def names_of(memory: UserMemory, data: MemoryProfileData) -> dict[str, str]:
    """What can be typed for the sessions that what is known came from, as far as they are here."""
    sources = [source for row in data.known for source in row.sources]
    keys = [source.rpartition("@")[0] for source in sources]
    return place_names(memory.live, [*sources, *keys])


Changes = dict[ProfileSection, dict[str, object]]
"""By section and name; None: it is to go."""


def profile_changes(typed: Sequence[str], gone: Sequence[str], force: bool) -> Changes:
    """What was typed, without what looks like a key. Raises InputRefused."""
    changes: Changes = profile_values(typed)
    for values in changes.values():
        named = (f"{name}: {value}" for name, value in values.items())
        refuse_keys(force, *values, *named, values=values.values())
    for each in gone:
        section, name = named_in_profile(each, "--unset")
        if name in changes.setdefault(section, {}):
            raise InputRefused(f"{section}.{name} is given twice")
        changes[section][name] = None
    return changes


def profile_changed(memory: UserMemory, changes: Changes, reason: str) -> MemoryProfileData:
    """The profile after it was changed: all that was typed, or nothing of it.

    Raises InputRefused, and NotKnown for what is to go and is not known.
    """
    profile = memory.profile
    for section, values in changes.items():
        for name, value in values.items():
            if value is None and profile.get(section, name) is None:
                raise NotKnown(memory.user, f"{section}.{name}", users_instead(memory))
    events = [
        ProfileUpdated(
            section=section,
            values=Json(values),
            is_explicit=True,
            reason=clean(reason, "--reason"),
            by="human",
        )
        for section, values in changes.items()
    ]
    memory.append(*events)
    return profile_data(memory, len(events))


def named_sources(sources: Sequence[MemorySource]) -> list[str]:
    """``S@12`` for each event, ``S`` for a session as a whole."""
    return [
        name
        for source in sources
        for name in ([f"{source.stream}@{at}" for at in source.positions] or [source.stream])
    ]
