"""Everything that can go wrong, one base, leaves that state the fault.

    CtxlogError
    ├── AppendRefused            nothing was written
    │   ├── WrongExpectedVersion another writer was faster, or the caller's number is stale
    │   ├── EventIdConflict      other bytes stand under that event id
    │   ├── PartialRepeat        some of the given ids are known and some are new
    │   ├── EventInvalid         the event, its JSON or its key is not acceptable
    │   └── EventTooLarge        a payload over the limit
    ├── OutcomeUnknown           the commit failed: written or not, a retry by id is safe
    ├── DatabaseFault            the database cannot be used now, or not at all
    │   ├── Busy                 another process held the lock until the deadline
    │   ├── LogFull              no space left on the device
    │   ├── ReadOnlyLog          opened for reading only, or not writable
    │   ├── LogClosed            this object was closed
    │   ├── NotALog              a file that is not a ctxlog database
    │   ├── NewerFormat          written by a later version of this program
    │   ├── LogNotFound          no file at that path
    │   ├── UnsafePath           a link, a network file system, a file that was moved away
    │   ├── DiskFault            the disk, a quota or a limit on file sizes stopped it
    │   └── DamagedLog           SQLite reports that the file is malformed
    ├── NotFound                 what was asked for is not in the log
    │   ├── StreamNotFound
    │   ├── PositionNotFound
    │   ├── ItemNotFound
    │   └── Ambiguous            several sessions match; they are listed
    ├── IntegrityFault           the chain, a trigger or a digest does not hold
    ├── CriticalUnknown          an unknown type that a fold must not skip
    ├── NoContext                the stream has no message yet
    └── InputRefused             a reference, an option or a file that cannot be taken as it is
        ├── SourceForgotten      the source of a session was forgotten on purpose
        └── ForksAlive           forks of a session hold what is to be erased

Messages are built here from data that stays readable as attributes, so a caller never parses text.
"""

from __future__ import annotations

from collections.abc import Sequence


class CtxlogError(Exception):
    """Base of every error that this project raises on purpose."""


class AppendRefused(CtxlogError):
    """Nothing was written."""


class WrongExpectedVersion(AppendRefused):
    """The stream is not at the version that the caller expected."""

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        self.stream, self.expected, self.actual = stream, expected, actual
        super().__init__(f"stream {stream!r} is at version {actual}, not at {expected}")


class EventIdConflict(AppendRefused):
    """An event with this id exists and its bytes differ."""

    def __init__(self, event_id: str, stream: str, position: int) -> None:
        self.event_id, self.stream, self.position = event_id, stream, position
        super().__init__(
            f"event id {event_id} already stands at {stream!r} position {position} with other bytes"
        )


class PartialRepeat(AppendRefused):
    """Some of the event ids are known and some are new: a retry must be whole."""

    def __init__(self, known: int, new: int) -> None:
        self.known, self.new = known, new
        super().__init__(
            f"{known} of {known + new} event ids are known already; repeat all or none"
        )


class EventInvalid(AppendRefused):
    """The event cannot be stored as it is."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class EventTooLarge(AppendRefused):
    """A payload is over the size limit."""

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(f"an event of {size:,} bytes is over the limit of {limit:,}")


class OutcomeUnknown(CtxlogError):
    """The commit failed in a way that leaves open whether it happened."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(f"the commit failed ({cause}): retry with the same event ids, it is safe")


class DatabaseFault(CtxlogError):
    """The database cannot be used now, or not at all."""


class Busy(DatabaseFault):
    """Another process held the lock until the deadline."""

    def __init__(self, path: str, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        self.fault = f"{path} was locked by another process for {seconds:g} s"
        """Without what is to be done: who tries again by itself says only this."""
        super().__init__(f"{self.fault}; try again")


class LogFull(DatabaseFault):
    """No space is left."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"no space left for {path}; nothing was written")


class ReadOnlyLog(DatabaseFault):
    """The log was opened for reading, or its file cannot be written."""

    def __init__(self, path: str, reason: str = "it was opened read-only") -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be written: {reason}")


class LogClosed(DatabaseFault):
    """The log was closed; nothing can be read or written through this object."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} was closed; open it again")


class NotALog(DatabaseFault):
    """The file exists and is something else; it was not touched."""

    def __init__(self, path: str, what: str) -> None:
        self.path, self.what = path, what
        super().__init__(f"{path} is not a ctxlog database ({what}); nothing was changed")


class NewerFormat(DatabaseFault):
    """The file was written by a later version; it can only be read."""

    def __init__(self, path: str, found: int, known: int) -> None:
        self.path, self.found, self.known = path, found, known
        super().__init__(
            f"{path} has format {found}, this program knows {known}: "
            "it opens read-only; upgrade ctxlog"
        )


class LogNotFound(DatabaseFault):
    """There is no file at the path."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"no log at {path}")


class UnsafePath(DatabaseFault):
    """A path at which a SQLite file is not safe."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} is not used: {reason}")


class DiskFault(DatabaseFault):
    """Reading or writing failed below SQLite; nothing is known to be damaged."""

    def __init__(self, path: str, detail: str) -> None:
        self.path, self.detail = path, detail
        super().__init__(
            f"{path} could not be read or written ({detail}); "
            "look at space, quotas, file-size limits and the disk, then try again"
        )


class DamagedLog(DatabaseFault):
    """SQLite reports a malformed file, or a row cannot be read."""

    def __init__(self, path: str, detail: str) -> None:
        self.path, self.detail = path, detail
        super().__init__(f"{path} is damaged: {detail}; run `ctxlog verify`")


class NotFound(CtxlogError):
    """What was asked for is not in the log."""


class StreamNotFound(NotFound):
    """No stream, or no session, of that name."""

    def __init__(self, stream: str, near: Sequence[str] = (), hint: str = "") -> None:
        self.stream, self.near = stream, tuple(near)
        said = f"; near it: {', '.join(self.near)}" if near else ""
        said += f"; {hint}" if hint else ""
        super().__init__(f"no session {stream!r}{said}; `ctxlog sessions` lists them")


class PositionNotFound(NotFound):
    """The stream has no such position, call or compaction."""

    def __init__(self, stream: str, what: str, hint: str = "") -> None:
        self.stream, self.what = stream, what
        super().__init__(f"{stream!r} has no {what}{'; ' + hint if hint else ''}")


class ItemNotFound(NotFound):
    """The stream has no such item."""

    def __init__(self, stream: str, item: str) -> None:
        self.stream, self.item = stream, item
        super().__init__(f"{stream!r} has no item {item}")


class Ambiguous(NotFound):
    """Several sessions answer to that name."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        self.name, self.candidates = name, tuple(candidates)
        shown = ", ".join(self.candidates[:8]) + (" …" if len(self.candidates) > 8 else "")
        super().__init__(f"{name!r} names {len(self.candidates)} sessions: {shown}")


class IntegrityFault(CtxlogError):
    """Stored bytes do not agree with the chain, the schema or a recorded digest."""


class CriticalUnknown(CtxlogError):
    """An event whose type this program does not know says that a fold must not skip it."""

    def __init__(self, stream: str, position: int, type_name: str) -> None:
        self.stream, self.position, self.type_name = stream, position, type_name
        super().__init__(
            f"{stream!r} position {position} is a critical event of unknown type {type_name!r}: "
            "no context can be rebuilt here; upgrade ctxlog"
        )


class NoContext(CtxlogError):
    """There is no message from which a request could be made."""

    def __init__(self, stream: str = "", position: int | None = None) -> None:
        self.stream, self.position = stream, position
        where = f"{stream!r}" if stream else "the stream"
        at = f" at position {position}" if position is not None else ""
        super().__init__(f"{where} has no message{at}, so there is no context")


class InputRefused(CtxlogError):
    """A reference, an option or a file that cannot be taken as it is."""


class ForksAlive(InputRefused):
    """Forks of this session go on with its events, so it is not erased as a whole."""

    def __init__(self, stream: str, forks: Sequence[str]) -> None:
        self.stream, self.forks = stream, tuple(forks)
        shown = ", ".join(self.forks[:8]) + (" …" if len(self.forks) > 8 else "")
        super().__init__(f"{stream!r} is not purged, since forks of it live: {shown}")


class SourceForgotten(InputRefused):
    """The source of this session was forgotten on purpose; importing it again is refused."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        super().__init__(f"the source of {stream!r} was forgotten on purpose; it is not imported")
