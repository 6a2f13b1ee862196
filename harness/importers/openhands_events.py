"""OpenHands' records made into units of events, of both formats. Pure: rows in, units out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventlog import Json
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    Event,
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelResponded,
    NewMessage,
    Origin,
    OriginRecord,
    PlaceholderSubstituted,
    RecordUnrecognized,
    Source,
    Summarizer,
    ToolResultRecorded,
    Usage,
)
from harness.importers.identity import Stamp
from harness.importers.openhands_messages import DIALECT, Message, text_of
from harness.importers.openhands_view import Condensed
from harness.importers.records import Record
from harness.importers.standing import runs
from harness.importers.stream_writer import LEFTOVER
from harness.importers.units import Planned, Slot, Unit, label_time, unit_of

AGENT = "openhands"


class Row:
    """A record of the transcript, with its identity in the stream."""

    __slots__ = ("file", "id", "kind", "record", "stamp", "time", "value")

    def __init__(self, file: str, record: Record, stamp: Stamp, kind: str = "") -> None:
        self.file = file
        """The name of the file that holds it."""
        self.record = record
        self.stamp = stamp
        self.value: Mapping[str, Any] = record.value if isinstance(record.value, dict) else {}
        self.kind = kind or text_of(self.value.get("kind"))
        given = self.value.get("id")
        self.id = str(given) if isinstance(given, str | int) and given != "" else ""
        """The event's own id; empty where it has none."""
        self.time = label_time(self.value.get("timestamp"))

    @property
    def key(self) -> str:
        """Its id, or for an event without one its place."""
        return self.id or f"@{self.record.line}.{self.record.part}"

    def origin(self, *pairs: str, answer: str = "") -> OriginRecord:
        """Where it stands, and what it adds to the format's own count."""
        record = self.record
        return OriginRecord(
            line=record.line,
            part=record.part,
            type=self.kind,
            id=self.id,
            message=answer,
            pairs=pairs,
        )


@dataclass(frozen=True, slots=True)
class Said:
    """What records become as a message."""

    message: Message
    records: tuple[OriginRecord, ...]
    rest: object = None
    """What of them is not in the message."""
    source: Source = "model"
    label: str = ""


@dataclass(slots=True)
class Answer:
    """One answer of the model, and where its events stand."""

    response_id: str
    """Empty where the file does not name it."""
    said: Callable[[Sequence[Row]], Said]
    """The message of some of its records: the file may end between two of them."""
    model: str = ""
    usage: Usage | None = None
    finish_reason: str = ""
    tools: Slot | None = None
    shown_as: Message | None = None
    """What the agent makes of it in later requests, where that is another message."""
    call: Slot = field(default_factory=Slot)
    message: Slot = field(default_factory=Slot)

    def unit(self, rows: Sequence[Row]) -> Unit:
        """The call, the message of all records, the end."""
        first, last = rows[0], rows[-1]

        def called() -> Event:
            tools = self.tools.position if self.tools is not None else None
            origin = origin_of([first.origin()])
            return ModelCalled(model=self.model, dialect=DIALECT, tools=tools, origin=origin)

        def revised() -> Event:
            return MessageRevised(
                item=str(self.message.position),
                reason="shown without its call",
                message=Json(self.shown_as),
                origin=origin_of([first.origin()]),
            )

        def ended() -> Event:
            return ModelResponded(
                call=self.call.position,
                response_id=self.response_id,
                finish_reason=self.finish_reason,
                usage=self.usage,
                origin=origin_of([last.origin()]),
            )

        def split(size: int) -> tuple[Unit, Unit]:
            self.message.late = Slot()
            return self.unit(rows[:size]), self.late(rows[size:], self.message.late)

        events = [
            Planned(self.call, called, first.time),
            Planned(self.message, self._appended(rows), first.time),
            *([Planned(Slot(), revised, first.time)] if self.shown_as is not None else []),
            Planned(Slot(), ended, last.time),
        ]
        return unit_of(rows, events, split)

    def late(self, rows: Sequence[Row], slot: Slot) -> Unit:
        """Records of the answer that came when the conversation had gone on."""

        def split(size: int) -> tuple[Unit, Unit]:
            slot.late = Slot()
            return self.late(rows[:size], slot), self.late(rows[size:], slot.late)

        return unit_of(rows, [Planned(slot, self._appended(rows), rows[0].time)], split)

    def _appended(self, rows: Sequence[Row]) -> Callable[[], Event]:
        def build() -> Event:
            made = self.said(rows)
            return MessageAppended(
                dialect=DIALECT,
                source="model",
                label=made.label,
                call=self.call.position,
                message=Json(made.message),
                origin=origin_of(made.records, made.rest),
            )

        return build


def origin_of(records: Sequence[OriginRecord], rest: object = None) -> Origin:
    """An origin, with what was not mapped."""
    return Origin(records=tuple(records), rest=Json(rest) if rest else None)


def spoken(row: Row, slot: Slot, said: Said) -> Planned:
    """A message that is no answer of the model."""

    def build() -> Event:
        return MessageAppended(
            dialect=DIALECT,
            source=said.source,
            label=said.label,
            message=Json(said.message),
            origin=origin_of(said.records, said.rest),
        )

    return Planned(slot, build, row.time)


def result(row: Row, slot: Slot, said: Said, is_error: bool, clipped: str | None) -> list[Planned]:
    """A result of a tool; beside it what the model was shown instead, where it is too long."""
    call_id = text_of(said.message.get("tool_call_id"))

    def build() -> Event:
        return ToolResultRecorded(
            tool_call_id=call_id,
            name=text_of(said.message.get("name")),
            dialect=DIALECT,
            is_error=is_error,
            native=Json(said.message),
            origin=origin_of(said.records, said.rest),
        )

    def cut() -> Event:
        return PlaceholderSubstituted(
            item=str(slot.position),
            kind="cut",
            reason="over the agent's limit",
            by=DecidedBy(name=AGENT),
            implied=True,
            content=clipped or "",
            origin=origin_of([row.origin()]),
        )

    planned = [Planned(slot, build, row.time)]
    return planned if clipped is None else [*planned, Planned(Slot(), cut, row.time)]


@dataclass(frozen=True, slots=True)
class Condensation:
    """What a condensation is said to be."""

    condensed: Condensed
    summary: Message | None
    by: Mapping[str, Any]
    """The parameters of the condenser; empty where the file does not name them."""
    trigger: str = ""
    model: str = ""
    usage: Usage | None = None
    rest: object = None


def notes_of(condensed: Condensed) -> list[str]:
    """What of a condensation could not be followed."""
    notes: list[str] = []
    if condensed.unknown:
        events = "1 event" if condensed.unknown == 1 else f"{condensed.unknown:,} events"
        notes.append(f"forgets {events} that the transcript does not hold")
    if condensed.inside:
        notes.append("its summary stood inside an answer, and is put before it")
    return notes


def compaction(row: Row, slot: Slot, given: Condensation, parted: Sequence[Planned] = ()) -> Unit:
    """A condensation: what left, and where its summary stands; then the answers that lost a part.

    What its summarizer was shown are the events that it names, also where more of them left.
    """

    def build() -> Event:
        found = given.condensed
        stay = {id(item) for item in found.after}
        messages: tuple[NewMessage, ...] = ()
        layout: tuple[str, ...] | None = None
        if given.summary is not None and found.place is not None:
            message = Json(given.summary)
            messages = (NewMessage(dialect=DIALECT, message=message, label="summary"),)
            before, behind = found.after[: found.place], found.after[found.place :]
            layout = (*runs(before), "m0", *runs(behind))
        elif found.moved:
            layout = runs(found.after)
        parameters = Json(dict(given.by)) if given.by else None
        shown = runs(found.forgotten)
        summarizer = Summarizer(model=given.model, shown=shown, usage=given.usage)
        return ContextCompacted(
            covered=runs([item for item in found.before if id(item) not in stay]),
            layout=layout,
            by=DecidedBy(name=AGENT, parameters=parameters),
            trigger=given.trigger,
            summarizer=summarizer if messages else None,
            messages=messages,
            origin=origin_of([row.origin(f"compaction:{found.events}")], given.rest),
        )

    return unit_of([row], [Planned(slot, build, row.time), *parted])


def revision(row: Row, item: Callable[[], str], message: Message) -> Planned:
    """An answer of which a condensation left only some calls."""

    def build() -> Event:
        return MessageRevised(
            item=item(),
            reason="condensation",
            message=Json(message),
            origin=origin_of([row.origin()]),
        )

    return Planned(Slot(), build, row.time)


def unrecognized(row: Row, kind: str, *pairs: str) -> Unit:
    """A record that has no effect on the context, kept whole."""
    record = row.record

    def build() -> Event:
        rest: dict[str, Any] = {}
        if record.fault:
            rest = {"reason": record.fault, **({LEFTOVER: True} if record.torn else {})}
        counted = () if record.fault else (row.origin(*pairs),)
        return RecordUnrecognized.model_validate(
            {
                "file": row.file,
                "line": record.line,
                "offset": record.offset,
                "kind": "unreadable" if record.fault else kind,
                "raw": record.text,
                "origin": origin_of(counted, rest),
            }
        )

    made = unit_of([row], [Planned(Slot(), build, row.time)])
    made.unreadable = bool(record.fault)
    return made


_MAPPED = frozenset({"kind", "id", "timestamp"})


def unmapped(row: Row, *mapped: str) -> dict[str, Any]:
    """The fields of a record that no event holds."""
    rest = {
        key: value
        for key, value in row.value.items()
        if key not in _MAPPED and key not in mapped and value not in (None, "", [], {})
    }
    if row.time is None and row.value.get("timestamp") is not None:
        rest["timestamp"] = row.value["timestamp"]
    return rest
