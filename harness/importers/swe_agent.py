"""SWE-agent trajectories: the history as items, and each request that the file holds as a call.

The history is everything that was said; what a step saw of it goes through ``observe``, so that an
elided observation is a placeholder and its original stays. The messages are those that SWE-agent
sends; what else an entry says is kept beside them. The format has no ids, no times and no usage of
a call. The context after the end (version 1.0) was never sent: what it changes is recorded, and no
call; in a file that goes on it is the next request.
"""

from __future__ import annotations

from typing import Any, Final

from eventlog import Json
from eventlog.events import (
    DecidedBy,
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    Origin,
    OriginRecord,
    PlaceholderSubstituted,
    Source,
    ToolResultRecorded,
)
from harness.importers.conversations import glimpse, read_document
from harness.importers.job import Job
from harness.importers.run_documents import NOWHERE, RunDocument, names
from harness.importers.stream_writer import StreamWriter
from harness.importers.trajectories import (
    PLACEHOLDER,
    Attempt,
    Entries,
    Entry,
    Step,
    as_sent,
    attempts_of,
    beside,
    beside_step,
    identity_of,
    is_trajectory,
)
from harness.importers.true_requests import Seen, TrueRequests
from harness.importers.units import Planned, Slot
from projections import runs
from projections.dialects import dialect as dialect_of
from projections.items import OBSERVATION
from projections.observe import Request

FORMAT = "swe-agent"
IMPORTER_VERSION = 1
DIALECT: Final = "openai_chat"
AGENT = DecidedBy(name="swe-agent")
_NAMES = frozenset({"trajectory", "history", "attempts", "environment", "replay_config", "info"})


def recognizes(value: Any) -> bool:
    """Whether a value is a trajectory of SWE-agent, or holds several."""
    if not isinstance(value, dict):
        return False
    attempts = value.get("attempts")
    tried = attempts if isinstance(attempts, list) else []
    runs = (each for each in (value, *tried) if isinstance(each, dict))
    return any(all(isinstance(run.get(n), list) for n in ("trajectory", "history")) for run in runs)


def begins(text: str, cut: bool) -> bool:
    """Whether a text begins as one does: with a list of steps, or only with names that it has."""
    found, torn = glimpse(text)
    if not torn:
        return recognizes(found)
    names = {*found, torn}
    if not names & {"trajectory", "history", "attempts"}:
        return False
    return names <= _NAMES or ("trajectory" in names and '"observation"' in text)


def may_be(value: Any) -> bool:
    """Whether a value may be a trajectory."""
    return is_trajectory(value)


def read(job: Job) -> None:
    """Import the run, or each of the runs, of a file."""
    record = read_document(job.source)
    if job.waits(record):
        return
    if record.fault or not is_trajectory(record.value):
        fault = record.fault or "no trajectory"
        job.report.error = f"{job.source.name}: {fault}"
        return
    attempts = attempts_of(record.value)
    for number, (name, attempt) in enumerate(
        zip(names(job, len(attempts)), attempts, strict=True), 1
    ):
        writer = job.open_writer(name, FORMAT, name)
        Run(job, writer, attempt).write(name, number)
        writer.finish()


class Run:
    """One run of the agent, handed to its stream's writer."""

    def __init__(self, job: Job, writer: StreamWriter, attempt: Attempt) -> None:
        self._writer = writer
        self._stream = TrueRequests(job.log, writer)
        add = self._stream.add if attempt.holds_contexts else writer.add
        self._run = RunDocument(job, writer, FORMAT, add)
        self._attempt = attempt
        self._lines: dict[int, Entry] = {}
        """The entries of the history by their items' positions."""
        self._elided: dict[str, int] = {}
        """By item: the request that showed it elided for the first time."""
        self._requests = 0
        self._spoke = False
        """Whether a person did."""

    def write(self, name: str, number: int) -> None:
        """Hand over all of it."""
        self._run.start(name, number, self._attempt.metadata, IMPORTER_VERSION)
        for entry in self._attempt.entries:
            if entry.result is None:
                self._writer.pause()  # not between a call and its result: they are one append
            for step in entry.lost:
                self._lost(step)
            self._entry(entry)
        for step in self._attempt.lost:
            self._lost(step)
        if self._attempt.after is not None:
            self._see(self._attempt.after)
        for info in self._attempt.infos:
            self._run.end(info)

    # -- the history ----------------------------------------------------------------------------

    def _entry(self, entry: Entry) -> None:
        slot = Slot()
        if entry.message is None:
            kept = self._run.kept(entry.value, entry.line, _origin(entry, {}))
            self._add(entry, [kept])
        elif entry.is_answer:
            self._answer(entry, slot)
        else:
            build = self._result if entry.role == "tool" else self._message
            self._run.add(
                self._run.unit([identity_of(entry.value)], [Planned(slot, lambda: build(entry))])
            )
        if slot.position:
            self._lines[slot.position] = entry

    def _add(self, entry: Entry, events: list[Planned], *more: Any) -> None:
        self._run.add(self._run.unit([identity_of(entry.value), *more], events))

    def _message(self, entry: Entry) -> Event:
        source, label = self._speaker(entry)
        pairs = () if entry.result is None else (f"result:{entry.result}",)
        return MessageAppended(
            dialect=DIALECT,
            source=source,
            label=label,
            message=Json(entry.message),
            origin=_origin(entry, self._rest(entry), *pairs),
        )

    def _speaker(self, entry: Entry) -> tuple[Source, str]:
        if entry.is_demo:
            return "injected", "demonstration"
        if entry.is_observation:
            return "injected", OBSERVATION
        if entry.role == "user":
            self._spoke = True
            return "human", ""
        return "injected", ""

    def _result(self, entry: Entry) -> Event:
        return ToolResultRecorded(
            tool_call_id=entry.result or "",
            name=entry.tool,
            dialect=DIALECT,
            duration_ms=_milliseconds(entry.step),
            native=Json(entry.message),
            origin=_origin(entry, self._rest(entry), f"result:{entry.result}"),
        )

    def _answer(self, entry: Entry, slot: Slot) -> None:
        step, call = entry.step, Slot()
        synthetic = step is not None and step.is_synthetic
        origin = _origin(entry, self._rest(entry))
        stamped = [step.rest] if step is not None else []

        def said() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source="injected" if synthetic else "model",
                label="synthetic" if synthetic else "",
                call=call.position or None,
                message=Json(entry.message),
                origin=origin,
            )

        if synthetic:
            self._add(entry, [Planned(slot, said)], *stamped)
            return
        here = Origin(records=(OriginRecord(line=entry.line, type="step"),))
        called = self._call(step, call, here)
        ended = Planned(Slot(), lambda: ModelResponded(call=call.position, origin=here))
        self._add(entry, [called, Planned(slot, said), ended], *stamped)

    def _rest(self, entry: Entry) -> dict[str, Any]:
        """What the file says of an entry that the message does not."""
        rest, step = beside(entry.value, entry.message or {}), entry.step
        if step is not None:
            before, behind = (self._attempt.neighbour(entry, n) for n in (-1, 1))
            if entry.is_answer:
                told = behind if behind is not None and behind.step is step else None
                more = beside_step(step, entry, told)[0]
            else:
                assert before is not None
                more = beside_step(step, before, entry)[1]
            if more:
                rest["step"] = more
        return rest

    # -- what the model saw ---------------------------------------------------------------------

    def _lost(self, step: Step) -> None:
        """A step whose answer stands in no history."""
        self._writer.pause()
        said, here = step.get("response"), NOWHERE
        if not isinstance(said, str) or not (said or step.request):
            kept = self._run.kept(step.value, 1, here, "known")
            self._run.add(self._run.unit([step.value], [kept]))
            return
        call, rest = Slot(), {k: v for k, v in step.rest.items() if k != "response" and v}
        called = self._call(step, call, here)

        def answer() -> Event:
            return MessageAppended(
                dialect=DIALECT,
                source="model",
                label="unused",
                call=call.position,
                message=Json({"role": "assistant", "content": said}),
                origin=Origin(records=(), rest=Json({"step": rest})),
            )

        ended = Planned(Slot(), lambda: ModelResponded(call=call.position, origin=here))
        self._run.add(self._run.unit([step.rest], [called, Planned(Slot(), answer), ended]))

    def _call(self, step: Step | None, slot: Slot, origin: Origin) -> Planned:
        """The call of a step; what its request changes is appended before."""
        if step is not None and step.request is not None:
            seen = self._see(step.request)
            more = self._more(seen, step.request)
            return seen.call(slot, origin.model_copy(update={"rest": more}))
        model = self._attempt.model
        called = ModelCalled(model=model, dialect=DIALECT, origin=origin)
        return Planned(slot, lambda: called)

    def _see(self, entries: Entries) -> Seen:
        """Read a context, and append what it changes."""
        self._requests += 1
        number = self._requests
        messages = [message for entry in entries if (message := as_sent(entry)) is not None]
        request = Request(
            dialect=DIALECT,
            model=self._attempt.model,
            entries=dialect_of(DIALECT).from_request({"messages": messages}),
            belongs=True,
        )
        seen = self._stream.see(request, lambda event: self._dressed(event, number))
        if seen.changes:
            self._run.add(self._run.unit([[identity_of(entry) for entry in entries]], seen.changes))
        return seen

    def _dressed(self, event: Event, number: int) -> Event:
        """An event that was read off the ``number``-th context."""
        update: dict[str, Any] = {"origin": NOWHERE}
        if isinstance(event, PlaceholderSubstituted):
            update |= {"by": AGENT, "pass_id": f"request {number}"}
            first = event.content.startswith(PLACEHOLDER)
            if first and self._elided.setdefault(event.item, number) == number:
                update["origin"] = self._elision(event.item)
        elif isinstance(event, MessageAppended) and event.source == "human" and self._spoke:
            update |= {"source": "injected", "label": "requery"}
        return event.model_copy(update=update)

    def _elision(self, item: str) -> Origin:
        entry = self._lines.get(runs.position_of(runs.origin(item)))
        if entry is None:
            return NOWHERE
        pair = f"placeholder:{entry.line}"
        return Origin(records=(OriginRecord(line=entry.line, type="elided", pairs=(pair,)),))

    def _more(self, seen: Seen, entries: Entries) -> Json | None:
        """What entries of a request say that neither the request nor the history holds."""
        found: dict[str, Any] = {}
        for number, (piece, entry) in enumerate(zip(seen.pieces, entries, strict=True)):
            at = self._lines.get(runs.position_of(piece.item))
            rest = beside(entry, as_sent(entry) or {})
            if at is None or (rest and rest != beside(at.value, at.message or {})):
                found[str(number)] = rest
        return Json({"beside": found}) if any(found.values()) else None


def _origin(entry: Entry, rest: dict[str, Any], *pairs: str) -> Origin:
    calls = tuple(f"call:{call.key}" for call in entry.calls)
    record = OriginRecord(
        line=entry.line,
        type="entry",
        message=f"#{entry.line}" if entry.role == "assistant" else "",
        pairs=(*calls, *pairs),
    )
    return Origin(records=(record,), rest=Json(rest) if rest else None)


def _milliseconds(step: Step | None) -> int | None:
    seconds = step.get("execution_time") if step is not None else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 <= seconds < 1e9:
        return None
    return round(seconds * 1000)
