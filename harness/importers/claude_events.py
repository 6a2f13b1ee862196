"""Claude Code records made into units of events. Pure: rows in, units out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    PlaceholderSubstituted,
    RecordUnrecognized,
    Source,
    ToolResultRecorded,
)
from harness.importers.claude_records import DIALECT, Row, text_of, unmapped, usage_of
from harness.importers.standing import Standing, runs
from harness.importers.units import Planned, Slot, Unit, unit_of
from harness.usage import tokens_of

AGENT = DecidedBy(name="claude-code")
CLEARED = "[Old tool result content cleared]"
"""What the model sees instead of a cleared result; the file never holds it."""


class Maker:
    """Makes the units of one stream; ``base`` are the fields that its start names already."""

    def __init__(self, base: Mapping[str, Any], file: str, sidechain: bool) -> None:
        self._base = base
        self._file = file
        self.sidechain = sidechain

    # -- origin ---------------------------------------------------------------------------------

    def marks(self, row: Row) -> tuple[str, ...]:
        """``visible`` for a record that Claude Code counts as part of the conversation."""
        spoken = row.value.get("type") in ("user", "assistant")
        return ("visible",) if spoken and not self.sidechain else ()

    def _rest(self, rows: Sequence[Row]) -> Json | None:
        found = [unmapped(row, self._base) for row in rows]
        if not any(found):
            return None
        return Json(found[0] if len(found) == 1 else found)

    def _origin(self, rows: Sequence[Row], records: Sequence[OriginRecord]) -> Origin:
        return Origin(records=tuple(records), rest=self._rest(rows))

    # -- units ----------------------------------------------------------------------------------

    def answer(self, rows: Sequence[Row], call: Slot, message: Slot, responded: Slot) -> Unit:
        """One answer of a model: the call, a message with the blocks of all records, the end."""
        first, last = rows[0], rows[-1]

        def called() -> Event:
            model = text_of(first.message.get("model"))
            origin = Origin(records=(first.origin(),))
            return ModelCalled(model=model, dialect=DIALECT, origin=origin)

        def ended() -> Event:
            usages = [usage for row in rows if (usage := usage_of(row.message)) is not None]
            stops = [stop for row in rows if (stop := text_of(row.message.get("stop_reason")))]
            return ModelResponded(
                call=call.position,
                response_id=text_of(first.message.get("id")),
                finish_reason=stops[-1] if stops else "",
                usage=usages[-1] if usages else None,
                origin=Origin(records=(last.origin(),)),
            )

        def split(size: int) -> tuple[Unit, Unit]:
            message.late = Slot()
            return self.answer(rows[:size], call, message, responded), self.late(
                rows[size:], call, message.late
            )

        events = [
            Planned(call, called, first.time),
            Planned(message, lambda: self._answer_message(rows, call), first.time),
            Planned(responded, ended, last.time),
        ]
        return unit_of(rows, events, split)

    def late(self, rows: Sequence[Row], call: Slot, message: Slot) -> Unit:
        """Records of an answer that came when the conversation had gone on."""

        def split(size: int) -> tuple[Unit, Unit]:
            message.late = Slot()
            return self.late(rows[:size], call, message), self.late(rows[size:], call, message.late)

        build = [Planned(message, lambda: self._answer_message(rows, call), rows[0].time)]
        return unit_of(rows, build, split)

    def _answer_message(self, rows: Sequence[Row], call: Slot | None) -> Event:
        if len(rows) == 1:
            content: Any = rows[0].message.get("content")
        else:
            content = [block for row in rows for block in row.blocks]
        records = [
            row.origin(*self.marks(row), *(row.pair("call", c.get("id")) for c in row.calls))
            for row in rows
        ]
        return MessageAppended(
            dialect=DIALECT,
            source="model" if call is not None else "injected",
            label="" if call is not None else "synthetic",
            call=call.position if call is not None else None,
            message=Json({"role": "assistant", "content": content}),
            origin=self._origin(rows, records),
        )

    def synthetic(self, row: Row, message: Slot) -> Unit:
        """A message in the assistant's name that no model wrote: an error, a notice."""
        return unit_of(
            [row], [Planned(message, lambda: self._answer_message([row], None), row.time)]
        )

    def message(self, row: Row, slot: Slot, source: Source, label: str, content: Any) -> Planned:
        """A message that is no answer."""

        def build() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source=source,
                label=label,
                message=Json({"role": "user", "content": content}),
                origin=self._origin([row], [row.origin(*self.marks(row))]),
            )

        return Planned(slot, build, row.time)

    def results(
        self,
        row: Row,
        names: Mapping[str, str],
        speaker: Callable[[list[Any]], tuple[Source, str]],
    ) -> list[tuple[Planned, str]]:
        """The tool results of a record, and what is said beside them: each with its call id."""
        made: list[tuple[Planned, str]] = []
        beside: list[Any] = []

        def say() -> None:
            if beside:
                content = list(beside)
                beside.clear()
                first = not made
                build = self._beside(row, content, *speaker(content), first)
                made.append((Planned(Slot(), build, row.time), ""))

        for block in row.blocks:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                say()
                call_id = text_of(block.get("tool_use_id"))
                build = self._result(row, block, names.get(call_id, ""), not made)
                made.append((Planned(Slot(), build, row.time), call_id))
            else:
                beside.append(block)
        say()
        return made

    def _beside(
        self, row: Row, content: list[Any], source: Source, label: str, first: bool
    ) -> Callable[[], Event]:
        def build() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source=source,
                label=label,
                message=Json({"role": "user", "content": content}),
                origin=self._part_origin(row, first),
            )

        return build

    def _result(
        self, row: Row, block: dict[str, Any], name: str, first: bool
    ) -> Callable[[], Event]:
        def build() -> Event:
            call_id = text_of(block.get("tool_use_id"))
            return ToolResultRecorded(
                tool_call_id=call_id,
                name=name,
                dialect=DIALECT,
                is_error=bool(block.get("is_error")),
                duration_ms=_duration(row.value.get("toolUseResult")),
                native=Json(block),
                origin=self._part_origin(row, first, row.pair("result", block.get("tool_use_id"))),
            )

        return build

    def _part_origin(self, row: Row, first: bool, *pairs: str) -> Origin:
        """Of one of several events of a record: its marks and its rest stand with the first."""
        if first:
            return self._origin([row], [row.origin(*self.marks(row), *pairs)])
        return Origin(records=(row.origin(*pairs),))

    def compaction(
        self,
        boundary: Row | None,
        summary: Row | None,
        slot: Slot,
        before: Sequence[Standing],
        kept: Sequence[Standing],
    ) -> Unit:
        """A compaction: the boundary, the summary, or both; ``kept`` stay, behind the summary."""
        rows = [row for row in (boundary, summary) if row is not None]

        def build() -> Event:
            data = boundary.value.get("compactMetadata") if boundary is not None else None
            data = data if isinstance(data, dict) else {}
            messages: tuple[NewMessage, ...] = ()
            if summary is not None:
                content = summary.message.get("content")
                message = Json({"role": "user", "content": content})
                messages = (NewMessage(dialect=DIALECT, message=message, label="summary"),)
            staying = {id(item) for item in kept}
            layout = (*(["m0"] if messages else []), *runs(kept)) if kept else None
            records = [
                row.origin(*self.marks(row), *(["compaction"] if row is boundary else []))
                for row in rows
            ]
            return ContextCompacted(
                covered=runs([item for item in before if id(item) not in staying]),
                layout=layout,
                by=AGENT,
                trigger=text_of(data.get("trigger")),
                pre_tokens=tokens_of(data.get("preTokens")),
                post_tokens=tokens_of(data.get("postTokens")),
                messages=messages,
                origin=self._origin(rows, records),
            )

        def split(size: int) -> tuple[Unit, Unit]:
            slot.late = Slot()  # where the summary then stands
            return (
                self.compaction(boundary, None, slot, before, kept),
                self.compaction(None, summary, slot.late, (), ()),
            )

        return unit_of(rows, [Planned(slot, build, rows[0].time)], split if len(rows) > 1 else None)

    def clearing(self, row: Row, found: Sequence[Standing], ids: Sequence[str]) -> Unit:
        """A microcompaction: one placeholder for each result that stands there."""
        if not found:
            return self.unrecognized(row, Slot(), "known", *(f"placeholder:{i}" for i in ids))
        marks = [f"placeholder:{call_id}" for call_id in ids]
        pass_id = row.uuid or f"line {row.record.line}"

        def substitution(item: Standing, index: int) -> Callable[[], Event]:
            def build() -> Event:
                first = self._part_origin(row, True, *marks)
                return PlaceholderSubstituted(
                    item=item.id,
                    reason="microcompact",
                    pass_id=pass_id,
                    by=AGENT,
                    implied=True,
                    content=CLEARED,
                    origin=first if index == 0 else Origin(records=(row.origin(),)),
                )

            return build

        return unit_of(
            [row],
            [Planned(Slot(), substitution(item, n), row.time) for n, item in enumerate(found)],
        )

    def unrecognized(self, row: Row, slot: Slot, kind: str, *pairs: str) -> Unit:
        """A record that has no effect on the context, kept whole."""
        record = row.record

        def build() -> Event:
            rest: dict[str, Any] = {}
            if record.fault:
                rest = {"reason": record.fault, **({"torn": True} if record.torn else {})}
            counted = () if record.fault else (row.origin(*self.marks(row), *pairs),)
            return RecordUnrecognized.model_validate(
                {
                    "file": self._file,
                    "line": record.line,
                    "offset": record.offset,
                    "kind": kind,
                    "raw": record.text,
                    "origin": Origin(records=counted, rest=Json(rest) if rest else None),
                }
            )

        unit = unit_of([row], [Planned(slot, build, row.time)])
        unit.unreadable = bool(record.fault)
        return unit


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _duration(result: object) -> int | None:
    if not isinstance(result, dict):
        return None
    found = _number(result.get("durationMs", result.get("totalDurationMs")))
    return found if found is not None and found >= 0 else None
