"""What can be wrong with what is asked of memories."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from eventlog.errors import DamagedLog, NotFound


class DamagedTable(DamagedLog):
    """A row of the memories that are kept as a table cannot be read. The events can: the table is
    made anew from them."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        Exception.__init__(
            self, f"the table of memories is damaged: {detail}; run `ctxlog rebuild`"
        )


_MOST = 20
"""Persons who are named."""


class MemoryNotFound(NotFound):
    """A person has no memory of that name; ``users`` are all persons who have some."""

    def __init__(self, user: str, memory: str, users: Sequence[str] = ()) -> None:
        self.user, self.memory, self.users = user, memory, tuple(users)
        super().__init__(f"there is no memory {memory} of {user}{others(user, users)}")


class NothingRemembered(NotFound):
    """Nothing is remembered of a person."""

    def __init__(self, user: str, users: Sequence[str] = ()) -> None:
        self.user, self.users = user, tuple(users)
        super().__init__(f"nothing is remembered of {user!r}{others(user, users)}")


def others(user: str, users: Sequence[str]) -> str:
    """Of whom else there are memories, and how to say so; empty: of nobody."""
    there = [each for each in users if each != user]
    if not there:
        return ""
    more = f" and {len(there) - _MOST:,} more" if len(there) > _MOST else ""
    named = f"{', '.join(there[:_MOST])}{more}"
    return f"; there are memories of {named}: --user {shlex.quote(there[0])}"


class NotKnown(NotFound):
    """Nothing is known of a person by that name; ``users``: all persons, where of this one nothing
    is remembered at all."""

    def __init__(self, user: str, name: str, users: Sequence[str] = ()) -> None:
        self.user, self.name = user, name
        where = others(user, users) or "; `ctxlog memory profile` has all"
        super().__init__(f"nothing is known of {user!r} by {name}{where}")


class EntityNotFound(NotFound):
    """No memory that stands speaks of it; ``users`` as of ``NotKnown``."""

    def __init__(self, user: str, name: str, users: Sequence[str] = ()) -> None:
        self.user, self.name = user, name
        where = others(user, users) or "; `ctxlog memory graph` has all"
        super().__init__(f"no memory of {user!r} speaks of {name[:80]!r}{where}")
