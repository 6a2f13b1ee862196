"""The lines of an export: their shape, and what is said when one of them does not fit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from eventlog import codec
from eventlog.errors import InputRefused, IntegrityFault

FORMAT = 1
"""The number in the header; a reader refuses a higher one."""

MAX_LINE = 6 * codec.MAX_PAYLOAD + 4096
"""Characters: the largest payload, each byte of it escaped."""

_Size = Annotated[int, Field(ge=0, lt=2**31)]
_Time = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class DamagedExport(IntegrityFault):
    """A line of an export is not what was exported; nothing was written."""

    def __init__(self, line: int, detail: str) -> None:
        self.line, self.detail = line, detail
        super().__init__(f"line {line} of the export: {detail}; nothing was imported")


class StreamDiffers(InputRefused):
    """A stream of that name exists and holds other events; nothing was written."""

    def __init__(self, stream: str, position: int | None = None) -> None:
        self.stream, self.position = stream, position
        where = f" from position {position} on" if position is not None else ""
        super().__init__(f"the log has another session {stream!r}{where}; nothing was imported")


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class HeaderLine(_Line):
    """The first line."""

    kind: Literal["header"]
    ctxlog_export: int


class StreamLine(_Line):
    """A stream, before any of its events."""

    kind: Literal["stream"]
    stream: _Size
    id: _Id
    key: tuple[str, str, str]
    parent: _Size | None
    base: _Size
    created_at: _Time
    import_key: _Hash | None = None


class BlobLine(_Line):
    """A binary part, before the first event that uses it."""

    kind: Literal["blob"]
    address: _Hash
    key: _Hash
    """Of the log that named it: its address is keyed."""
    data: str


class EventLine(_Line):
    """An event as it is stored."""

    kind: Literal["event"]
    stream: _Size
    position: _Size
    id: _Id
    type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,99}$")]
    schema_version: _Size
    critical: bool
    occurred_at: Annotated[str, Field(pattern=r"^[ -~]{0,64}$")] | None
    recorded_at: _Time
    chain: _Hash
    salt: _Id | None = None
    payload: str | None = None
    erased: _Hash | None = None


class EndLine(_Line):
    """The last line, with what the file holds."""

    kind: Literal["end"]
    streams: int
    events: int
    head: _Hash


AnyLine = HeaderLine | StreamLine | BlobLine | EventLine | EndLine
LINES: TypeAdapter[AnyLine] = TypeAdapter(Annotated[AnyLine, Field(discriminator="kind")])
