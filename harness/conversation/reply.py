"""One reply of the agent: calls of the model and of tools, until there is an answer.

Each step is appended before the next begins. What ends a reply early is recorded too: whoever
interrupts one leaves no tool call open.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
import uuid
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ValidationError

from eventlog import messages
from eventlog.errors import EventInvalid, InputRefused, LogClosed, WrongExpectedVersion
from eventlog.events import (
    Event,
    MessageAppended,
    OutputProduced,
    ReplyEnded,
    ReplyStarted,
    ToolCallStarted,
    ToolResultRecorded,
)
from eventlog.jsonvalue import Json, loads
from eventlog.messages import Call
from harness.conversation.asking import Asking
from harness.conversation.beginning import check_stands
from harness.conversation.happenings import (
    Answered,
    CallFailed,
    Calling,
    Changed,
    Ended,
    Happening,
    ToolCalled,
    ToolEnded,
)
from harness.conversation.permitting import permitted
from harness.tools.attempt import ToolOutcome
from harness.tools.running import Pending, run_all, runs_alone

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

Happenings = Generator[Happening, None, None]

Ending = Literal["answered", "interrupted", "failed", "exhausted"]

INTERRUPTED = "interrupted by the user while it ran: what it did until then is unknown"
NOT_RUN = "not run: the user interrupted the reply"

UNHEARD = "interrupted by the user before its answer was read"

_SHARES = (0.6, 0.35)
"""Of its tokens, what a context is brought down to when a model refuses it as too large."""

_ROOM = 0.9
"""Of the model's window, what a context may take: the answer, and what the count does not know,
need the rest."""

_OUTPUTS = 3
"""Answers in a row that are not the output that was asked for, before the reply fails."""


class Reply:
    """One reply, under way."""

    def __init__(
        self, conversation: Conversation, output: type[BaseModel] | None = None, reply_id: str = ""
    ) -> None:
        self._of = conversation
        self._output = output
        self.id = reply_id or uuid.uuid4().hex[:12]
        self._cancelled = threading.Event()
        self._reduced = self._refused = 0
        self._is_over = False

    def begin(self, *opening: MessageAppended) -> Happenings:
        """Append what begins it, and go on until there is an answer."""
        return self._alone(self._whole(opening))

    def go_on(self) -> Happenings:
        """Run what tools wait, and ask the model, as often as it takes."""
        return self._alone(self._whole(()))

    def _alone(self, whole: Happenings) -> Happenings:
        """A conversation has one reply at a time."""
        self._whole_of = weakref.ref(whole)  # no more: one that nobody reads is closed at once
        return whole

    def _first(self) -> None:
        """Close a reply that nobody read to its end. Raises InputRefused for one that runs."""
        earlier = self._of.under_way()
        if earlier is not None:
            if inspect.getgeneratorstate(earlier) == inspect.GEN_RUNNING:
                raise InputRefused("a reply of this conversation runs: in another thread or a tool")
            earlier.close()
        self._of.under_way = self._whole_of

    def _whole(self, opening: Sequence[MessageAppended]) -> Happenings:
        of = self._of
        self._first()
        try:
            with of.writing():
                of.sending.close(UNHEARD)
                of.caught_up()
                of.translate()  # a rewind may have gone back behind the first time
                if opening:
                    yield from self._opened(opening)
                elif not of.is_waiting():  # the answer could not be recorded before, and stands now
                    yield self._end("answered")
                    return
                yield from self._learning()
        except (KeyboardInterrupt, GeneratorExit):
            with contextlib.suppress(LogClosed):  # nobody reads on, and the log is left
                self._interrupted(is_new=bool(opening))
            raise

    def _learning(self) -> Iterator[Happening]:
        """All steps; what is learned of them is told before it is said how the reply ended."""
        with contextlib.closing(self._steps()) as steps:
            for each in steps:
                if isinstance(each, Ended):
                    yield from self._of.remembering.learn()
                yield each

    def _opened(self, opening: Sequence[MessageAppended]) -> Iterator[Happening]:
        of = self._of
        schema = Json(self._output.model_json_schema()) if self._output is not None else None
        self._look()
        check_stands(of.live, of.key)
        yield from of.remembering.renewed()  # whoever summarises now is not given it either
        first = opening[0]
        if of.remembering.is_first(first):  # a process that died learned nothing more
            yield from of.remembering.learn()
        shown = of.remembering.opening(first)
        known = [shown.message] if shown is not None and shown.made.text else []
        front = [event for each in known for event in of.charge.coming(each)]
        of.charge.beside(len(known))
        events = [event for each in opening for event in of.charge.coming(each)]
        at = 0
        if shown is not None and known:  # right behind it: no fork at what is said lacks it
            at = of.version + 1 + front.index(shown.message)
            asked = of.version + 2 + len(front) + events.index(first)
            front.append(of.remembering.told(shown, at, asked))
        of.append(*front, *events, ReplyStarted(reply_id=self.id, output_schema=schema))
        if first.source == "human":
            of.remembering.began()
        if shown is not None:
            yield of.remembering.happened(shown, at)
        yield from self._changed()

    def _look(self) -> None:
        """What was erased meanwhile is not sent again."""
        of, known = self._of, self._of.version
        if of.stream.is_stale:
            of.recover()
            if of.version != known:
                raise WrongExpectedVersion(str(of.key), known, of.version)

    def _steps(self) -> Happenings:
        of = self._of
        yield from self._tools(of.open_calls())
        for _ in range(of.most_calls):
            message = yield from self._ask()
            if message is None:
                return
            calls = messages.calls("openai_chat", message)
            if calls:
                yield from self._tools(calls)
            elif self._output is None or self._produced(message):
                ended = self._end("answered")
                of.title_if_due()
                yield ended
                return
            elif self._refused == _OUTPUTS:
                yield self._end("failed", f"{_OUTPUTS} answers were not the output")
                return
        yield self._end("exhausted", f"{of.most_calls} calls were made for one reply")

    # -- the model ------------------------------------------------------------------------------

    def _ask(self) -> Generator[Happening, None, Mapping[str, Any] | None]:
        """Ask the model once; its message, or None where the reply ended instead."""
        of = self._of
        while True:
            self._look()
            yield from of.remembering.renewed()
            yield from self._fitted()
            of.settle()
            asking = Asking(of, self._output)
            started = False
            for text in asking.pieces():
                if not started:
                    started = True
                    of.caught_up()
                    yield from self._changed()
                    yield Calling(asking.position, of.tokens)
                if text is not None:
                    yield text
            of.caught_up()
            answer = asking.answer
            if answer is not None:
                if of.stream.was_overtaken:
                    raise of.stream.overtaken()
                usage = answer.responded(1).usage
                said = messages.text("openai_chat", answer.message) if answer.is_said else ""
                calls = len(messages.calls("openai_chat", answer.message)) if answer.is_said else 0
                yield Answered(asking.ended_at, said, calls, answer.finish_reason, usage)
                if answer.is_said:
                    return answer.message
                yield self._end("failed", "the model's answer held no message")
                return None
            is_smaller = asking.is_too_large and self._reduce()
            yield CallFailed(asking.error, is_tried_again=is_smaller)
            if not is_smaller:
                yield self._end("failed", asking.error)
                return None
            yield from self._changed()

    def _fitted(self) -> Iterator[Happening]:
        """Bring a context down that is larger than the model's window."""
        of = self._of
        if of.window is None:
            return
        room = max(1, int(of.window * _ROOM) - of.tool_tokens)
        while of.charge.tokens > room and self._reduce(room / of.charge.tokens):
            yield from self._changed()

    def _reduce(self, most: float = 1.0) -> bool:
        """Bring the context down, as far as that was not tried yet; whether anything changed."""
        of = self._of
        while self._reduced < len(_SHARES):
            share = min(most, _SHARES[self._reduced])
            self._reduced += 1
            before = of.charge.tokens
            events = of.charge.reduced(share)
            if events:
                of.append(*events)
            if of.charge.tokens < before:
                return True
        return False

    def _produced(self, message: Any) -> bool:
        """Take an answer as the output that was asked for; whether it is."""
        of, text = self._of, messages.text("openai_chat", message)
        assert self._output is not None
        try:
            self._output.model_validate_json(text)
            of.append(OutputProduced(reply_id=self.id, value=Json(loads(text))))
        except (ValidationError, EventInvalid, ValueError) as error:
            self._refused += 1
            told = (
                f"That is not the output that was asked for: {error}. Answer with the JSON alone."
            )
            of.append(*of.charge.coming(of.injected(told, "output-refused")))
            return False
        return True

    # -- tools ----------------------------------------------------------------------------------

    def _tools(self, calls: Sequence[Call]) -> Iterator[Happening]:
        """Run what may run, and record what came of each call.

        A call is judged when those with effects before it have ended: what they did, a link that
        they made, may change what it is about.
        """
        of = self._of
        together: list[Pending] = []
        for call in calls:
            tool = of.tools.find(call.name, of.state.tools.groups)
            alone = tool is not None and runs_alone(tool)
            if alone:
                yield from self._run(together)
                together = []
            found = permitted(of, call)
            if isinstance(found, ToolOutcome):
                yield from self._ended_tool(found)
                continue
            together.append(Pending(found, call.id, call.arguments, lambda: of.state))
            if alone:
                yield from self._run(together)
                together = []
        yield from self._run(together)

    def _run(self, pending: Sequence[Pending]) -> Iterator[Happening]:
        """Run calls that were allowed, beside each other."""
        of = self._of

        def starting(call: Pending) -> None:
            name, effects = call.tool.name, call.tool.has_effects
            of.append(ToolCallStarted(tool_call_id=call.call_id, name=name, has_effects=effects))

        for each in pending:
            yield ToolCalled(each.call_id, each.tool.name, each.arguments)
        outcomes, last = run_all(pending, self._cancelled, starting), None
        try:
            for outcome in outcomes:
                last = outcome
                yield from self._ended_tool(outcome)
        except KeyboardInterrupt:
            self._cancelled.set()
            self._stopped([last] if last is not None else [], outcomes)
            raise
        if self._cancelled.is_set():
            raise KeyboardInterrupt

    def _stopped(self, last: Sequence[ToolOutcome], rest: Iterator[ToolOutcome]) -> None:
        """Interrupted as a result was recorded: record it, and what becomes of the other calls."""
        self._of.recover()
        for outcome in (*last, *rest):
            if any(call.id == outcome.tool_call_id for call in self._of.open_calls()):
                self._recorded(outcome)

    def _ended_tool(self, outcome: ToolOutcome) -> Iterator[Happening]:
        position = self._recorded(outcome)
        yield from self._changed()
        yield ToolEnded(
            position,
            outcome.tool_call_id,
            outcome.name,
            outcome.content,
            outcome.is_error,
            outcome.duration_ms,
        )

    def _recorded(self, outcome: ToolOutcome) -> int:
        """Record a result, with what is decided about it and what the tool recorded; its position.

        What a tool did has happened: it is recorded also where another process was faster, and only
        then the reply ends.
        """
        of = self._of
        result = ToolResultRecorded(
            tool_call_id=outcome.tool_call_id,
            name=outcome.name,
            dialect="openai_chat",
            is_error=outcome.is_error,
            duration_ms=outcome.duration_ms,
            content=outcome.content,
        )
        lost: WrongExpectedVersion | None = None
        while True:
            try:
                if not of.is_sure:  # interrupted as it began
                    of.recover()
                decided = of.charge.coming(result)
                position = of.append(*decided, *outcome.events) + decided.index(result)
                break
            except WrongExpectedVersion as error:
                lost = lost or error
                of.recover()
        if lost is not None:
            raise lost
        return position

    # -- its end --------------------------------------------------------------------------------

    def _end(self, outcome: Ending, detail: str = "") -> Ended:
        self._of.append(ReplyEnded(reply_id=self.id, outcome=outcome, detail=detail[:500]))
        self._is_over = True
        return Ended(outcome, detail)

    def _interrupted(self, is_new: bool) -> None:
        """Close what is open, so that the session goes on from here."""
        of = self._of
        self._cancelled.set()
        if self._is_over:
            return
        if not of.is_sure:
            of.recover()
        now = of.state.reply
        if is_new and not (now.reply_id == self.id and now.is_under_way):
            return  # nothing of it stands, or all of it
        of.sending.close(UNHEARD)
        of.caught_up()
        events: list[Event] = []
        for call in of.open_calls():
            text = INTERRUPTED if of.was_started(call) else NOT_RUN
            events += of.charge.coming(
                ToolResultRecorded(
                    tool_call_id=call.id,
                    name=call.name,
                    dialect="openai_chat",
                    is_error=True,
                    content=text,
                )
            )
        of.append(*events, ReplyEnded(reply_id=self.id, outcome="interrupted"))

    def _changed(self) -> Iterator[Happening]:
        changes = self._of.charge.changes()
        if changes:
            yield Changed(changes, self._of.charge.tokens)
