"""An event with its place: what the log gives back, and the names of streams.

A recorded event decodes itself only when asked: a fold that needs positions and types, an export
that needs bytes, and a verification that needs digests validate nothing.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from eventlog import codec
from eventlog.codec import AnyEvent
from eventlog.errors import EventInvalid
from eventlog.events import Event

MAX_NAME = 512
"""Bytes of a user, an agent or a session name."""


class StreamKey(NamedTuple):
    """The name of a stream: ``user / agent / session``. Only the session may hold a slash."""

    user: str
    agent: str
    session: str

    def __str__(self) -> str:
        return f"{self.user}/{self.agent}/{self.session}"

    @classmethod
    def parse(cls, text: str) -> StreamKey:
        """From ``user/agent/session``; raises EventInvalid when a part is missing or not a name."""
        pieces = text.split("/", 2)
        if len(pieces) != 3:
            raise EventInvalid(f"{text!r} is not a stream key such as user/agent/session")
        return cls(*pieces).checked()

    def checked(self) -> StreamKey:
        """Itself, when each part is a name: not empty, not too long, no control characters."""
        for name, part in zip(("user", "agent", "session"), self, strict=True):
            try:
                size = len(part.encode())
            except UnicodeEncodeError:
                raise EventInvalid(f"the {name} name holds a lone surrogate") from None
            if not part or size > MAX_NAME or not part.isprintable() or part != part.strip():
                raise EventInvalid(
                    f"{part[:80]!r} is not a {name} name: 1 to {MAX_NAME} printable bytes"
                )
            if name != "session" and "/" in part:
                raise EventInvalid(f"a {name} name holds no '/': {part[:80]!r}")
        return self


@dataclass(frozen=True, slots=True)
class Draft:
    """An event to append, with its idempotency key and the source's own time."""

    event: Event
    id: uuid.UUID | None = None
    occurred_at: str | None = None
    """The source's clock as it wrote it: a label, never used for order."""
    salt: bytes | None = None
    """16 random bytes, given only where a digest had to be made before the append."""


class Appended(NamedTuple):
    """Where the events of one append stand."""

    first: int
    last: int
    repeated: bool
    """True when all of them were there already and nothing was added."""


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """One stream of the log."""

    key: StreamKey
    id: bytes
    row: int
    """Its number inside this file."""
    parent: StreamKey | None
    base: int
    """The position of the parent up to which its events are this stream's too; 0 for a root."""
    created_at: int
    """Microseconds since 1970, UTC."""


class RecordedEvent:
    """An event and its place in the log. Immutable; decoded when first asked for."""

    __slots__ = (
        "_blob",
        "_data",
        "_event",
        "chain",
        "critical",
        "erased",
        "event_id",
        "occurred_at",
        "payload",
        "position",
        "recorded_at",
        "schema_version",
        "sequence",
        "stream",
        "type",
    )

    def __init__(
        self,
        *,
        stream: StreamKey,
        sequence: int,
        position: int,
        event_id: bytes,
        type: str,
        schema_version: int,
        critical: bool,
        occurred_at: str | None,
        recorded_at: int,
        chain: bytes,
        erased: bool,
        payload: str,
        event: AnyEvent | None = None,
        blob: Callable[[str], bytes | None] | None = None,
    ) -> None:
        self.stream = stream
        self.sequence = sequence
        self.position = position
        self.event_id = event_id
        self.type = type
        self.schema_version = schema_version
        self.critical = critical
        self.occurred_at = occurred_at
        self.recorded_at = recorded_at
        self.chain = chain
        self.erased = erased
        self.payload = payload
        self._event = event
        self._data: dict[str, Any] | None = None
        self._blob = blob

    @classmethod
    def of_row(
        cls,
        stream: StreamKey,
        row: tuple[Any, ...],
        payload: str,
        blob: Callable[[str], bytes | None],
    ) -> RecordedEvent:
        """From a row of ``reading.COLUMNS``; ``payload`` is a skeleton's where the row has none."""
        self = cls.__new__(cls)
        self.stream = stream
        (
            self.sequence,
            self.position,
            self.event_id,
            self.type,
            self.schema_version,
            critical,
            self.occurred_at,
            self.recorded_at,
            self.chain,
            erased,
            _,
        ) = row[:11]
        self.critical = bool(critical)
        self.erased = erased is not None
        self.payload = payload
        self._event = self._data = None
        self._blob = blob
        return self

    def without_text(self, payload: str) -> RecordedEvent:
        """The same event with a payload that is a part of its own: to be held in great numbers."""
        row = (
            *(self.sequence, self.position, self.event_id, self.type, self.schema_version),
            *(self.critical, self.occurred_at, self.recorded_at, self.chain),
            *(b"" if self.erased else None, None),
        )
        return self.of_row(self.stream, row, payload, self._blob or (lambda address: None))

    @property
    def id(self) -> uuid.UUID:
        """The event id, which is the idempotency key."""
        return uuid.UUID(bytes=self.event_id)

    @property
    def event(self) -> AnyEvent:
        """The event; of an erased one its skeleton. Raises EventInvalid for a damaged payload."""
        if self._event is None:
            self._event = codec.decode(
                self.type, self.schema_version, self.critical, self.payload, self._blob
            )
        return self._event

    @property
    def data(self) -> dict[str, Any]:
        """The payload as a dict in today's shape, not validated, shared: for reading only."""
        if self._data is None:
            self._data = codec.plain(self.type, self.schema_version, self.payload, self._blob)
        return self._data

    def __repr__(self) -> str:
        return f"RecordedEvent({self.stream} {self.position} {self.type})"


def new_ids(count: int, now: int) -> list[bytes]:
    """UUIDv7s of a moment (µs): time-ordered, so that the unique index grows at its end.

    Those of one call count up from a random number, whose top bit stays free for that.
    """
    millis = now // 1000 & 0xFFFFFFFFFFFF
    number = int.from_bytes(os.urandom(10)) & ~(0xF << 76 | 0x7 << 61)
    first = millis << 80 | 7 << 76 | 2 << 62 | number
    return [(first + index).to_bytes(16) for index in range(count)]
