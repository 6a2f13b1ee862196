"""One conversation of OpenHands' SDK, event by event.

An answer with several calls is written as several ActionEvents with one response id. So an answer
is *open* until another event of the conversation stands behind it; what is no part of the
conversation (states, logs) waits behind an open answer and closes nothing. An event that comes back
to an answer later is a further message of the same call, as the SDK itself sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eventlog import Json
from eventlog.events import Event, Origin, SessionRewound, Source, ToolsDeclared
from eventlog.jsonvalue import dumps
from harness.importers import openhands_messages as sdk
from harness.importers.openhands_events import (
    Answer,
    Condensation,
    Row,
    Said,
    compaction,
    notes_of,
    result,
    revision,
    spoken,
    unmapped,
    unrecognized,
)
from harness.importers.openhands_messages import DIALECT, text_of
from harness.importers.openhands_state import condenser_of, model_of, usage_of, usages_of
from harness.importers.openhands_v1_said import (
    response_of,
    rest_of_message,
    rest_of_result,
    said_by,
)
from harness.importers.openhands_view import ForeignView, Shown
from harness.importers.records import Record
from harness.importers.standing import Standing
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit, unit_of

MAX_WAITING = 5_000
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""Of an open answer and behind it; over these it is closed, so that memory stays bounded."""

KNOWN = frozenset(
    {
        "ACPToolCallEvent",
        "CondensationRequest",
        "ConversationErrorEvent",
        "ConversationIterationLimitEvent",
        "ConversationStateUpdateEvent",
        "HookExecutionEvent",
        "InterruptEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    }
)
"""Events that are no part of what a model sees."""


_RESULTS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})


class Chain:
    """Turns the events of one conversation into units for its writer."""

    def __init__(self, writer: StreamWriter, state: Mapping[str, Any], started: Event) -> None:
        self._writer = writer
        self._view = ForeignView()
        self._put: Callable[[Unit], None] = writer.add
        self._before: list[Planned] = []
        """What stands in front of the next unit, and is of its first record too."""
        self._model = model_of(state)
        self._condenser = condenser_of(state)
        self._usages = usages_of(state)
        self._open: list[Row] = []
        self._waiting: list[Row] = []
        self._weight = 0
        """Bytes of both."""
        self._answers: dict[str, Answer] = {}
        self._rows: dict[int, list[Mapping[str, Any]]] = {}
        """The actions of answers with several calls, by the item."""
        self._actions: dict[str, str] = {}
        """From the id of an action to the id of its call."""
        self._calls: dict[str, list[str]] = {}
        """From the id of a call to the actions of that id that have no result yet."""
        self._tools: dict[str, Slot] = {}
        self._declared: Slot | None = None
        self._requested = False
        self._ends: dict[str, tuple[Slot, int]] = {}
        self._last = ""
        self._is_new = False
        """Whether condensations are applied one behind the other; see ``openhands_view``."""
        writer.add(Unit((), [Planned(Slot(), lambda: started)]))

    def take(self, file: str, record: Record) -> None:
        """The next event of the conversation."""
        row = Row(file, record, self._writer.identity.stamp(record.raw))
        kind = row.kind
        parent = text_of(row.value.get("parent_id"))
        self._is_new = self._is_new or bool(parent)
        if record.fault or kind in KNOWN or not _is_shown(row):
            self._wait(row)
        elif (
            kind == "ActionEvent" and self._open and response_of(row) == response_of(self._open[0])
        ):
            self._hold(self._open, row)
        else:
            self.close()
            self._goes_back(row, parent)
            match kind:
                case "ActionEvent":
                    self._hold(self._open, row)
                case "Condensation":
                    self._condense(row)
                case "SystemPromptEvent":
                    self._system(row)
                case "MessageEvent" | "CondensationSummaryEvent":
                    self._message(row)
                case _ if text_of(row.value.get("tool_call_id")):
                    self._result(row)
                case "AgentErrorEvent":  # before 2025-10 it answered no call
                    message = {"role": "user", "content": sdk.parts(row.value.get("error"))}
                    self._spoken(row, message, "injected", "error", "error")
                case _:
                    self._keep(row)
        self._last = row.id or self._last
        self._writer.pause()

    def close(self) -> None:
        """What is open is complete."""
        rows, self._open = self._open, []
        waiting, self._waiting, self._weight = self._waiting, [], 0
        if rows:
            self._answer(rows)
        for row in waiting:
            self._keep(row)

    def finish(self, final: bool) -> None:
        """The transcript ends here: an open answer is pending, unless ``final``."""
        if not final and self._open:
            self._put = self._writer.offer
        self.close()

    def _wait(self, row: Row) -> None:
        if not self._open:
            self._keep(row)
            return
        self._hold(self._waiting, row)

    def _hold(self, rows: list[Row], row: Row) -> None:
        rows.append(row)
        self._weight += len(row.record.raw)
        if len(rows) >= MAX_WAITING or self._weight >= MAX_WAITING_BYTES:
            self.close()

    def _keep(self, row: Row) -> None:
        """A record that no model sees."""
        report = self._writer.report
        if row.record.fault:
            report.unreadable += 1
            report.notes.append(f"{row.file}: {row.record.fault}")
        if row.kind == "CondensationRequest":
            self._requested = True
        made = unrecognized(row, "known" if row.kind in KNOWN else "unknown")
        self._end(row, made.events[-1].slot)
        self._hand(made)

    def _hand(self, made: Unit) -> None:
        """Give a unit to the writer, behind the rewind that it begins with."""
        before, self._before = self._before, []
        if before:
            split = made.split
            made.events[:0] = before
            if split is not None:
                made.split = lambda size: _prefixed(before, split(size))
        self._put(made)

    # -- what is said ---------------------------------------------------------------------------

    def _system(self, row: Row) -> None:
        tools = row.value.get("tools")
        events: list[Planned] = []
        mapped = ["system_prompt", "dynamic_context"]
        if isinstance(tools, list) and tools and all(map(_is_schema, tools)):
            mapped.append("tools")
            text = dumps(tools)
            if text not in self._tools:
                self._tools[text] = Slot()
                events.append(_declared(self._tools[text], tools, row))
            self._declared = self._tools[text]
        elif tools:
            note = f"{row.file}: the tools are named without the parameters that were sent"
            self._writer.report.notes.append(note)
        slot = Slot()
        message = sdk.system_message(row.value)
        records = (row.origin("visible"),)
        said = Said(message, records, unmapped(row, "source", *mapped), "injected")
        self._enter(row, slot, [*events, spoken(row, slot, said)])

    def _message(self, row: Row) -> None:
        if row.kind == "CondensationSummaryEvent":
            message = {"role": "user", "content": sdk.parts(row.value.get("summary"))}
            self._spoken(row, message, "injected", "summary", "summary")
        elif not isinstance(row.value.get("llm_message"), dict):
            self._keep(row)
        elif row.value.get("source") == "agent":
            self._answer([row])
        else:
            message = sdk.spoken_message(row.value)
            is_human = row.value.get("source") == "user" and message["role"] == "user"
            source: Source = "human" if is_human else "injected"
            self._spoken(row, message, source, "", "llm_message", "extended_content")

    def _spoken(
        self, row: Row, message: sdk.Message, source: Source, label: str, *mapped: str
    ) -> None:
        slot = Slot()
        rest = {**unmapped(row, "source", *mapped), **rest_of_message(row)}
        said = Said(message, (row.origin("visible"),), rest, source, label)
        self._enter(row, slot, [spoken(row, slot, said)])

    def _enter(self, row: Row, slot: Slot, events: list[Planned]) -> None:
        self._view.enter(Shown(row.key, item=self._view.item(slot)))
        self._end(row, slot)
        self._hand(unit_of([row], events))

    # -- answers and results --------------------------------------------------------------------

    def _answer(self, rows: Sequence[Row]) -> None:
        response = response_of(rows[0])
        known = self._answers.get(response)
        if known is None:
            bill = self._usages.get(response, {})
            made = Answer(
                text_of(rows[0].value.get("llm_response_id")),
                said_by,
                text_of(bill.get("model")) or self._model,
                usage_of(bill),
                tools=self._declared,
            )
            self._answers[response] = made
            slot, taken = made.message, made.unit(rows)
        else:
            slot = Slot()
            taken = known.late(rows, slot)
        item = self._view.item(slot)
        if rows[0].kind == "ActionEvent":
            self._enter_calls(rows, item, response)
        else:
            self._view.enter(Shown(rows[0].key, item=item))
        for row in rows:
            self._end(row, taken.events[-1].slot)
        self._hand(taken)

    def _enter_calls(self, rows: Sequence[Row], item: Standing, response: str) -> None:
        if len(rows) > 1:
            self._rows[id(item)] = [row.value for row in rows]
        for index, row in enumerate(rows):
            call_id = sdk.action_call(row.value)["id"]
            self._actions[row.key] = call_id
            self._calls.setdefault(call_id, []).append(row.key)
            self._view.enter(Shown(row.key, "call", item, row.key, response, index))

    def _result(self, row: Row) -> None:
        action = self._answered(row)
        marks = ["visible", "visible"] if action and self._view.stands(action) else []
        message = sdk.result_message(row.value)
        pair = f"result:{message['tool_call_id']}"
        rest = rest_of_result(row, message)
        said = Said(message, (row.origin(pair, *marks),), rest)
        shown = sdk.clipped(row.value, message)
        slot = Slot()
        item = self._view.item(slot)
        item.cleared = shown is not None
        self._view.enter(Shown(row.key, "result", item, action))
        events = result(row, slot, said, sdk.is_error(row.value), shown)
        self._end(row, events[-1].slot)
        self._hand(unit_of([row], events))

    def _answered(self, row: Row) -> str:
        """The action that a result answers: the one that it names, or the nearest of its call."""
        action, call_id = text_of(row.value.get("action_id")), row.value["tool_call_id"]
        waiting = self._calls.get(call_id, [])
        if action in waiting:
            waiting.remove(action)
            return action
        return waiting.pop() if waiting and not self._actions.get(action) else ""

    # -- decisions of the agent -----------------------------------------------------------------

    def _condense(self, row: Row) -> None:
        value, view = row.value, self._view
        named = value.get("forgotten_event_ids")
        ids = [i for i in named if isinstance(i, str)] if isinstance(named, list) else []
        self._is_new = self._is_new or any(i.endswith("-summary") for i in ids)
        text, offset = value.get("summary"), value.get("summary_offset")
        has_summary = isinstance(text, str) and _is_count(offset)
        trigger = self._trigger(view.size)
        slot = Slot()
        summary = (f"{row.key}-summary", view.item(slot, 0)) if has_summary else None
        found = view.condense(
            ids,
            summary,
            offset if has_summary else None,
            only_last=not self._is_new,
            whole_batches="llm_response_id" in value,
        )
        self._writer.report.notes += [f"{row.file}: {said}" for said in notes_of(found)]
        bill = self._usages.get(text_of(value.get("llm_response_id")), {})
        mapped = ("summary",) if has_summary else ()
        given = Condensation(
            found,
            {"role": "user", "content": sdk.parts(text)} if has_summary else None,
            {k: v for k, v in self._condenser.items() if k != "model"},
            trigger,
            text_of(bill.get("model")) or text_of(self._condenser.get("model")),
            usage_of(bill),
            unmapped(row, "source", *mapped),
        )
        self._requested = False
        parts = [self._part(row, item, numbers) for item, numbers in found.parted]
        stay = {id(item) for item in found.after}
        self._rows = {key: rows for key, rows in self._rows.items() if key in stay}
        self._end(row, parts[-1].slot if parts else slot)
        self._hand(compaction(row, slot, given, parts))

    def _part(self, row: Row, item: Standing, numbers: Sequence[int]) -> Planned:
        """What is left of an answer of which a condensation took some calls."""
        item.cleared = True
        actions = self._rows[id(item)]
        message = sdk.answer_message([actions[number] for number in numbers])
        return revision(row, lambda: item.id, message)

    def _trigger(self, events: int) -> str:
        """Why the agent condensed, as far as the transcript tells."""
        limit = self._condenser.get("max_size")
        if self._requested:
            return "request"
        return "events" if isinstance(limit, int) and events > limit else ""

    def _goes_back(self, row: Row, parent: str) -> None:
        """A conversation may be taken up again behind an earlier event of it."""
        if not parent or parent == self._last or parent not in self._ends:
            return
        to, mark = self._ends[parent]
        if not self._view.rewind(mark):
            self._writer.report.notes.append(f"{row.file}: goes back too far to be followed")
            return

        def build() -> Event:
            origin = Origin(records=(row.origin(),))
            return SessionRewound(to=to.position, reason="branch", origin=origin)

        self._before = [Planned(Slot(), build, row.time)]

    def _end(self, row: Row, slot: Slot) -> None:
        """This event ends there; of an id that repeats the last one counts."""
        if row.id:
            self._ends[row.id] = (slot, self._view.mark)


def _is_shown(row: Row) -> bool:
    """Whether the event is one that OpenHands makes a message of, or a condensation."""
    kinds = ("ActionEvent", "Condensation", "SystemPromptEvent", "MessageEvent")
    return row.kind in kinds or row.kind in _RESULTS or row.kind == "CondensationSummaryEvent"


def _prefixed(before: Sequence[Planned], parts: tuple[Unit, Unit]) -> tuple[Unit, Unit]:
    first, rest = parts
    first.events[:0] = before
    return first, rest


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_schema(tool: Any) -> bool:
    inner = tool.get("function") if isinstance(tool, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("name"), str)


def _declared(slot: Slot, tools: list[Any], row: Row) -> Planned:
    def build() -> Event:
        origin = Origin(records=(row.origin(),))
        return ToolsDeclared(dialect=DIALECT, definitions=Json(tools), origin=origin)

    return Planned(slot, build, row.time)
