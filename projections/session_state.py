"""The statistics of a session as a fold: one step an event, a state that is JSON.

Statistics count the session's own events. A fork begins with its parent's context (a result may
answer an inherited call, an inherited system prompt stands at its calls) and with counts of zero,
so the fold over everything that a stream reads, its parent's events included, gives its statistics.
What goes on in a fork is no count of events: its list of tasks, the summaries in its context.

Undo and rewind take nothing back here: what was called, answered and spent has happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from eventlog.happened import moment, source_moment
from eventlog.recorded import RecordedEvent
from projections.context import is_known
from projections.known_context import READ, KnownContext
from projections.titles import clean, parts_of, title_of
from projections.usage import UsageTotals, usage_totals

Provenance = Literal["exact", "erased", "rebuilt", "partial", "opaque", "drift", "broken"]

WEAKNESS: tuple[Provenance, ...] = (
    "exact",
    "erased",
    "rebuilt",
    "partial",
    "opaque",
    "drift",
    "broken",
)
"""The verdicts that rank, from the strongest to the weakest."""


class SessionState(BaseModel):
    """How far the statistics of one stream are. Changed in place by ``evolve``."""

    key: str = ""
    parent: str | None = None
    """The stream that it was forked from, or that started or was copied to it."""
    is_fork: bool = False
    """``parent`` is what it was forked from here, and not what its source says."""
    is_subagent: bool = False
    parent_call: str = ""
    """Of a sub-agent: the id of the call of a tool there that started it."""
    deleted: bool = False
    format: str = ""
    file: str = ""
    """The imported file that it came from, as its importer names it."""
    position: int = 0
    updated: int = 0
    """When it last went on, in microseconds since 1970, UTC. Notes do not move it."""
    is_observed: bool = False
    """Another program's session, which was brought in."""
    is_clocked: bool = False
    """``updated`` is of the source's own clock."""
    titled: str = ""
    started_title: str = ""
    first_said: str | None = None
    inherited_title: str = ""
    inherited_is_given: bool = False
    """The inherited title was given there."""
    events: int = 0
    items: int = 0
    erased_items: int = 0
    human_messages: int = 0
    answers: int = 0
    calls: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    orphan_tool_results: int = 0
    compactions: int = 0
    placeholders: int = 0
    unrecognized: int = 0
    usage: UsageTotals | None = None
    billed_answers: int = 0
    usage_answers: dict[str, int] = {}
    """By figure of ``usage``, of how many answers it is known."""
    open_calls: dict[str, int] = {}
    """Tool calls of this session without a result, by id: ids repeat."""
    inherited_calls: dict[str, int] = {}
    context: KnownContext = KnownContext()
    verdicts: dict[str, int] = {}
    """How many answered calls have which verdict."""
    unanswered: dict[int, str] = {}
    """Calls whose outcome is not known yet, with their verdict: they do not rank."""
    unjudged: list[int] = []
    """Answered calls whose request was recorded and not yet compared with what the log holds."""
    summaries: dict[str, int] = {}
    """Characters of what compactions put in, by the items that they became."""

    @property
    def messages(self) -> int:
        """What people said and the model answered."""
        return self.human_messages + self.answers

    @property
    def tasks(self) -> int:
        """Of its list of tasks."""
        return self.context.tasks[0]

    @property
    def open_tasks(self) -> int:
        """Those of them that are neither done nor dropped."""
        return self.context.tasks[1]

    @property
    def summary_length(self) -> int:
        """Characters of the summaries that stand in its context."""
        marks = self.context.standing
        return sum(n for item, n in self.summaries.items() if marks.get(item) == "summary")

    @property
    def is_titled(self) -> bool:
        """Whether its title was given, and is not what was said first."""
        return bool(self.titled or self.started_title or self.inherited_is_given)

    @property
    def own_title(self) -> str:
        """The title, where it is not that of the session that this one was forked from."""
        return "" if self.title == self.inherited_title else self.title

    @property
    def title(self) -> str:
        """What the session is called; a fork without a title of its own shows its parent's."""
        return self.titled or self.started_title or self.inherited_title or self.first_said or ""

    @property
    def provenance(self) -> Provenance | None:
        """The weakest verdict; None when no call was answered. Unjudged is never ``exact``."""
        return weakest([*self.verdicts, *(["rebuilt"] if self.unjudged else [])])

    def judge(self, verdicts: Iterable[str]) -> None:
        """Take the verdicts on the unjudged calls, in their order."""
        for verdict in verdicts:
            self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1
        self.unjudged = []


def weakest(verdicts: Iterable[str]) -> Provenance | None:
    """The provenance of calls with these verdicts; None where there are none."""
    found = set(verdicts)
    return next((name for name in reversed(WEAKNESS) if name in found), None)


class SessionStatistics:
    """The projection. It reads no request: calls with a manifest stay unjudged."""

    def initial(self) -> SessionState:
        """Before the first event."""
        return SessionState(context=KnownContext())

    def fold(self, events: Iterable[RecordedEvent]) -> SessionState:
        """The state after everything that a stream reads."""
        state = self.initial()
        for event in events:
            self.evolve(state, event)
        return state

    def evolve(self, state: SessionState, event: RecordedEvent) -> SessionState:
        """The same state after one more event."""
        kind = event.type
        known = is_known(kind, event.schema_version)
        if known and kind == "session_forked":
            _fork(state, event)
        state.key = str(event.stream)
        state.position = event.position
        _went_on(state, event)
        state.events += 1
        if not known:
            return state
        before = state.items
        if kind in READ:
            state.context.evolve(event)
        if kind == "message_appended":
            _message(state, event)
        elif kind == "tool_result_recorded":
            state.items += 1
            _result(state, str(event.data.get("tool_call_id", "")))
        elif kind == "model_called":
            state.calls += 1
            state.unanswered[event.position] = _verdict(state.context, event.data)
        elif kind in ("model_responded", "model_failed"):
            _ended(state, event)
        else:
            step = _STEPS.get(kind)
            if step is not None:
                step(state, event)
        if event.erased:
            state.erased_items += state.items - before
        return state


def _fork(state: SessionState, event: RecordedEvent) -> None:
    """Keep what the fork goes on from, and begin to count anew."""
    fresh = SessionState(
        parent=event.data.get("parent"),
        is_fork=True,
        inherited_title=state.title,
        inherited_is_given=state.is_titled,
        context=state.context,
        summaries=state.summaries,
        inherited_calls={
            call: state.open_calls.get(call, 0) + state.inherited_calls.get(call, 0)
            for call in {**state.inherited_calls, **state.open_calls}
        },
    )
    if event.data.get("ownership") == "observed":
        fresh.format, fresh.file, fresh.is_observed = state.format, state.file, True
    for name in SessionState.model_fields:
        setattr(state, name, getattr(fresh, name))


NOTES = frozenset(
    {
        "item_pinned",
        "item_unpinned",
        "redacted",
        "session_deleted",
        "session_titled",
        "task_classified",
    }
)
"""What is said about a session, and does not carry it on."""


def _went_on(state: SessionState, event: RecordedEvent) -> None:
    """Keep when the session last went on.

    What was brought in went on when its source says. An event of it without a time of its own was
    recorded when it was brought in, or decided since: neither is a time of that session, unless
    nothing in it has one.
    """
    at = source_moment(event.occurred_at)
    is_later = at is None and state.is_observed and state.is_clocked
    if state.updated and (is_later or event.type in NOTES):
        return
    state.updated = moment(event.occurred_at, event.recorded_at)
    state.is_clocked = at is not None


def _message(state: SessionState, event: RecordedEvent) -> None:
    data = event.data
    state.items += 1
    answers, said = 0, list[str]()
    for part in parts_of(data):
        if part.kind == "text":
            said.append(part.text)
        elif part.kind == "call":
            call = clean(part.id)
            state.tool_calls += 1
            state.open_calls[call] = state.open_calls.get(call, 0) + 1
        elif part.kind == "result":
            answers += 1
            _result(state, part.id)
    source = data.get("source")
    is_task = source == "injected" and data.get("label") == "task"
    if (source == "human" or is_task) and not answers and state.first_said is None:
        # Of a sub-agent the task that it was given is what a person says elsewhere.
        state.first_said = title_of("\n".join(said)) or None
    if source == "human" and not answers:
        state.human_messages += 1
    elif source == "model" and data.get("call") is None:
        # Of a call, ModelResponded is the answer: some agents write one answer as many messages.
        state.answers += 1


def _result(state: SessionState, call: str) -> None:
    state.tool_results += 1
    call = clean(call)
    for waiting in (state.open_calls, state.inherited_calls):
        left = waiting.get(call, 0)
        if left:
            waiting[call] = left - 1
            if left == 1:
                del waiting[call]
            return
    state.orphan_tool_results += 1


_RECORDED = "recorded"


def _verdict(context: KnownContext, call: Mapping[str, Any]) -> str:
    """How well it is known what a call saw, as far as no bytes need to be compared."""
    if call.get("manifest") is not None:
        return _RECORDED
    if context.is_opaque:
        return "opaque"
    return "rebuilt" if context.has_system else "partial"


def _ended(state: SessionState, event: RecordedEvent) -> None:
    data = event.data
    call = data.get("call", 0)
    verdict = state.unanswered.pop(call, None)
    if verdict == "rebuilt" and state.context.lacks_tools:
        verdict = "partial"
    if verdict == _RECORDED:
        state.unjudged.append(call)
    elif verdict is not None:
        state.verdicts[verdict] = state.verdicts.get(verdict, 0) + 1
    if event.type == "model_responded":
        state.answers += 1
        if data.get("usage") is not None:
            state.billed_answers += 1
            told = usage_totals(data["usage"])
            state.usage = (state.usage or UsageTotals()) + told
            for name, count in told:
                state.usage_answers[name] = state.usage_answers.get(name, 0) + (count is not None)


def _started(state: SessionState, event: RecordedEvent) -> None:
    data = event.data
    state.started_title = data.get("title", "")
    state.format = data.get("format", "")
    state.is_observed = data.get("ownership") == "observed"
    metadata = data.get("metadata")
    file = metadata.get("file") if isinstance(metadata, dict) else None
    state.file = clean(file) if isinstance(file, str) else ""
    if data.get("parent_session"):
        state.parent = data["parent_session"]
        # A copy that an agent made is gone on with by people, as any session is.
        state.parent_call = clean(data.get("parent_call") or "")
        state.is_subagent = not (isinstance(metadata, dict) and metadata.get("forked") is True)


def _titled(state: SessionState, event: RecordedEvent) -> None:
    state.titled = event.data.get("title", "")


def _deleted(state: SessionState, event: RecordedEvent) -> None:
    state.deleted = True


def _resumed(state: SessionState, event: RecordedEvent) -> None:
    state.deleted = False


def _compacted(state: SessionState, event: RecordedEvent) -> None:
    brought = event.data.get("messages", ())
    state.compactions += 1
    state.items += len(brought)
    for number, new in enumerate(brought):
        told = sum(len(part.text) for part in parts_of(new) if part.kind == "text")
        state.summaries[f"{event.position}.{number}"] = told


def _repaired(state: SessionState, event: RecordedEvent) -> None:
    state.items += len(event.data.get("inserted", ()))


def _substituted(state: SessionState, event: RecordedEvent) -> None:
    state.placeholders += 1


def _unrecognized(state: SessionState, event: RecordedEvent) -> None:
    if event.data.get("kind", "unknown") != "known":
        state.unrecognized += 1


_STEPS: dict[str, Callable[[SessionState, RecordedEvent], None]] = {
    "session_started": _started,
    "session_titled": _titled,
    "session_deleted": _deleted,
    "session_resumed": _resumed,
    "context_compacted": _compacted,
    "repair_applied": _repaired,
    "placeholder_substituted": _substituted,
    "record_unrecognized": _unrecognized,
}
