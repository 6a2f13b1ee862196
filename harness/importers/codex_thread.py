"""One thread of Codex, record by record.

An answer is written as several items (reasoning, a message, calls), and the token count of its
request stands behind them, in some versions behind the results of its calls too, in old ones before
them. So an answer is *open* until a record shows that the model is done: its token count, another
answer, a turn's end, a person's message. What follows an open answer waits for it, in the order of
the file. So does what follows a token count whose answer is still to come.

A count is taken once: Codex repeats the last one when a turn starts and when it compacts, so one is
new only where its running total is another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventlog.events import Event
from harness.importers import codex_history
from harness.importers.codex_events import HISTORIES, Answer, Maker, Settings
from harness.importers.codex_header import instructions_of, tools_of
from harness.importers.codex_history import Contents, Layout, digest
from harness.importers.codex_records import (
    Row,
    context_tokens,
    count_of,
    parameters_of,
    totals_of,
    usage_of,
)
from harness.importers.codex_speakers import begins_turn, leads_to_turn, speaker, text_of, texts_of
from harness.importers.records import Record
from harness.importers.standing import Context, Standing
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit

MAX_WAITING = 5_000
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Behind what is open; over these it is closed, so that memory stays bounded."""


@dataclass(slots=True)
class _Answer:
    rows: list[Row]
    settings: Settings
    count: Row | None = None
    """Its token count, where that stands before it."""
    calls: set[str] = field(default_factory=set)
    answered: bool = False
    """Whether a result stands behind it."""

    @property
    def is_done(self) -> bool:
        """Whether nothing of it can follow: the old order, and all its calls are answered."""
        return self.count is not None and not self.calls


@dataclass(slots=True)
class _Count:
    """A token count whose answer, or compaction, is still to come."""

    row: Row
    starts: bool
    """Whether it may be the count of the answer behind it."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """Where the context was before a turn of the user, and what stood there."""

    slot: Slot
    mark: int


class Thread:
    """Turns the records of one stream into units for its writer."""

    def __init__(
        self,
        writer: StreamWriter,
        maker: Maker,
        started: Event,
        thread_id: str,
        note: Callable[[Row, str], None],
    ) -> None:
        self.writer = writer
        self._maker = maker
        self._thread_id = thread_id
        self._note = note
        self._context = Context()
        self._contents = Contents()
        self._first: list[Standing] = []
        self._settings = Settings()
        self._open: _Answer | _Count | None = None
        self._waiting: list[Callable[[], None]] = []
        self._weight = 0
        self._put: Callable[[Unit], None] = writer.add
        self._names: dict[str, str] = {}
        self._total: Mapping[str, Any] | None = None
        self._held_tokens: int | None = None
        self._turns: list[_Turn] = []
        self._injected: _Turn | None = None
        self._has_header = False
        self._fresh = True
        """Whether no model has spoken in this turn yet."""
        self._aborted = False
        self._counts_first = False
        self._last = Slot()
        writer.add(Unit((), [Planned(self._last, lambda: started)]))

    # -- taking records -------------------------------------------------------------------------

    def take(self, record: Record) -> None:
        """The next record of the thread."""
        row = Row(record, self.writer.identity.stamp(record.raw))
        self._note(row, self._names.get(row.call_id, ""))
        match row.kind:
            case "model":
                self._model(row)
            case "input":
                self._input(row)
            case "result":
                self._answered(row)
            case "tokens":
                self._tokens(row)
            case "compacted":
                self._compacted(row)
            case "rollback":
                self.close()
                self._rollback(row)
            case "turn":
                self._turn(row)
                self._defer(row, lambda: self._unrecognized(row, "known"))
            case "turn_start" | "turn_end":
                self.close()
                self._fresh = row.kind == "turn_start"
                self._aborted = row.item == "turn_aborted"
                self._unrecognized(row, "known")
            case "meta":
                self._meta(row)
            case "title":
                self._defer(row, lambda: self._title(row))
            case kind:
                self._defer(row, lambda: self._unrecognized(row, kind))
        # Not while an answer is being handed over: it and its results are one append.
        self.writer.pause()

    def close(self) -> None:
        """What is open is complete."""
        opened, waiting = self._open, self._waiting
        self._open, self._waiting, self._weight = None, [], 0
        if isinstance(opened, _Answer):
            self._answer(opened)
        elif opened is not None:
            self._unrecognized(opened.row, "known")
        for action in waiting:
            action()

    def finish(self, final: bool) -> None:
        """The file ends here: what is open is pending, unless it is done, or ``final``."""
        done = isinstance(self._open, _Answer) and self._open.is_done
        if not (final or done):
            self._put = self.writer.offer
        self.close()

    def _defer(self, row: Row, action: Callable[[], None]) -> None:
        if self._open is None:
            action()
            return
        self._waiting.append(action)
        self._weight += len(row.record.raw)
        if len(self._waiting) >= MAX_WAITING or self._weight >= MAX_WAITING_BYTES:
            self.close()

    # -- what a request was made with -----------------------------------------------------------

    def _meta(self, row: Row) -> None:
        if self._has_header:
            self._defer(row, lambda: self._unrecognized(row, "known"))
            return
        self.close()
        self._has_header = True
        instructions, tools = instructions_of(row.payload), tools_of(row.payload)
        slot, declared = Slot(), Slot()
        if tools:
            self._settings = Settings(self._settings.model, self._settings.parameters, declared)
        self._emit(self._maker.header(row, slot, instructions, declared, tools))
        if instructions:
            # It is sent with every request, and no history holds it.
            self._first.append(self._context.enter(slot))

    def _turn(self, row: Row) -> None:
        model = text_of(row.payload.get("model"))
        self._settings = Settings(model, parameters_of(row), self._settings.tools)

    # -- answers --------------------------------------------------------------------------------

    def _model(self, row: Row) -> None:
        if row.is_call:
            self._names[row.call_id] = text_of(row.payload.get("name")) or row.item
        opened = self._open
        if isinstance(opened, _Answer) and opened.answered:
            self.close()
            opened = None
        if isinstance(opened, _Count) and not opened.starts:
            self.close()
            opened = None
        if isinstance(opened, _Count):
            self._counts_first = True
            opened = self._open = _Answer([opened.row], self._settings, opened.row)
        elif opened is None:
            if self._fresh:
                self._counts_first = False
            opened = self._open = _Answer([], self._settings)
        self._fresh = False
        opened.rows.append(row)
        if row.is_call:
            opened.calls.add(row.call_id)

    def _tokens(self, row: Row) -> None:
        total = totals_of(row)
        if total is None or total == self._total:
            self._defer(row, lambda: self._unrecognized(row, "known"))
            return
        self._total = total
        if isinstance(self._open, _Answer) and self._open.count is None:
            self._open.rows.append(row)
            self.close()
        else:
            self.close()
            if self._aborted:
                self._unrecognized(row, "known")
            else:
                self._open = _Count(row, self._fresh or self._counts_first)
        self._held_tokens = context_tokens(row)

    def _answer(self, opened: _Answer) -> None:
        items = [row for row in opened.rows if row.kind == "model"]
        counts = [row for row in opened.rows if row.kind == "tokens"]
        answer = Answer(opened.settings, Slot(), Slot())
        usage = usage_of(counts[-1]) if counts else None
        item = self._context.enter(answer.message)
        self._holds(item, *(row.message for row in items))
        self._injected = None
        self._emit(self._maker.answer(opened.rows, answer, usage))

    # -- what people, tools and other agents say ------------------------------------------------

    def _answered(self, row: Row) -> None:
        if isinstance(self._open, _Count):
            self.close()
        elif self._open is not None:
            self._open.answered = True
            self._open.calls.discard(row.call_id)
        self._defer(row, lambda: self._result(row))

    def _input(self, row: Row) -> None:
        message = row.message
        source, label = speaker(message, self._maker.subagent)
        begins = begins_turn(message, label)
        # Behind a count only notices wait, so that a compaction may be made with it before them.
        if begins or isinstance(self._open, _Count):
            self.close()
        if begins:
            self._fresh, self._aborted = True, False
        self._defer(row, lambda: self._message(row, message, source, label))

    def _message(self, row: Row, message: Mapping[str, Any], source: Any, label: str) -> None:
        here = _Turn(self._last, self._context.mark)
        if begins_turn(message, label):
            # Going back, Codex also drops what it put in right before a turn, except the first.
            self._turns.append(self._injected if self._turns and self._injected else here)
            self._injected = None
        else:
            self._injected = (self._injected or here) if leads_to_turn(message, label) else None
        slot = Slot()
        item = self._context.enter(slot)
        self._says(item, message, label)
        self._emit(self._maker.message(row, slot, source, label))

    def _result(self, row: Row) -> None:
        slot = Slot()
        item = self._context.enter(slot)
        self._holds(item, row.message)
        self._injected = None
        self._emit(self._maker.result(row, slot, self._names.get(row.call_id, "")))

    # -- decisions of the agent -----------------------------------------------------------------

    def _compacted(self, row: Row) -> None:
        if _is_for_reviewers(row.payload):
            self._defer(row, lambda: self._unrecognized(row, "known"))
            return
        count = None
        if isinstance(self._open, _Count):
            count, self._open = self._open.row, None
        waiting, self._waiting, self._weight = self._waiting, [], 0
        if isinstance(self._open, _Answer):
            self._waiting = waiting
            waiting = []
            self.close()
        before, slot = tuple(self._context.items), Slot()
        layout = self._layout(row, before)
        unit = self._maker.compaction(row, count, slot, before, layout, self._held_tokens)
        self._enter_layout(layout, slot)
        self._injected = None
        self._emit(unit)
        for action in waiting:
            action()

    def _layout(self, row: Row, before: Sequence[Standing]) -> Layout:
        standing = {item.number for item in before}
        first = [item for item in self._first if item.number in standing]
        history = codex_history.history_of(row.payload, self._contents)
        if history is not None:
            return codex_history.replaced(first, history, before, self._contents)
        summary = text_of(row.payload.get("message"))
        return codex_history.rebuilt(first, summary, before, self._contents)

    def _enter_layout(self, layout: Layout, slot: Slot) -> None:
        new: dict[int, Standing] = {}
        for number, message in enumerate(layout.messages):
            item = new[number] = self._context.enter(slot, number)
            _, label = speaker(message, self._maker.subagent)
            self._says(item, message, label)
        self._context.replace(
            new[entry] if isinstance(entry, int) else entry for entry in layout.entries
        )

    def _rollback(self, row: Row) -> None:
        turns = count_of(row.payload.get("num_turns"))
        if not turns or not self._turns:
            self._unrecognized(row, "known")
            return
        self._fresh = True
        to = self._turns[max(len(self._turns) - turns, 0)]
        del self._turns[max(len(self._turns) - turns, 0) :]
        self._context.rewind(to.mark)
        self._injected = None
        self._emit(self._maker.rewind(row, to.slot))

    def _holds(self, item: Standing, *messages: Mapping[str, Any]) -> None:
        """Remember what stands there, for a copy of it in a replacement history."""
        digests = tuple(map(digest, messages))
        self._contents.digests[item.number] = digests
        for each, message in zip(digests, messages, strict=True):
            if named := text_of(message.get("id")):
                self._contents.ids[named] = each

    def _says(self, item: Standing, message: Mapping[str, Any], label: str) -> None:
        self._holds(item, message)
        if message.get("role") == "user" and label in ("", "task"):
            self._contents.texts[item.number] = "\n".join(texts_of(message))
        elif label:
            self._contents.labels[item.number] = label

    # -- the rest -------------------------------------------------------------------------------

    def _title(self, row: Row) -> None:
        title = text_of(row.payload.get("thread_name"))
        mine = row.payload.get("thread_id", self._thread_id) == self._thread_id
        if mine and title.strip():
            self._emit(self._maker.title(row, title))
        else:
            self._unrecognized(row, "known")

    def _unrecognized(self, row: Row, kind: str) -> None:
        if kind == "unreadable":
            self.writer.report.unreadable += 1
            note = f"line {row.record.line}, byte {row.record.offset}: {row.record.fault}"
            self.writer.report.notes.append(note)
        self._emit(self._maker.unrecognized(row, Slot(), kind))

    def _emit(self, unit: Unit) -> None:
        self._last = unit.events[-1].slot
        self._put(unit)


def _is_for_reviewers(payload: Mapping[str, Any]) -> bool:
    """Whether a record keeps only what a reviewer of the thread is shown, and compacts nothing."""
    return "guardian_history" in payload and not any(map(payload.get, HISTORIES))
