"""The memories of a person on the command line: which ones are meant, and rows of them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import get_args

from cli.memory_config import MemoryConfig, memory_config
from cli.models_memory import MemoryListData, MemoryRow
from cli.moments import typed_moment
from cli.naming import session_key, whole_session
from cli.opening import opened
from cli.options import Settings
from eventlog.clock import now_us
from eventlog.errors import InputRefused
from eventlog.events import MemoryKind
from eventlog.happened import iso
from harness.embedders import Embedder
from harness.memory import UserMemory
from harness.memory.checked import KINDS
from projections import Live
from projections.memory.errors import MemoryNotFound, NothingRemembered, others
from projections.memory.lifecycle import DAY, Status, age
from projections.memory.memory import Memory
from projections.memory.stream import memory_name, memory_stream
from projections.memory.table import users

__all__ = ["KINDS", "Asked", "listed", "memory_of", "remembered", "row_of"]

STATUSES: tuple[Status, ...] = get_args(Status)

_NAME = re.compile(r"[mM]?([1-9]\d{0,14})", re.ASCII)


@contextlib.contextmanager
def remembered(
    settings: Settings,
    user: str | None,
    *,
    write: bool = False,
    create: bool = False,
    named: bool = True,
) -> Iterator[UserMemory]:
    """The memories of a person in the log of this command.

    Raises NothingRemembered for one who was named and of whom nothing is, unless the log may be
    made or ``named`` is false; what opening the log raises; InputRefused for a wrong config.
    """
    of = memory_config()
    memory_stream(of.user if user is None else user)  # before a log is made for what is no name
    with opened(settings, write=write, create=create) as live:
        memory = user_memory(live, user, of)
        if user is not None and named and not create and not live.log.exists(memory.key):
            raise NothingRemembered(user, users(live))
        yield memory


def user_memory(
    live: Live,
    user: str | None,
    of: MemoryConfig | None = None,
    embedder: Embedder | None = None,
) -> UserMemory:
    """The memories of a person in a log that is open. Raises EventInvalid for what is no name."""
    of = of or memory_config()
    name = of.user if user is None else user
    return UserMemory(live, name, embedder=embedder, policy=of.policy)


def nothing_note(memory: UserMemory, program: str) -> str:
    """What is said where nothing is remembered of a person yet."""
    return (
        f"nothing is remembered of {memory.user} yet: {program} memory add TEXT{elsewhere(memory)}"
    )


def elsewhere(memory: UserMemory) -> str:
    """Of whom else there are memories, where nothing ever was remembered of this person."""
    return others(memory.user, users_instead(memory))


def users_instead(memory: UserMemory) -> list[str]:
    """All persons of whom something is remembered, where of this one nothing ever was."""
    return [] if memory.live.log.exists(memory.key) else users(memory.live)


def id_of(memory: UserMemory, text: str) -> int:
    """The memory that ``m12`` or ``12`` names; whether there is one is seen when it is read.

    Raises MemoryNotFound for what is no name of one.
    """
    found = _NAME.fullmatch(text.strip())
    if found is None:
        raise MemoryNotFound(memory.user, f"{text[:60]!r} (they are named m12, or 12)")
    return int(found[1])


def memory_of(memory: UserMemory, text: str) -> Memory:
    """The memory that a text names. Raises MemoryNotFound."""
    return memory.get(id_of(memory, text))


def kinds_of(typed: Iterable[str]) -> list[MemoryKind]:
    """Kinds as they were typed. Raises InputRefused."""
    found = []
    for text in (word.strip() for each in typed for word in each.split(",")):
        kind = next((each for each in KINDS if each == text.replace("-", "_")), None)
        if kind is None:
            raise InputRefused(f"--kind {text[:60]!r}: there are {', '.join(KINDS)}")
        found.append(kind)
    return found


def statuses_of(typed: Iterable[str]) -> list[Status]:
    """Statuses as they were typed. Raises InputRefused."""
    found = []
    for text in (word.strip() for each in typed for word in each.split(",")):
        status = next((each for each in STATUSES if each == text), None)
        if status is None:
            raise InputRefused(f"--status {text[:60]!r}: there are {', '.join(STATUSES)}")
        found.append(status)
    return found


def moment_of(text: str, *, end: bool = False) -> int:
    """A moment that was typed, or now. Raises InputRefused."""
    return typed_moment(text, datetime.now(UTC), end=end) if text else now_us()


def row_of(memory: UserMemory, found: Memory, now: int) -> MemoryRow:
    """A memory as it is shown in a list."""
    return MemoryRow(
        name=found.name,
        rendition=found.rendition,
        kind=found.kind,
        text=found.text,
        standing=found.standing,
        why=found.forgotten,
        status=memory.status(found, now),
        importance=found.weight,
        is_explicit=found.is_explicit,
        subject=found.subject,
        values=found.values,
        recalled=found.accesses,
        remembered_at=iso(found.remembered_at),
        refreshed_at=iso(found.refreshed_at),
        age_days=round(age(found, now) / DAY, 4),
        superseded_by=memory_name(found.superseded_by) if found.superseded_by else None,
        supersedes=[memory_name(id) for id in found.supersedes],
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """Which memories are to be listed, as it was typed."""

    every: bool = False
    kinds: Sequence[str] = ()
    statuses: Sequence[str] = ()
    session: str = ""
    since: str = ""
    until: str = ""
    at: str = ""

    @property
    def has_filters(self) -> bool:
        """Whether any are left out."""
        return any((self.kinds, self.statuses, self.session, self.since, self.until, self.at))


def listed(memory: UserMemory, asked: Asked, limit: int | None) -> MemoryListData:
    """The newest ones first; as of a moment only what was remembered by then.

    Raises InputRefused, StreamNotFound, Ambiguous.
    """
    now = moment_of(asked.at)
    statuses = statuses_of(asked.statuses)
    found = (
        each
        for each in _newest(memory, asked, now)
        if not statuses or memory.status(each, now) in statuses
    )
    rows = [row_of(memory, each, now) for each in islice(found, limit)]
    cut = limit is not None and next(found, None) is not None
    return MemoryListData(user=memory.user, at=iso(now), memories=rows, cut=cut)


def _newest(memory: UserMemory, asked: Asked, now: int) -> Iterator[Memory]:
    where, values = "true", list[object]()
    if not asked.every:
        where += " and stands"
    if asked.kinds:
        kinds = kinds_of(asked.kinds)
        where += f" and kind in ({', '.join('?' * len(kinds))})"
        values += kinds
    if asked.since:
        where += " and remembered_at >= ?"
        values.append(moment_of(asked.since))
    if asked.until:
        where += " and remembered_at < ?"
        values.append(moment_of(asked.until, end=True))
    if asked.at:
        where += " and remembered_at <= ?"
        values.append(now)
    if asked.session:
        where += " and row in (select row from memories_sources where session = ?)"
        values.append(str(session_key(memory.live, whole_session(asked.session, "asked for"))))
    return memory.memories.where(f"{where} order by remembered_at desc, id desc", values)
