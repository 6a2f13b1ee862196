"""What is given to be remembered: of the right types, and of a size that stays quick to look for.

A wrong type is refused with a line that names it, before anything is written. What comes in a
document is clipped instead, and told: one memory is no reason to refuse the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from eventlog.errors import InputRefused
from eventlog.events import Event, EventBase, MemoryRevised, Remembered
from eventlog.jsonvalue import Json

MOST = 100
"""Entities, relations, names of values, and sources, of one memory."""

E = TypeVar("E", bound=EventBase)
T = TypeVar("T")


def made(of: type[E], /, **fields: object) -> E:
    """An event of what was given. Raises InputRefused for what is of a wrong type."""
    try:
        return of.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "it"
        raise InputRefused(f"{where}: {' '.join(fault['msg'].split())}"[:200]) from None


def checked_all(what: str, given: Sequence[T], kind: type[T]) -> tuple[T, ...]:
    """Parts of a memory, as many as it may have. Raises InputRefused."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence):
        raise InputRefused(f"{what} are a list, not {_type(given)}")
    if len(given) > MOST:
        raise InputRefused(f"a memory has at most {MOST} {what}, not {len(given):,}")
    for each in given:
        if not isinstance(each, kind):
            raise InputRefused(f"{what} are of the type {kind.__name__}, not {_type(each)}")
    return tuple(given)


def checked_values(given: Mapping[str, object]) -> Json:
    """Values by their names. Raises InputRefused, and EventInvalid for what is no JSON."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputRefused("values are given by their names, which are texts")
    if not all(name.strip() for name in given):
        raise InputRefused("a value has a name")
    if len(given) > MOST:
        raise InputRefused(f"at most {MOST} values are given at once, not {len(given):,}")
    return Json(dict(given))


def checked_word(what: str, given: str) -> str:
    """A text that may be empty. Raises InputRefused."""
    if not isinstance(given, str):
        raise InputRefused(f"{what} is a text, not {_type(given)}")
    return given


def checked_whole(what: str, given: int) -> int:
    """A whole number: of a memory, or a time. Raises InputRefused."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise InputRefused(f"{what} is a whole number, not {_type(given)}")
    return given


def clipped(event: Event) -> tuple[Event, str]:
    """A memory of a document with as much as it may have, and what was left out; empty: nothing."""
    if not isinstance(event, Remembered | MemoryRevised):
        return event, ""
    kept: dict[str, object] = {}
    lost: list[str] = []
    for name in ("entities", "relations", "sources"):
        parts = getattr(event, name) or ()
        if len(parts) > MOST:
            kept[name] = parts[:MOST]
            lost.append(f"{len(parts) - MOST:,} {name}")
    values = event.values.value if event.values is not None else None
    if isinstance(values, dict) and len(values) > MOST:
        kept["values"] = Json(dict(list(values.items())[:MOST]))
        lost.append(f"{len(values) - MOST:,} values")
    return (event.model_copy(update=kept), ", ".join(lost)) if kept else (event, "")


def _type(given: object) -> str:
    return type(given).__name__
