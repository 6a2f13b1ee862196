"""The frozen parts that events are made of: item names, origins, usage, who decided."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from eventlog.jsonvalue import Json
from eventlog.messages import Dialect

_ITEM = re.compile(r"[1-9]\d*(\.\d+)?")
_ENTRY = re.compile(r"[1-9]\d*(\.\d+)?(@([1-9]\d*|redacted))?|[1-9]\d*-([1-9]\d*)?")
_LAID_OUT = re.compile(rf"m(?:0|[1-9]\d*)|{_ENTRY.pattern}")
_SENT = re.compile(rf"=\d+|[1-9]\d*(\.\d+)?/\d+(@([1-9]\d*|redacted))?|{_ENTRY.pattern}")


def _item(value: str) -> str:
    if not _ITEM.fullmatch(value):
        raise ValueError(f"{value!r} is not an item id such as 12 or 57.0")
    return value


def _entry(value: str) -> str:
    if not _ENTRY.fullmatch(value):
        raise ValueError(f"{value!r} is not an entry such as 12, 57.0, 12@340 or 58-120")
    return value


def _laid_out(value: str) -> str:
    if not _LAID_OUT.fullmatch(value):
        raise ValueError(
            f"{value!r} is neither an entry such as 12 or 58-120 nor a message such as m0"
        )
    return value


def _sent(value: str) -> str:
    if not _SENT.fullmatch(value):
        raise ValueError(f"{value!r} is not an entry of a manifest such as =3, 12, 12/1 or 58-120")
    return value


def _manifest(value: tuple[ManifestEntry, ...]) -> tuple[ManifestEntry, ...]:
    behind = [name for each in value[1:] for name in ([each] if isinstance(each, str) else each)]
    if value and not isinstance(value[0], str):
        behind += value[0]
    wrong = next((name for name in behind if name.startswith("=")), "")
    if wrong:
        raise ValueError(f"{wrong!r} is the beginning of an earlier manifest: it stands first")
    return value


def _object(value: Json) -> Json:
    if not value.is_object:
        raise ValueError("a message, a result block or a parameter set is a JSON object")
    return value


JsonObject = Annotated[Json, AfterValidator(_object)]
ItemId = Annotated[str, AfterValidator(_item)]
Behind = ItemId | Literal["0"]
"""An item, or ``0``: what stands there stands in front of everything."""
Entry = Annotated[str, AfterValidator(_entry)]
LaidOut = Annotated[str, AfterValidator(_laid_out)]
SentEntry = Annotated[str, AfterValidator(_sent)]
ManifestEntry = SentEntry | tuple[SentEntry, ...]
Manifest = Annotated[tuple[ManifestEntry, ...], AfterValidator(_manifest)]
Stored = Annotated[tuple[SentEntry, ...], AfterValidator(_manifest)]
Position = Annotated[int, Field(ge=1)]

Source = Literal["human", "model", "retrieval", "memory", "injected"]


class Value(BaseModel):
    """A frozen part of an event."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class OriginRecord(Value):
    """One record of a foreign file that an event was made of."""

    line: int
    """1-based line, or the 1-based number of the message in an array."""
    part: int = 0
    """0-based number of the object on its line, for lines that hold several."""
    type: str = ""
    id: str = ""
    """The foreign id, which may repeat."""
    message: str = ""
    """The id of the answer that the record belongs to, where the format has one."""
    pairs: tuple[str, ...] = ()
    """What the record adds to the format's own count: ``call:<id>``, ``result:<id>`` …"""


class Origin(Value):
    """Where an imported event came from, and what of it was not mapped. What was recorded as it
    happened came from no record."""

    records: tuple[OriginRecord, ...]
    rest: Json | None = None


class EventBase(Value):
    """What every event has."""

    schema_version: ClassVar[int] = 1
    critical: ClassVar[bool] = False
    """Whether a fold by a program that does not know the type would be wrong."""

    origin: Origin | None = None


class Usage(Value):
    """Tokens of one answer, disjoint; ``reasoning`` is part of ``output``. None is what was not
    told: nobody knows whether it was 0."""

    input: int | None = None
    """Uncached input; where ``cached`` or ``cache_write`` was not told, what was is in here."""
    cached: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    provider: Json | None = None
    """The provider's own object, as it came."""

    @property
    def prompt(self) -> int | None:
        """Everything that went in, as far as it was told."""
        return known_sum((self.input, self.cached, self.cache_write))


def known_sum(counts: Iterable[int | None]) -> int | None:
    """The sum of what is known; None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class DecidedBy(Value):
    """Who took a decision: a strategy with its parameters, an agent, or a person."""

    name: str
    parameters: JsonObject | None = None


class Summarizer(Value):
    """The model that wrote a summary, and what it was shown (references, no text)."""

    model: str = ""
    prompt_digest: str = ""
    shown: tuple[Entry, ...] = ()
    usage: Usage | None = None


class NewMessage(Value):
    """A message that a compaction or a repair puts into the context."""

    dialect: Dialect
    message: JsonObject
    source: Source = "injected"
    label: str = ""


class RepairInsert(Value):
    """A message that a repair put behind an item."""

    after: ItemId | None = None
    message: NewMessage


class Rename(Value):
    """A call id that had to be made unique in one item."""

    item: ItemId
    rendition: Entry | Literal[""] = ""
    """The rendition that was renamed; the original when empty."""
    old: str
    new: str


class Skeleton(Value):
    """What is left of an erased event: what a fold, a manifest and a count need; no text."""

    position: Position
    stream: str = ""
    """Full key of the stream that owns the row, when it is not the stream of the redaction."""
    event_id: str
    payload: Json
    entry_hashes: Json | None = None
    """For each call whose manifest names it: the entry hash, so that other calls still verify."""
