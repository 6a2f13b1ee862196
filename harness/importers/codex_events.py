"""Codex records made into units of events. Pure: rows in, units out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eventlog import Json
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    NewMessage,
    Origin,
    OriginRecord,
    RecordUnrecognized,
    SessionRewound,
    SessionTitled,
    Source,
    Summarizer,
    ToolResultRecorded,
    ToolsDeclared,
    Usage,
)
from harness.importers.codex_history import Layout
from harness.importers.codex_records import DIALECT, Row, unmapped, usage_of
from harness.importers.codex_speakers import SUMMARIES, speaker
from harness.importers.standing import Standing, runs
from harness.importers.units import Planned, Slot, Unit, unit_of
from projections.dialects.openai_responses import INSTRUCTIONS

AGENT = DecidedBy(name="codex")
HISTORIES = ("replacement_history", "replacement_history_entries")
"""Where a compaction's record holds the context that it made."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a request was made with, as far as it is recorded."""

    model: str = ""
    parameters: Mapping[str, Any] | None = None
    tools: Slot | None = None


@dataclass(slots=True)
class Answer:
    """The places of one answer of the model."""

    settings: Settings
    call: Slot
    message: Slot


class Maker:
    """Makes the units of one stream."""

    def __init__(self, file: str, subagent: bool) -> None:
        self._file = file
        self.subagent = subagent

    # -- origin ---------------------------------------------------------------------------------

    def _origin(self, rows: Sequence[Row], records: Sequence[OriginRecord], **more: Any) -> Origin:
        found = [unmapped(row) for row in rows]
        own = found[0] if len(found) == 1 else {"records": found} if any(found) else {}
        rest = {**own, **{key: value for key, value in more.items() if value}}
        return Origin(records=tuple(records), rest=Json(rest) if rest else None)

    # -- the header -----------------------------------------------------------------------------

    def header(
        self,
        row: Row,
        slot: Slot,
        instructions: str,
        tools: Slot,
        definitions: list[dict[str, Any]],
    ) -> Unit:
        """The system prompt and the tools of a session's first record, as far as it has them."""
        if not instructions and not definitions:
            return self.unrecognized(row, slot, "known")
        skipped = ("base_instructions",) if instructions else ()
        rest = {k: v for k, v in row.payload.items() if k not in skipped and v is not None}
        origin = self._origin([row], [row.origin()], payload=rest)

        def prompt() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source="injected",
                label=INSTRUCTIONS,
                message=Json({"role": "system", "content": instructions}),
                origin=origin,
            )

        def declared() -> Event:
            return ToolsDeclared(
                dialect=DIALECT,
                definitions=Json(definitions),
                origin=Origin(records=(row.origin(),)) if instructions else origin,
            )

        events = [Planned(slot, prompt, row.time)] if instructions else []
        if definitions:
            events.append(Planned(tools, declared, row.time))
        return unit_of([row], events)

    # -- answers --------------------------------------------------------------------------------

    def answer(self, rows: Sequence[Row], answer: Answer, usage: Usage | None) -> Unit:
        """One answer of a model: the call, a message with the items of all records, the end."""
        items = [row for row in rows if row.kind == "model"]
        counts = [row for row in rows if row.kind == "tokens"]
        first, settings = items[0], answer.settings

        def called() -> Event:
            tools = settings.tools.position if settings.tools is not None else 0
            return ModelCalled(
                model=settings.model,
                dialect=DIALECT,
                tools=tools or None,
                parameters=Json(settings.parameters) if settings.parameters else None,
                origin=Origin(records=(first.origin(),)),
            )

        def ended() -> Event:
            row = counts[-1] if counts else items[-1]
            origin = Origin(records=(row.origin(),))
            if counts:
                origin = self._origin([row], [row.origin()], token_count=_fields(row))
            return ModelResponded(call=answer.call.position, usage=usage, origin=origin)

        def split(size: int) -> tuple[Unit, Unit]:
            head, rest = rows[:size], rows[size:]
            if not any(row.kind == "model" for row in head):
                return self.unrecognized(head[0], Slot(), "known"), self.answer(rest, answer, usage)
            answer.message.late = Slot()
            return self.answer(head, answer, None), self.late(rest, answer, answer.message.late)

        events = [
            Planned(answer.call, called, first.time),
            Planned(answer.message, lambda: self._said(items, answer), first.time),
            Planned(Slot(), ended, rows[-1].time),
        ]
        return unit_of(rows, events, split)

    def late(self, rows: Sequence[Row], answer: Answer, slot: Slot) -> Unit:
        """Records of an answer that came when an earlier import had taken it as complete."""
        items = [row for row in rows if row.kind == "model"]
        if not items:
            return self.unrecognized(rows[0], slot, "known")

        def split(size: int) -> tuple[Unit, Unit]:
            slot.late = Slot()
            return self.late(rows[:size], answer, slot), self.late(rows[size:], answer, slot.late)

        def said() -> Event:
            message = self._said(items, answer)
            if len(items) == len(rows):
                return message
            records = (*message.origin.records, rows[-1].origin()) if message.origin else ()
            origin = self._origin(rows, records, token_count=_fields(rows[-1]))
            return message.model_copy(update={"origin": origin})

        return unit_of(rows, [Planned(slot, said, rows[0].time)], split)

    def _said(self, items: Sequence[Row], answer: Answer) -> Event:
        return MessageAppended(
            dialect=DIALECT,
            source="model",
            call=answer.call.position,
            message=Json({"items": [row.message for row in items]}),
            origin=self._origin(items, [row.counted() for row in items]),
        )

    # -- what people, tools and other agents say ------------------------------------------------

    def message(self, row: Row, slot: Slot, source: Source, label: str) -> Unit:
        """A message that is no answer."""
        message = row.message

        def build() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source=source,
                label=label,
                message=Json(message),
                origin=self._origin([row], [row.counted()], **self._beside(row)),
            )

        return unit_of([row], [Planned(slot, build, row.time)])

    def _beside(self, row: Row) -> dict[str, Any]:
        """What another agent's record says beside the item that was made of it."""
        if row.type != "inter_agent_communication":
            return {}
        known = ("author", "recipient", "content", "encrypted_content")
        return {k: v for k, v in row.payload.items() if k not in known and v is not None}

    def result(self, row: Row, slot: Slot, name: str) -> Unit:
        """What a tool gave back."""
        output = row.payload.get("output")
        failed = isinstance(output, dict) and output.get("success") is False

        def build() -> Event:
            return ToolResultRecorded(
                tool_call_id=row.call_id,
                name=name,
                dialect=DIALECT,
                is_error=failed,
                native=Json(row.message),
                origin=self._origin([row], [row.counted()]),
            )

        return unit_of([row], [Planned(slot, build, row.time)])

    # -- decisions ------------------------------------------------------------------------------

    def compaction(
        self,
        row: Row,
        count: Row | None,
        slot: Slot,
        before: Sequence[Standing],
        layout: Layout,
        pre_tokens: int | None,
        usage: Usage | None = None,
    ) -> Unit:
        """A compaction: what its record says that the context is now.

        ``count`` is the token count of the request that wrote the summary, where it has one.
        """
        rows = [count, row] if count is not None else [row]
        used = usage_of(count) if count is not None else usage
        history = _first_list(row.payload, *HISTORIES)
        written = row.payload.get("message")
        sealed = history is not None and _is_sealed(history, written)

        def build() -> Event:
            staying = {item.number for item in layout.kept}
            size = f":{len(history)}" if history is not None else ""
            said = {k: v for k, v in row.payload.items() if k not in HISTORIES and v}
            if any(_is_text(message, written) for message in layout.messages):
                said.pop("message", None)
            return ContextCompacted(
                covered=runs([item for item in before if item.number not in staying]),
                layout=layout.names(),
                by=AGENT,
                pre_tokens=pre_tokens,
                summarizer=Summarizer(usage=used) if used is not None else None,
                inferred=history is None,
                opaque=sealed,
                messages=tuple(self._new(message) for message in layout.messages),
                origin=self._origin(
                    rows,
                    [
                        *(each.origin() for each in rows[:-1]),
                        row.origin(f"compaction{size}"),
                    ],
                    payload=said,
                    token_count=_fields(count) if count is not None else None,
                ),
            )

        def split(size: int) -> tuple[Unit, Unit]:
            assert count is not None
            return self.unrecognized(count, Slot(), "known"), self.compaction(
                row, None, slot, before, layout, pre_tokens, used
            )

        return unit_of(rows, [Planned(slot, build, row.time)], split)

    def _new(self, message: Mapping[str, Any]) -> NewMessage:
        source, label = speaker(message, self.subagent)
        if message.get("type") not in (None, "message") and message.get("type") not in SUMMARIES:
            label = label or str(message.get("type"))
        return NewMessage(dialect=DIALECT, message=Json(message), source=source, label=label)

    def rewind(self, row: Row, to: Slot) -> Unit:
        """The context goes back by some turns of the user."""

        def build() -> Event:
            return SessionRewound(
                to=to.position,
                reason="thread_rolled_back",
                origin=self._origin([row], [row.origin()], payload=dict(row.payload)),
            )

        return unit_of([row], [Planned(Slot(), build, row.time)])

    # -- the rest -------------------------------------------------------------------------------

    def title(self, row: Row, title: str) -> Unit:
        """The session is given a name."""

        def build() -> Event:
            origin = self._origin([row], [row.origin()])
            return SessionTitled(title=title, by="codex", origin=origin)

        return unit_of([row], [Planned(Slot(), build, row.time)])

    def unrecognized(self, row: Row, slot: Slot, kind: str) -> Unit:
        """A record that has no effect on the context, kept whole."""
        record = row.record

        def build() -> Event:
            rest: dict[str, Any] = {}
            if record.fault:
                rest = {"reason": record.fault, **({"torn": True} if record.torn else {})}
            return RecordUnrecognized.model_validate(
                {
                    "file": self._file,
                    "line": record.line,
                    "offset": record.offset,
                    "kind": kind,
                    "raw": record.text,
                    "origin": Origin(
                        records=() if record.fault else (row.counted(),),
                        rest=Json(rest) if rest else None,
                    ),
                }
            )

        unit = unit_of([row], [Planned(slot, build, row.time)])
        unit.unreadable = bool(record.fault)
        return unit


def _fields(row: Row) -> dict[str, Any]:
    """What a record says, without its type."""
    return {k: v for k, v in row.payload.items() if k != "type" and v is not None}


def _is_sealed(history: Sequence[Any], written: object) -> bool:
    """Whether a part of what the model now sees is known to the provider alone.

    Some versions got a history back that says nothing of the summary, and wrote none.
    """
    pieces = [each.get("item", each) for each in history if isinstance(each, dict)]
    if any(isinstance(piece, dict) and piece.get("type") in SUMMARIES for piece in pieces):
        return True
    return not written


def _first_list(payload: Mapping[str, Any], *names: str) -> list[Any] | None:
    return next((payload[name] for name in names if isinstance(payload.get(name), list)), None)


def _is_text(message: Mapping[str, Any], text: object) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and block.get("text") == text for block in blocks)
