"""What a memory is about once it says another text."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from eventlog.events import MemoryKind
from projections.memory.learned import fact_subject
from projections.memory.memory import Memory, same_subject
from projections.memory.preferences import stated
from projections.memory.signs import said_preferences


class Read(NamedTuple):
    """What was read from a text."""

    subject: str
    area: Literal["", "technical", "interaction"] = ""
    values: Mapping[str, object] = MappingProxyType({})


def reread(
    memory: Memory, text: str
) -> tuple[str | None, Literal["", "technical", "interaction"] | None, Mapping[str, object] | None]:
    """The subject, the area and the values that a memory has when it says another text; None for
    each that stays as it is."""
    anew = read_anew(memory, text)
    if anew is None:
        return None, None, None
    return (
        anew.subject if anew.subject != memory.subject else None,
        anew.area if anew.area != memory.area else None,
        anew.values if dict(anew.values) != memory.values else None,
    )


def read_anew(memory: Memory, text: str) -> Read | None:
    """What a memory is about when it says another text, as the rules read that; None where what it
    is about was not read from the text that it has: somebody gave it, and it stays.

    So does what it took over from others.
    """
    if not memory.subject and not memory.held:
        return None
    if any(each.memory != memory.id for each in memory.held):
        return None
    old = _read(memory.kind, memory.text)
    is_read = same_subject(old.subject) == same_subject(memory.subject)
    return _read(memory.kind, text) if is_read and dict(old.values) == memory.values else None


def _read(kind: MemoryKind, text: str) -> Read:
    if kind != "preference":
        return Read(fact_subject(text) if kind in ("fact", "project") else "")
    for sign in said_preferences(text):
        values = sign.values.value if sign.values is not None else None
        return Read(sign.subject, sign.area, dict(values) if isinstance(values, dict) else {})
    about = stated(text)
    return Read(about.subject, about.area, dict(about.values))
