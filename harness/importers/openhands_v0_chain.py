"""One session of OpenHands V0, event by event.

Each event of an answer repeats the whole completion, so the answer is known at its first event, and
the others only say when its further calls were run. A result names the action that caused it; ids
of calls repeat in these files. The system prompt and the task are put back when a condensation
forgets them, as the agent does. A condenser that masks old observations leaves nothing on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eventlog import Json
from eventlog.events import Event, Origin, Source, ToolsDeclared
from eventlog.jsonvalue import dumps
from harness.importers import openhands_v0_messages as v0
from harness.importers.openhands_events import (
    Answer,
    Condensation,
    Row,
    Said,
    compaction,
    notes_of,
    result,
    spoken,
    unrecognized,
)
from harness.importers.openhands_messages import DIALECT, parts, text_of
from harness.importers.openhands_state import usage_of
from harness.importers.openhands_v0_said import metrics_of, rest_of
from harness.importers.openhands_view import ForeignView, Kind, Shown
from harness.importers.records import Record
from harness.importers.standing import Standing
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit, unit_of

EXECUTABLE = frozenset(
    {
        "browse",
        "browse_interactive",
        "call_tool_mcp",
        "delegate",
        "edit",
        "mcp",
        "read",
        "run",
        "run_ipython",
        "task_tracking",
        "think",
        "write",
    }
)
"""Actions of the agent that something is done for, also where no call of a model is named."""

_STATES = frozenset({"agent_state_changed", "change_agent_state", "null"})
"""What is in no history of the agent."""

_CONDENSER = ("type", "max_size", "keep_first", "max_events", "attention_window")


class Chain:
    """Turns the events of one session into units for its writer."""

    def __init__(
        self, writer: StreamWriter, model: str, condenser: Mapping[str, Any], started: Event
    ) -> None:
        self.is_paired = False
        """Whether an observation that names no cause answers the action in front of it."""
        self._writer = writer
        self._model = model
        self._before = ""
        kept = {k: condenser[k] for k in _CONDENSER if isinstance(condenser.get(k), str | int)}
        self._condenser = kept
        self._view = ForeignView()
        self._responses: dict[str, tuple[Standing, dict[str, int]]] = {}
        """From a response to its item, and to the numbers of its calls."""
        self._billed: set[str] = set()
        self._calls: dict[str, tuple[str, str]] = {}
        """From an action to the id and the tool of its call."""
        self._commands: set[str] = set()
        """Commands that a person ran."""
        self._kept: list[str] = []
        """The system prompt and the task: no condensation takes them."""
        self._has_task = False
        self._tools: dict[str, Slot] = {}
        self._declared: Slot | None = None
        self._requested = False
        writer.add(Unit((), [Planned(Slot(), lambda: started)]))

    def take(self, file: str, record: Record) -> None:
        """The next event of the session."""
        row = Row(file, record, self._writer.identity.stamp(record.raw))
        value = row.value
        action, observation = text_of(value.get("action")), text_of(value.get("observation"))
        row.kind = f"action/{action}" if action else f"observation/{observation}"
        if record.fault:
            self._unreadable(row)
        elif action:
            self._action(row, action)
            self._before = row.key
        elif observation:
            self._observation(row, observation)
            self._before = ""
        else:
            self._writer.add(unrecognized(row, "unknown"))
        self._writer.pause()

    def _unreadable(self, row: Row) -> None:
        report = self._writer.report
        report.unreadable += 1
        report.notes.append(f"{row.file}: {row.record.fault}")
        self._writer.add(unrecognized(row, "unreadable"))

    def _keep(self, row: Row, *pairs: str, counted: bool = True) -> None:
        """A record that the model is not shown; the agent may count it all the same."""
        if counted:
            self._view.enter(Shown(row.key))
        self._writer.add(unrecognized(row, "known", *pairs))

    # -- actions --------------------------------------------------------------------------------

    def _action(self, row: Row, action: str) -> None:
        by_agent = row.value.get("source") == "agent"
        calls = bool(v0.fields(row.value.get("tool_call_metadata"))) or action in EXECUTABLE
        match action:
            case "system":
                self._system(row)
            case "message" if by_agent:
                self._said(row, v0.spoken_message(row.value, "assistant"))
            case "message":
                self._task(row)
            case "condensation":
                self._condense(row)
            case "condensation_request":
                self._requested = True
                self._keep(row)
            case _ if action in _STATES:
                self._keep(row, counted=False)
            case _ if by_agent and calls:
                self._call(row, action)
            case "finish" if by_agent:
                self._said(row, v0.finish_message(row.value))
            case "run":
                self._commands.add(row.key)
                command = text_of(v0.fields(row.value.get("args")).get("command"))
                text = f"User executed the command:\n{command}"
                self._spoken(row, text, "injected", "command")
            case _:
                self._keep(row)

    def _system(self, row: Row) -> None:
        args = v0.fields(row.value.get("args"))
        tools, events = args.get("tools"), list[Planned]()
        if isinstance(tools, list) and tools and all(isinstance(tool, dict) for tool in tools):
            text = dumps(tools)
            if text not in self._tools:
                self._tools[text] = Slot()
                events.append(_declared(self._tools[text], tools, row))
            self._declared = self._tools[text]
        message = {"role": "system", "content": parts(text_of(args.get("content")))}
        self._kept.append(row.key)
        rest = rest_of(row, message, "tools")
        said = Said(message, (row.origin("visible"),), rest, "injected")
        self._enter(row, said, before=events)

    def _task(self, row: Row) -> None:
        is_human = row.value.get("source") == "user"
        if is_human and not self._has_task:
            self._has_task = True
            self._kept.append(row.key)
        message = v0.spoken_message(row.value, "user")
        source: Source = "human" if is_human else "injected"
        rest = rest_of(row, message)
        self._enter(row, Said(message, (row.origin("visible"),), rest, source))

    def _spoken(self, row: Row, text: str, source: Source, label: str) -> None:
        message = {"role": "user", "content": parts(text)}
        rest = rest_of(row, message)
        self._enter(row, Said(message, (row.origin("visible"),), rest, source, label))

    def _enter(self, row: Row, said: Said, before: list[Planned] | None = None) -> None:
        slot = Slot()
        self._view.enter(Shown(row.key, item=self._view.item(slot)))
        self._writer.add(unit_of([row], [*(before or []), spoken(row, slot, said)]))

    # -- answers and results --------------------------------------------------------------------

    def _said(self, row: Row, message: dict[str, Any]) -> None:
        """An answer without a call."""
        origin = row.origin("visible", answer=row.key)
        said = Said(message, (origin,), rest_of(row, message))
        self._answer(row, said, "message")

    def _call(self, row: Row, action: str) -> None:
        """An action that the agent takes: the first of its answer, or a further one."""
        value = row.value
        call_id = v0.call_id_of(value, row.key)
        response = text_of(v0.completion(value).get("id"))
        name = text_of(v0.fields(value.get("tool_call_metadata")).get("function_name")) or action
        self._calls[row.key] = call_id, name
        known = self._responses.get(response) if response else None
        if known is not None:
            item, numbers = known
            number = numbers.get(call_id, 0)
            self._view.enter(Shown(row.key, "call", item, row.key, response, number))
            self._keep(row, f"call:{row.key}", counted=False)
            return
        message = v0.answer_message(value, row.key)
        rest = rest_of(row, message, "args" if v0.completion(value) else "")
        said = Said(message, (row.origin(f"call:{row.key}"),), rest)
        if action == "finish":
            self._answer(row, said, "message", v0.finish_message(value))
            return
        item = self._answer(row, said, "call")
        if response:
            ids = [call["id"] for call in message["tool_calls"]]
            self._responses[response] = item, {each: n for n, each in enumerate(ids)}

    def _answer(
        self, row: Row, said: Said, kind: Kind, shown_as: dict[str, Any] | None = None
    ) -> Standing:
        value = row.value
        given = v0.completion(value)
        response = text_of(given.get("id"))
        bill: Mapping[str, Any] = v0.fields(given.get("usage"))
        if not bill:
            bill = metrics_of(value, response, self._billed)
            response = response or text_of(bill.get("response_id"))
        self._billed.add(response)
        made = Answer(
            response,
            lambda rows: said,
            text_of(given.get("model")) or text_of(bill.get("model")) or self._model,
            usage_of(bill),
            text_of(v0.choice(value).get("finish_reason")),
            self._declared,
            shown_as,
        )
        item = self._view.item(made.message)
        item.cleared = shown_as is not None
        call = row.key if kind == "call" else ""
        batch = (response or row.key) if kind == "call" else ""
        self._view.enter(Shown(row.key, kind, item, call, batch))
        self._writer.add(made.unit([row]))
        return item

    def _observation(self, row: Row, observation: str) -> None:
        cause = row.value.get("cause")
        cause = str(cause) if isinstance(cause, int | str) else self._before * self.is_paired
        has_call = bool(v0.fields(row.value.get("tool_call_metadata")))
        if observation in _STATES:
            self._keep(row, counted=False)
        elif observation == "recall":
            text = v0.recalled(row.value)
            if text:
                self._spoken(row, text, "retrieval", "recall")
            else:
                self._keep(row)
        elif cause in self._calls or (cause and has_call):
            self._result(row, cause)
        elif cause in self._commands:
            text = f"\nObserved result of command executed by user:\n{v0.observed(row.value)}"
            self._spoken(row, text, "injected", "command")
        else:
            label = "summary" if observation == "condense" else observation
            self._spoken(row, v0.observed(row.value), "injected", label)

    def _result(self, row: Row, cause: str) -> None:
        metadata = v0.fields(row.value.get("tool_call_metadata"))
        call_id, name = self._calls.get(cause, ("", ""))
        call_id = call_id or text_of(metadata.get("tool_call_id"))
        name = name or text_of(metadata.get("function_name"))
        action = cause if cause in self._calls else ""
        marks = ["visible", "visible"] if self._view.stands(action) else []
        message = v0.result_message(row.value, call_id, name)
        known = text_of(v0.completion(row.value).get("id")) in self._billed
        rest = rest_of(row, message, "tool_call_metadata" if known else "")
        said = Said(message, (row.origin(f"result:{cause}", *marks),), rest)
        slot = Slot()
        self._view.enter(Shown(row.key, "result", self._view.item(slot), action))
        self._writer.add(unit_of([row], result(row, slot, said, v0.is_error(row.value), None)))

    # -- decisions of the agent -----------------------------------------------------------------

    def _condense(self, row: Row) -> None:
        args = v0.fields(row.value.get("args"))
        text, offset = args.get("summary"), args.get("summary_offset")
        has_summary = isinstance(text, str)
        is_count = isinstance(offset, int) and not isinstance(offset, bool) and offset >= 0
        slot = Slot()
        summary = (f"{row.key}-summary", self._view.item(slot, 0)) if has_summary else None
        found = self._view.condense(
            self._forgotten(args),
            summary,
            offset if is_count else None,
            only_last=True,
            whole_batches=True,
            kept=self._kept,
        )
        self._writer.report.notes += [f"{row.file}: {said}" for said in notes_of(found)]
        message = {"role": "user", "content": parts(text)} if has_summary else None
        given = Condensation(
            found,
            message,
            self._condenser,
            "request" if self._requested else "",
            rest=rest_of(row, message or {}),
        )
        self._requested = False
        self._writer.add(compaction(row, slot, given))

    def _forgotten(self, args: Mapping[str, Any]) -> list[str]:
        """The ids that a condensation names, one by one or from the first to the last."""
        named = args.get("forgotten_event_ids")
        if isinstance(named, list):
            return [str(i) for i in named if isinstance(i, int | str)]
        first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if isinstance(first, int) and isinstance(last, int):
            return self._view.numbered(first, last)
        return []


def _declared(slot: Slot, tools: list[Any], row: Row) -> Planned:
    def build() -> Event:
        origin = Origin(records=(row.origin(),))
        return ToolsDeclared(dialect=DIALECT, definitions=Json(tools), origin=origin)

    return Planned(slot, build, row.time)
