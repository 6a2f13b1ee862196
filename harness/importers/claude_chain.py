"""One conversation of a Claude Code file, the main one or a sub-agent's, record by record.

An answer is written as several records, with tool results between them, so it is *open* until a
record shows that the model is done: another answer, a person's message, a boundary, the end of the
turn; at the end of the file also its own last record, when that names a reason to stop. What
follows an open answer waits for it, in the order of the file. The same holds for a compaction
boundary until its summary comes.

Fine points of this format: parallel calls fork the tree of ``parentUuid`` and are no rewinds; only
a second prompt of a person under the same record, after the first one was answered, is taken as
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eventlog.events import Event, Origin, SessionRewound, SessionTitled, Source
from harness.importers.claude_events import Maker
from harness.importers.claude_records import (
    ENDS_ANSWER,
    SYNTHETIC,
    Row,
    attachment_message,
    kind_of,
    speaker,
    text_of,
)
from harness.importers.records import Record
from harness.importers.standing import Context, Standing
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit

MAX_WAITING = 5_000
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Behind an open answer; over these it is closed, so that memory stays bounded."""


@dataclass(slots=True)
class _Answer:
    id: str
    rows: list[Row]
    call: Slot = field(default_factory=Slot)
    message: Slot = field(default_factory=Slot)
    results: set[str] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        """Whether its last record says that the model stopped, and all its calls are answered."""
        if text_of(self.rows[-1].message.get("stop_reason")) not in ENDS_ANSWER:
            return False
        calls = {text_of(call.get("id")) for row in self.rows for call in row.calls}
        return calls <= self.results


@dataclass(slots=True)
class _Boundary:
    row: Row


class Chain:
    """Turns the records of one stream into units for its writer."""

    def __init__(
        self,
        writer: StreamWriter,
        maker: Maker,
        started: Event,
        session_id: str,
        on_call: Callable[[dict[str, Any]], None],
    ) -> None:
        self.writer = writer
        self.parent_call = ""
        self._maker = maker
        self._session_id = session_id
        self._on_call = on_call
        self._context = Context()
        self._open: _Answer | _Boundary | None = None
        self._waiting: list[Callable[[], None]] = []
        self._weight = 0
        self._put: Callable[[Unit], None] = writer.add
        self._names: dict[str, str] = {}
        self._results: dict[str, Standing] = {}
        self._answers: dict[str, Slot] = {}
        self._items: dict[str, list[Standing]] = {}
        self._ends: dict[str, tuple[Slot, int] | None] = {}
        self._turns: dict[str, str] = {}
        self._prompts: dict[str, str] = {}
        self._answered: set[str] = set()
        writer.add(Unit((), [Planned(Slot(), lambda: started)]))

    @property
    def sidechain(self) -> bool:
        """Whether this is a sub-agent's conversation."""
        return self._maker.sidechain

    # -- taking records -------------------------------------------------------------------------

    def take(self, record: Record) -> None:
        """The next record of this conversation."""
        stamp = self.writer.identity.stamp(record.raw)
        row = Row(record, stamp, "unreadable" if record.fault else kind_of(record.value))
        if row.uuid:
            self._turns[row.uuid] = self._turns.get(row.parent, "")
        match row.kind:
            case "assistant":
                self._assistant(row)
            case "user":
                self._user(row)
            case "compact_summary":
                boundary = self._open.row if isinstance(self._open, _Boundary) else None
                if boundary is None:
                    self.close()
                self._compact(boundary, row)
            case "compact_boundary":
                self.close()
                self._open = _Boundary(row)
            case "microcompact_boundary":
                self.close()
                self._clear(row)
            case "attachment":
                self._defer(row, lambda: self._attachment(row))
            case "title":
                self._defer(row, lambda: self._title(row), quiet=True)
            case "turn_end":
                self.close()
                self._unrecognized(row, "known")
            case kind:
                self._defer(row, lambda: self._unrecognized(row, kind), quiet=True)
        # Not while an answer is being handed over: it and its results are one append.
        self.writer.pause()

    def close(self) -> None:
        """What is open is complete."""
        opened, waiting = self._open, self._waiting
        self._open, self._waiting, self._weight = None, [], 0
        if isinstance(opened, _Boundary):
            self._compact(opened.row, None)
        elif opened is not None:
            self._answer(opened)
        for action in waiting:
            action()

    def finish(self, final: bool) -> None:
        """The file ends here: what is open is pending, unless it is done, or ``final``."""
        done = isinstance(self._open, _Answer) and self._open.is_done
        if not (final or done):
            self._put = self.writer.offer
        self.close()

    def _defer(self, row: Row, action: Callable[[], None], quiet: bool = False) -> None:
        if isinstance(self._open, _Boundary) and not quiet:
            self.close()
        if self._open is None:
            action()
            return
        self._waiting.append(action)
        self._weight += len(row.record.raw)
        if len(self._waiting) >= MAX_WAITING or self._weight >= MAX_WAITING_BYTES:
            self.close()

    # -- answers --------------------------------------------------------------------------------

    def _assistant(self, row: Row) -> None:
        for call in row.calls:
            self._names[text_of(call.get("id"))] = text_of(call.get("name"))
            self._on_call(call)
        self._answered.add(self._turns.get(row.uuid, ""))
        if isinstance(self._open, _Answer) and self._open.id == row.answer_id:
            self._open.rows.append(row)
            return
        self.close()
        if row.message.get("model") == SYNTHETIC or row.value.get("isApiErrorMessage") is True:
            slot = Slot()
            self._enter(slot, row)
            self._end(slot, row)
            self._put(self._maker.synthetic(row, slot))
        elif row.answer_id in self._answers:
            slot = Slot()
            self._enter(slot, row)
            self._end(slot, row)
            self._put(self._maker.late([row], self._answers[row.answer_id], slot))
        else:
            self._open = _Answer(row.answer_id, [row])

    def _answer(self, answer: _Answer) -> None:
        responded = Slot()
        self._answers[answer.id] = answer.call
        self._enter(answer.message, *answer.rows)
        self._end(responded, *answer.rows)
        self._put(self._maker.answer(answer.rows, answer.call, answer.message, responded))

    # -- what people and tools say --------------------------------------------------------------

    def _user(self, row: Row) -> None:
        if _results(row):
            if isinstance(self._open, _Answer):
                self._open.results.update(text_of(b.get("tool_use_id")) for b in _results(row))
            self._defer(row, lambda: self._tool_results(row))
            return
        if not row.blocks:
            self._defer(row, lambda: self._unrecognized(row, "known"))
            return
        source, label = speaker(row, row.blocks, self._maker.sidechain)
        if label != "meta":
            self.close()
        self._defer(row, lambda: self._message(row, source, label, row.message["content"]))

    def _message(self, row: Row, source: Source, label: str, content: Any) -> None:
        slot = Slot()
        events = [self._maker.message(row, slot, source, label, content)]
        if source == "human" and not label and row.kind == "user":
            to = self._prompt(row)
            if to is not None:
                events.insert(0, Planned(Slot(), _rewound(row, to), row.time))
        self._enter(slot, row)
        self._end(slot, row)
        self._put(Unit((row.stamp,), events, len(row.record.raw)))

    def _prompt(self, row: Row) -> Slot | None:
        """Notes a person's prompt; where the conversation goes back to, if it does."""
        earlier = self._prompts.get(row.parent)
        if row.uuid:
            self._turns[row.uuid] = row.uuid
            if row.parent:
                self._prompts[row.parent] = row.uuid
        common = self._ends.get(row.parent)
        if not earlier or earlier == row.uuid or earlier not in self._answered or common is None:
            return None
        self._context.rewind(common[1])
        return common[0]

    def _tool_results(self, row: Row) -> None:
        made = self._maker.results(
            row, self._names, lambda blocks: speaker(row, blocks, self._maker.sidechain)
        )
        for planned, call_id in made:
            item = self._enter(planned.slot, row)
            if call_id:
                self._results[call_id] = item
        self._end(made[-1][0].slot, row)
        self._put(Unit((row.stamp,), [planned for planned, _ in made], len(row.record.raw)))

    def _attachment(self, row: Row) -> None:
        source, label, content = attachment_message(row.value["attachment"])
        if source == "human" and self._maker.sidechain:
            source, label = "injected", "queued_command"
        self._message(row, source, label, content)

    # -- decisions of the agent -----------------------------------------------------------------

    def _compact(self, boundary: Row | None, summary: Row | None) -> None:
        waiting, self._waiting, self._open = self._waiting, [], None
        slot, before = Slot(), tuple(self._context.items)
        kept = self._preserved(boundary.value) if boundary is not None else []
        entered = [self._context.enter(slot, 0)] if summary is not None else []
        self._context.replace([*entered, *kept])
        stay = {id(item) for item in kept}
        self._items = {u: i for u, i in self._items.items() if any(id(x) in stay for x in i)}
        rows = [row for row in (boundary, summary) if row is not None]
        if summary is not None and summary.uuid:
            self._items[summary.uuid] = entered
        self._end(slot, *rows)
        self._put(self._maker.compaction(boundary, summary, slot, before, kept))
        for action in waiting:
            action()

    def _preserved(self, boundary: Mapping[str, Any]) -> list[Standing]:
        """The items that the boundary says are kept word for word, in their order."""
        data = boundary.get("compactMetadata")
        data = data if isinstance(data, dict) else {}
        messages, segment = data.get("preservedMessages"), data.get("preservedSegment")
        wanted: set[int] = set()
        if isinstance(messages, dict):
            uuids = messages.get("uuids") or messages.get("allUuids")
            for uuid in uuids if isinstance(uuids, list) else ():
                wanted.update(id(item) for item in self._items.get(text_of(uuid), ()))
        elif isinstance(segment, dict):
            head = self._items.get(text_of(segment.get("headUuid")))
            tail = self._items.get(text_of(segment.get("tailUuid")))
            if head and tail:
                low, high = head[0].number, tail[-1].number
                wanted = {id(i) for i in self._context.items if low <= i.number <= high}
        return [item for item in self._context.items if id(item) in wanted]

    def _clear(self, row: Row) -> None:
        data = row.value.get("microcompactMetadata")
        named = data.get("compactedToolIds") if isinstance(data, dict) else None
        ids = [i for i in named if isinstance(i, str)] if isinstance(named, list) else []
        unique = list(dict.fromkeys(ids))
        standing = {id(item) for item in self._context.items}
        found = [self._results[i] for i in unique if i in self._results]
        found = [item for item in found if id(item) in standing]
        for item in found:
            item.cleared = True
        missing = sum(1 for i in unique if i not in self._results)
        self._note_missing(row, len(unique), missing, len(unique) - missing - len(found))
        unit = self._maker.clearing(row, found, ids)
        self._end(unit.events[-1].slot, row)
        self._put(unit)

    def _note_missing(self, row: Row, named: int, missing: int, gone: int) -> None:
        whys = ((missing, "this file does not hold"), (gone, "had left the context before"))
        words = [
            f" that {why}" if count == named else f", {count} of which {why}"
            for count, why in whys
            if count
        ]
        if words:
            results = "1 tool result" if named == 1 else f"{named} tool results"
            kept = "; kept as a note" if missing + gone == named else ""
            text = f"line {row.record.line} clears {results}{''.join(words)}{kept}"
            self.writer.report.notes.append(text)

    # -- the rest -------------------------------------------------------------------------------

    def _title(self, row: Row) -> None:
        value = row.value
        title = value.get("customTitle", value.get("aiTitle", value.get("summary")))
        named = value.get("sessionId", self._session_id)
        mine = named == self._session_id
        if value.get("type") == "summary":
            mine = text_of(value.get("leafUuid")) in self._ends
        if not (mine and isinstance(title, str) and title.strip()):
            self._unrecognized(row, "known")
            return
        by = "user" if value.get("type") == "custom-title" else "claude-code"

        def build() -> Event:
            return SessionTitled(title=title, by=by, origin=Origin(records=(row.origin(),)))

        self._put(Unit((row.stamp,), [Planned(Slot(), build, row.time)], len(row.record.raw)))

    def _unrecognized(self, row: Row, kind: str) -> None:
        if kind == "unreadable":
            self.writer.report.unreadable += 1
            note = f"line {row.record.line}, byte {row.record.offset}: {row.record.fault}"
            self.writer.report.notes.append(note)
        slot = Slot()
        self._end(slot, row)
        self._put(self._maker.unrecognized(row, slot, kind))

    def _enter(self, slot: Slot, *rows: Row) -> Standing:
        item = self._context.enter(slot)
        for row in rows:
            if row.uuid:
                self._items.setdefault(row.uuid, []).append(item)
        return item

    def _end(self, slot: Slot, *rows: Row) -> None:
        """These records end at that event; an id that repeats names no place."""
        for row in rows:
            if row.uuid:
                known = row.uuid in self._ends
                self._ends[row.uuid] = None if known else (slot, self._context.mark)


def _results(row: Row) -> list[dict[str, Any]]:
    return [b for b in row.blocks if isinstance(b, dict) and b.get("type") == "tool_result"]


def _rewound(row: Row, to: Slot) -> Callable[[], Event]:
    def build() -> Event:
        return SessionRewound(to=to.position, inferred=True, origin=Origin(records=(row.origin(),)))

    return build
