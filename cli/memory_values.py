"""What is typed of a memory: values, entities, relations, sources; keys belong in none."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Literal, get_args

from cli.naming import place, session_key
from eventlog.errors import EventInvalid, InputRefused
from eventlog.events import Entity, MemorySource, ProfileSection, Relation
from eventlog.jsonvalue import loads
from harness.memory.checked import LONGEST
from harness.memory.keys import key_in
from projections import Live
from projections.memory.profile import SECTIONS
from projections.references import is_place
from projections.runs import origin, position_of

STDIN = "-"

Area = Literal["", "technical", "interaction"]
AREAS: tuple[Area, ...] = get_args(Area)

_KIND = re.compile(r"[A-Za-z][\w -]{0,39}")
_MOST = 80
"""Characters of what was typed that an error shows."""


def text_of(typed: str) -> str:
    """The text of a memory; ``-`` is standard input. Raises InputRefused."""
    if typed != STDIN:
        return clean(typed, "the text")
    data = sys.stdin.buffer.read(4 * LONGEST + 1)
    if len(data) > 4 * LONGEST:
        raise InputRefused(f"a memory has at most {LONGEST:,} characters: it is no document")
    try:
        return data.decode("utf-8-sig").strip("\r\n")
    except UnicodeDecodeError:
        raise InputRefused("standard input is no UTF-8") from None


def clean(text: str, what: str) -> str:
    """A text that was typed, which may hold bytes that are none. Raises InputRefused."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputRefused(f"{what} is no UTF-8") from None
    return text


def values_of(typed: Iterable[str], option: str = "--value") -> dict[str, object]:
    """``name=value`` as values: JSON where it is some, else the text. Raises InputRefused."""
    found: dict[str, object] = {}
    for each in typed:
        name, equals, value = clean(each, option).partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputRefused(f"{option} takes NAME=VALUE, and {each[:_MOST]!r} is none")
        if name in found:
            raise InputRefused(f"{option}: {name[:_MOST]!r} is given twice")
        found[name] = _value(value)
    return found


def _value(text: str) -> object:
    try:
        return loads(text)
    except EventInvalid:
        return text


def profile_values(typed: Iterable[str]) -> dict[ProfileSection, dict[str, object]]:
    """``section.name=value`` by section. Raises InputRefused."""
    found: dict[ProfileSection, dict[str, object]] = {}
    for name, value in values_of(typed, "--set").items():
        section, rest = named_in_profile(name, "--set")
        if value is None:
            raise InputRefused(f"--set: null is nothing that is known; --unset {section}.{rest}")
        found.setdefault(section, {})[rest] = value
    return found


def named_in_profile(typed: str, option: str) -> tuple[ProfileSection, str]:
    """The section and the name in ``section.name``. Raises InputRefused."""
    front, dot, name = clean(typed, option).partition(".")
    section = next((each for each in SECTIONS if each == front), None)
    if section is None or not dot or not name.strip():
        raise InputRefused(
            f"{option} takes SECTION.NAME, and {typed[:_MOST]!r} is none; sections are "
            f"{', '.join(SECTIONS)}"
        )
    return section, name.strip()


def entities_of(typed: Iterable[str]) -> tuple[Entity, ...]:
    """``NAME`` or ``NAME:KIND``, each once. Raises InputRefused."""
    found = []
    for each in typed:
        name, colon, kind = clean(each, "--entity").rpartition(":")
        if not colon or not name.strip() or not _KIND.fullmatch(kind.strip()):
            name, kind = each, ""
        if not name.strip(" :"):
            raise InputRefused("--entity takes NAME or NAME:KIND, not nothing")
        found.append(Entity(name=name.strip(), kind=kind.strip()))
    return tuple(dict.fromkeys(found))


def relations_of(typed: Iterable[str]) -> tuple[Relation, ...]:
    """``A|uses|B``. Raises InputRefused."""
    found = []
    for each in typed:
        parts = [part.strip() for part in clean(each, "--relation").split("|")]
        if len(parts) != 3 or not all(parts):
            raise InputRefused(f"--relation takes 'A|uses|B', and {each[:_MOST]!r} is none")
        found.append(Relation(subject=parts[0], predicate=parts[1], object=parts[2]))
    return tuple(dict.fromkeys(found))


def sources_of(live: Live, typed: Iterable[str]) -> tuple[MemorySource, ...]:
    """``S`` or ``S@REF``: whole sessions, and events of them.

    Raises StreamNotFound, Ambiguous, PositionNotFound, ItemNotFound.
    """
    found = []
    for each in typed:
        name, at, behind = each.rpartition("@")
        if not (at and name and is_place(behind)):
            found.append(MemorySource(stream=str(session_key(live, each))))
            continue
        where = place(live, each)
        position = where.position
        if where.kind == "item":
            position = position_of(origin(where.item))
        elif where.kind in ("call", "before_compaction"):  # it stands right behind
            position += 1
        positions = () if where.kind == "now" or not position else (position,)
        found.append(MemorySource(stream=str(where.stream), positions=positions))
    return tuple(found)


def refuse_keys(force: bool, *texts: str, values: Iterable[object] = ()) -> None:
    """Refuse what holds something of the shape of a key, unless it is forced: a memory stands
    before models in later sessions. Raises InputRefused, also without ``detect-secrets``."""
    found = None if force else key_in(*texts, values=values)
    if found is not None:
        raise InputRefused(
            f"this holds what looks like a key ({': '.join(found)}), and models are shown what is "
            "remembered; --force remembers it all the same"
        )


def area_of(typed: str) -> Area:
    """A part of the profile that a preference belongs to. Raises InputRefused."""
    found = next((area for area in AREAS if area == typed), None)
    if found is None:
        raise InputRefused(f"--area {typed[:_MOST]!r}: there are {' and '.join(AREAS[1:])}")
    return found
