"""``[memory]`` of the config: whose memories, how long they live, who embeds them.

    [memory]
    user = "ada"
    embedder = "hashing"
    chat = true
    default_days = 30
    old_days = 90
    least = 0.4

    [memory.lifetimes]
    preference = 90

A folder that somebody else made may hold a config, so it names no model that memories are sent to:
that is done by ``--embedder`` or by the variable ``CTXLOG_EMBEDDER``.
"""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

from cli.config import Config, config
from eventlog.errors import EventInvalid, InputRefused
from eventlog.events import MemoryKind
from harness.embedders import NAMES
from harness.memory.checked import KINDS
from projections.memory.lifecycle import LIFETIMES, LifePolicy
from projections.memory.stream import memory_stream

LOCAL = "local"
"""Whose memories, where nobody says it."""

VARIABLE = "CTXLOG_EMBEDDER"

EMBEDDERS = NAMES
"""As they are named; behind the last one stands a model."""

LEAST_DAYS, MOST_DAYS = 0.01, 36_500.0
_HOLDS = "user, embedder, chat, default_days, old_days, least and lifetimes"
_NUMBERS = {
    "default_days": (LEAST_DAYS, MOST_DAYS),
    "old_days": (LEAST_DAYS, MOST_DAYS),
    "least": (0.0, 1.0),
}


class MemoryConfig(NamedTuple):
    """What the config says of memories."""

    user: str = LOCAL
    embedder: str = EMBEDDERS[0]
    policy: LifePolicy = LifePolicy()
    chat: bool = False
    """Whether a chat has a memory where nobody says it."""


def memory_config(of: Config | None = None) -> MemoryConfig:
    """What the config of this process says, and the environment. Raises InputRefused."""
    of = of or config()
    table = of.table("memory", _HOLDS)
    where = f"{of.path}: [memory]"
    for name in table:
        if name not in ("user", "embedder", "chat", "lifetimes", *_NUMBERS):
            raise InputRefused(f"{where} has no {name[:60]!r}; it has {_HOLDS}")
    numbers = {
        name: _number(f"{where} {name}", table[name], *_NUMBERS[name])
        for name in _NUMBERS
        if name in table
    }
    policy = LifePolicy.model_validate({**numbers, "lifetimes": _lifetimes(where, table)})
    named = os.environ.get(VARIABLE, "").strip()
    chat = table.get("chat", False)
    if not isinstance(chat, bool):
        raise InputRefused(f"{where} chat = {str(chat)[:60]!r} is neither true nor false")
    return MemoryConfig(_user(where, table), named or _embedder(where, table), policy, chat)


def _user(where: str, table: Any) -> str:
    name = table.get("user", LOCAL)
    try:
        memory_stream(name if isinstance(name, str) else "")
    except EventInvalid as error:
        raise InputRefused(f"{where} user = {str(name)[:60]!r} is no name: {error}") from None
    return str(name)


def _embedder(where: str, table: Any) -> str:
    name = table.get("embedder", EMBEDDERS[0])
    if isinstance(name, str) and name.startswith(EMBEDDERS[-1]):
        raise InputRefused(
            f"{where} embedder: a config does not say where memories are sent; name {name[:60]!r} "
            f"with --embedder or {VARIABLE}"
        )
    if name not in EMBEDDERS[:-1]:
        raise InputRefused(
            f"{where} embedder = {str(name)[:60]!r}: there are {', '.join(EMBEDDERS[:-1])}"
        )
    return str(name)


def _lifetimes(where: str, table: Any) -> tuple[tuple[MemoryKind, float], ...]:
    given = table.get("lifetimes", {})
    if not isinstance(given, dict):
        raise InputRefused(f"{where} lifetimes is no table of days by kind")
    found = dict(LIFETIMES)
    for kind, days in given.items():
        if kind not in KINDS:
            raise InputRefused(
                f"{where} lifetimes: {kind[:60]!r} is no kind of memory: {', '.join(KINDS)}"
            )
        found[kind] = _number(f"{where} lifetimes {kind}", days, LEAST_DAYS, MOST_DAYS)
    return tuple(found.items())


def _number(what: str, value: object, least: float, most: float) -> float:
    """A number within its bounds; of days, more than none. Raises InputRefused."""
    number = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(min(value, 1e300))  # a whole number may be too long for one with a point
    if not least <= number <= most:  # NaN is in no bounds
        raise InputRefused(f"{what} = {str(value)[:60]} is no number from {least:g} to {most:,g}")
    return number
