"""The recorder: each call is in the log before its request goes out, and its outcome after it.

    call = recorder.begin(session, "openai_chat", body)     durable when it returns
    call.ended(outcome)                                      survives the process when it returns

Whatever goes wrong here never breaks the agent, and delays it by no more than ``patience``: calls
that cannot be written now wait in memory and are written as soon as the log can be, by the next
call or by a thread that tries about every second; what has to be given up is counted, and the log
says so with ``RecordingInterrupted``.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from eventlog.errors import (
    Busy,
    CtxlogError,
    DatabaseFault,
    InputRefused,
    OutcomeUnknown,
)
from eventlog.events import (
    Event,
    MessageAppended,
    ModelFailed,
    RecordingInterrupted,
)
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.outcomes import Failure, Outcome, events_of
from harness.recording.flushing import Flusher
from harness.recording.placing import MOST_HELD, Placing, RecordedStream, drafted
from harness.recording.sessions import session_key
from projections import Live, open_log

OnError = Literal["warn", "raise", "ignore"]

PATIENCE = 0.25
"""Seconds that a call waits at most for a log that another process writes."""

PAUSE = 1.0
"""Seconds that a log which could not be written is left alone: nobody waits for it twice."""

MOST_WAITING = 64 << 20
"""Bytes of requests that wait in memory for a log that cannot be written."""


MOST_SESSIONS = 128
"""Named sessions that are held in memory; another one is read from the log when it goes on."""


class RecordingWarning(RuntimeWarning):
    """Calls could not be recorded when they were made."""


class RecordedCall:
    """A call that was begun. Its end is told once; what is told after that is ignored."""

    def __init__(self, recorder: Recorder, session: StreamKey | None, dialect: Dialect) -> None:
        self.session = session
        """The one that its caller named."""
        self.parent: StreamKey | None = None
        """The one around it."""
        self.dialect = dialect
        self.stream: RecordedStream | None = None
        """Where it is recorded; None as long as it is not in the log."""
        self.position = 0
        """Of its ModelCalled."""
        self.is_answered = False
        """Whether an answer came back."""
        self._recorder = recorder
        self._process = os.getpid()
        self._is_open = True
        self.drafts: tuple[Draft, ...] = ()
        """Its end, where it is not known whether that stands in the log."""

    def ended(self, outcome: Outcome) -> None:
        """What came back."""
        if self._is_open:
            self.is_answered = outcome.answer is not None
        try:
            events = events_of(outcome, self.dialect)
        except Exception as error:
            events = [ModelFailed(call=1, error=f"the answer cannot be kept: {error}")]
        self._end(events)

    def failed(self, error: str, status: int | None = None, detail: Any = None) -> None:
        """No answer came back, or nobody waited for it."""
        self.ended(Outcome(failure=Failure(error, status, detail)))

    def _end(self, events: Sequence[Event]) -> None:
        is_open, self._is_open = self._is_open, False
        if is_open and self._process == os.getpid():  # what a child inherits, its parent ends
            self._recorder._ended(self, events)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Something that could not be written when it happened: a request, or what came back."""

    call: RecordedCall
    body: bytes | None = None
    events: tuple[Event, ...] = ()


class Recorder:
    """Writes calls into a log. Safe in threads, and in a child after ``fork()``.

    It opens a connection of its own. ``session`` is that of calls whose callers name none; without
    it conversations are told apart by what they share. ``on_error``: what to do when a call cannot
    be recorded: ``warn`` once, ``raise`` before its request goes out, or ``ignore``; it is counted
    in any case. What is raised comes out of OpenAI's clients as it is, and is the cause of the
    ``APIConnectionError`` of Anthropic's, which first try again.
    """

    def __init__(
        self,
        log: Live | str | os.PathLike[str],
        *,
        session: StreamKey | str | None = None,
        on_error: OnError = "warn",
        patience: float = PATIENCE,
    ) -> None:
        if on_error not in ("warn", "raise", "ignore"):
            raise InputRefused(f"on_error is 'warn', 'raise' or 'ignore', not {on_error!r}")
        path = log.log.path if isinstance(log, Live) else log
        self.session = None if session is None else session_key(session)
        self.live = open_log(path, lock_timeout=patience)
        self.missed = 0
        """Calls that were given up."""
        self._on_error = on_error
        self._warned = False
        self._sessions: dict[StreamKey | None, Placing] = {}
        self._waiting: deque[_Waiting] = deque()
        self._held = 0
        self._held_there = 0
        """Bytes of the last requests of all conversations that are held in memory."""
        self._resting = 0.0
        """Until when the log is left alone."""
        self._is_writing = False
        self._lost: dict[StreamKey | None, tuple[int, str]] = {}
        """By session: calls that were given up and are not told in the log yet, and why."""
        self._mutex = threading.RLock()
        self._flusher = Flusher(self._flush)
        _OPEN.add(self)

    @property
    def waiting(self) -> int:
        """Calls that are not in the log yet, though they were made."""
        return sum(each.body is not None for each in self._waiting)

    def close(self) -> None:
        """Write what still waits, and close the connection."""
        with self._mutex:
            self._resting = 0.0
            self._write_waiting()
            for each in self._waiting:
                if each.body is not None:
                    self._give_up(each.call, "the log could not be written before the end")
            self._waiting.clear()
            with suppress(CtxlogError):
                for session in list(self._lost):
                    placing = self._placing(session, None)
                    self._tell_of_lost(session, placing.newest or placing.begun())
            self.live.close()

    # -- a call ---------------------------------------------------------------------------------

    def begin(
        self,
        dialect: Dialect,
        body: bytes,
        session: StreamKey | None = None,
        parent: StreamKey | None = None,
    ) -> RecordedCall:
        """Record a call before its request goes out. Raises nothing unless it was asked to.

        ``parent``: the session in which this one began.
        """
        call = RecordedCall(self, session or self.session, dialect)
        call.parent = parent or self.session
        waiting = _Waiting(call, body)
        with self._mutex:
            if self._is_writing:  # by a signal, or while rubbish was collected
                self._wait(waiting)
                return call
            self._is_writing = True
            try:
                if self._write_waiting():
                    self._begin(call, body)
                    return call
                if self._on_error != "raise":
                    self._wait(waiting)
                    return call
                fault = Busy(str(self.live.log.path), PAUSE)
            except (DatabaseFault, OutcomeUnknown) as error:
                self._rest()
                if self._on_error == "raise":
                    self._give_up(call, str(error))
                    raise
                self._wait(waiting)
                self._complain(error)
            except Exception as error:
                self._give_up(call, str(error))
                self._complain(error)
            else:  # it is left alone no longer than before, however many calls come
                self._give_up(call, str(fault))
                raise fault
            finally:
                self._is_writing = False
                self._wake()
        return call

    def cannot(self, error: Exception) -> None:
        """A call that cannot even be told of. Raises nothing unless it was asked to."""
        with self._mutex:
            self._lose(self.session, str(error))
            self._complain(error)

    def _begin(self, call: RecordedCall, body: bytes) -> None:
        placing = self._placing(call.session, call.parent)
        before = placing.held
        call.stream, call.position = placing.begin(call.dialect, body)
        self._held_there += placing.held - before
        self._forget_sessions()
        with suppress(CtxlogError):  # the call stands; this is told with the next one
            self._tell_of_lost(call.session, call.stream)

    def _placing(self, session: StreamKey | None, around: StreamKey | None) -> Placing:
        placing = self._sessions.pop(session, None)
        if placing is None:
            home = session or session_key(f"{uuid4().hex[:12]}")
            parent = str(around) if around not in (None, home) else ""
            placing = Placing(self.live, home, is_named=session is not None, parent=parent)
        self._sessions[session] = placing  # the one that was asked last at the end
        return placing

    def _forget_sessions(self) -> None:
        if len(self._sessions) <= MOST_SESSIONS and self._held_there <= MOST_HELD:
            return
        named = (name for name in list(self._sessions)[:-1] if name is not None)
        for name in named:
            if len(self._sessions) <= MOST_SESSIONS and self._held_there <= MOST_HELD:
                return
            if self._sessions[name].is_idle and name not in self._lost:
                self._held_there -= self._sessions.pop(name).held

    def _ended(self, call: RecordedCall, events: Sequence[Event]) -> None:
        with self._mutex:
            waiting = _Waiting(call, events=tuple(events))
            if self._is_writing:
                self._waiting.append(waiting)
                return
            self._is_writing = True
            try:
                if self._write_waiting() and call.position:
                    self._end(call, events)
                elif self._is_waiting(call) or call.position:
                    self._waiting.append(waiting)
            except (DatabaseFault, OutcomeUnknown) as error:
                self._rest()
                self._waiting.append(waiting)
                self._complain(error, is_over=True)
            except Exception as error:
                self._complain(error, is_over=True)
            finally:
                self._is_writing = False
                self._wake()

    def _end(self, call: RecordedCall, events: Sequence[Event]) -> None:
        stream = call.stream
        assert stream is not None
        if not (call.drafts and stream.stands(self.live, call.drafts[-1])):
            bound = (event.model_copy(update={"call": call.position}) for event in events)
            call.drafts = call.drafts or drafted(bound)
            stream.write(self.live, call.drafts, durable=False)
        stream.open.discard(call.position)
        for draft in call.drafts:
            if isinstance(draft.event, MessageAppended):
                self._sessions[call.session].answered(stream, draft.event.message.value)

    # -- what cannot be written now -------------------------------------------------------------

    def _is_waiting(self, call: RecordedCall) -> bool:
        return any(each.call is call for each in self._waiting)

    def _wait(self, waiting: _Waiting) -> None:
        size = len(waiting.body or b"")
        if self._held + size > MOST_WAITING:
            self._give_up(waiting.call, "the log could not be written, and too much waited for it")
            return
        self._held += size
        self._waiting.append(waiting)

    def _wake(self) -> None:
        if self._waiting:
            self._flusher.wake()

    def _flush(self) -> float | None:
        """Write the first of what waits; in how many seconds the next is to be tried."""
        with self._mutex:
            if not self._waiting:
                self._flusher.slept()
                return None
            self._is_writing = True
            try:
                self._write_waiting(most=1)
            finally:
                self._is_writing = False
            return max(0.0, self._resting - time.monotonic())

    def _write_waiting(self, most: int = sys.maxsize) -> bool:
        """Write what waits, in its order; whether nothing waits any more."""
        if not self._waiting:
            return True
        if time.monotonic() < self._resting:
            return False
        while self._waiting and most > 0:
            first, most = self._waiting[0], most - 1
            try:
                if first.body is not None:
                    self._begin(first.call, first.body)
                elif first.call.position:
                    self._end(first.call, first.events)
            except (DatabaseFault, OutcomeUnknown):
                self._rest()
                return False
            except Exception as error:
                if first.body is not None:
                    self._give_up(first.call, str(error))
            self._waiting.popleft()
            self._held -= len(first.body or b"")
        if self._waiting:
            return False
        self._warned = False
        return True

    def _rest(self) -> None:
        self._resting = time.monotonic() + PAUSE

    def _give_up(self, call: RecordedCall, why: str) -> None:
        self._lose(call.session, why)

    def _lose(self, session: StreamKey | None, why: str) -> None:
        self.missed += 1
        self._lost[session] = (self._lost.get(session, (0, ""))[0] + 1, why)

    def _tell_of_lost(self, session: StreamKey | None, stream: RecordedStream | None) -> None:
        lost = self._lost.get(session)
        if lost is not None and stream is not None:
            event = RecordingInterrupted(calls_missed=lost[0], reason=lost[1])
            stream.write(self.live, drafted([event]))
            del self._lost[session]

    def _complain(self, error: Exception, *, is_over: bool = False) -> None:
        """Say once that calls are not recorded; what is over is never broken by it."""
        if self._on_error == "raise" and not is_over:
            raise error
        if self._on_error == "ignore" or self._warned:
            return
        self._warned = True
        said = error if isinstance(error, CtxlogError) else f"{type(error).__name__}: {error}"
        warnings.warn(f"calls are not recorded now: {said}", RecordingWarning, stacklevel=4)


_OPEN: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for recorder in list(_OPEN):
        recorder._mutex = threading.RLock()  # it may be held by a thread that is not here
        recorder._is_writing = False
        recorder._waiting.clear()  # that, and what was lost, the parent writes
        recorder._held = 0
        recorder._lost.clear()
        recorder._flusher.slept()


def _at_exit() -> None:
    for recorder in list(_OPEN):
        with suppress(CtxlogError):
            recorder.close()


os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(_at_exit)
