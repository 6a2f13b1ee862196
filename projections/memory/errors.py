"""What can be wrong with what is asked of memories."""

from __future__ import annotations

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


class MemoryNotFound(NotFound):
    """There is no memory of that name."""

    def __init__(self, stream: str, memory: str) -> None:
        self.stream, self.memory = stream, memory
        super().__init__(f"there is no memory {memory} in {stream}")


class NothingRemembered(NotFound):
    """Nothing is remembered of a person."""

    def __init__(self, user: str, users: Sequence[str] = ()) -> None:
        self.user, self.users = user, tuple(users)
        known = f"; there are memories of {', '.join(self.users[:20])}" if self.users else ""
        super().__init__(f"nothing is remembered of {user!r}{known}")


class NotKnown(NotFound):
    """Nothing is known of a person by that name."""

    def __init__(self, user: str, name: str) -> None:
        self.user, self.name = user, name
        super().__init__(f"nothing is known of {user!r} by {name}; `ctxlog memory profile` has all")


class EntityNotFound(NotFound):
    """No memory that stands speaks of it."""

    def __init__(self, user: str, name: str) -> None:
        self.user, self.name = user, name
        super().__init__(
            f"no memory of {user!r} speaks of {name[:80]!r}; `ctxlog memory graph` has all"
        )
