"""The recorder: each call is in the log before its request goes out, and its outcome after it.

    call = recorder.begin(session, "openai_chat", body)     durable when it returns
    call.ended(outcome)                                      survives the process when it returns

Whatever goes wrong here never breaks the agent, and delays it by no more than ``patience``: calls
that cannot be written now wait in memory and are written as soon as the log can be, by the next
call or by a thread that tries about every second; what has to be given up is counted, and the log
says so with ``RecordingInterrupted``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from eventlog.errors import (
    Busy,
    CtxlogError,
    DatabaseFault,
    LogClosed,
    OutcomeUnknown,
    WrongExpectedVersion,
)
from eventlog.events import Event, MessageAppended, RecordingInterrupted
from eventlog.messages import Dialect
from eventlog.recorded import StreamKey
from harness.exchange.sent_keys import Keys, text_without_keys
from harness.recording import lifetimes
from harness.recording.calls import RecordedCall as RecordedCall
from harness.recording.complaints import Complaints, OnError
from harness.recording.complaints import RecordingWarning as RecordingWarning
from harness.recording.flushing import Flusher
from harness.recording.placings import Placings
from harness.recording.posted import Posted
from harness.recording.sessions import NOWHERE, Began, session_key
from harness.recording.streams import RecordedStream, drafted
from harness.recording.waiting import Waiting
from projections import Live, open_log

PATIENCE = 0.25
"""Seconds that a call waits at most for a log that another process writes."""

PAUSE = 1.0
"""Seconds that a log which could not be written is left alone: nobody waits for it twice."""

STORING = 5.0
"""Seconds that is waited for a log that keeps a conversation for its framework."""

MOST_WAITING = 64 << 20
"""Bytes of requests that wait in memory for a log that cannot be written."""


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
        self._complaints = Complaints(on_error)
        path = log.log.path if isinstance(log, Live) else log
        self.session = None if session is None else session_key(session)
        self.live = open_log(path, lock_timeout=patience)
        self.missed = 0
        """Calls that were given up."""
        self.on_error = on_error
        self._placings = Placings(self.live)
        self._waiting: deque[Waiting] = deque()
        self._held = 0
        self._resting = 0.0
        """Until when the log is left alone."""
        self._is_writing = False
        self._is_closed = False
        self._lost: dict[StreamKey | None, tuple[int, str]] = {}
        """By session: calls that were given up and are not told in the log yet, and why."""
        self._mutex = threading.RLock()
        self._flusher = Flusher(self._flush)
        lifetimes.opened(self)

    @property
    def path(self) -> str:
        """Of the log, whatever it was called when it was opened."""
        return os.path.realpath(self.live.log.path)

    @property
    def waiting(self) -> int:
        """Calls that are not in the log yet, though they were made."""
        return sum(each.posted is not None for each in self._waiting)

    def close(self) -> None:
        """Write what still waits, and close the connection. What comes after that is missed."""
        lost: list[RecordedCall] = []
        with self._mutex:
            self._resting, self._is_writing = 0.0, True
            try:
                self._write_waiting()
                lost = [each.call for each in self._waiting if each.posted is not None]
                for call in lost:
                    self._give_up(call, "the log could not be written before the end")
                self._waiting.clear()
                with suppress(CtxlogError):
                    for session in list(self._lost):
                        self._tell_of_lost(session, self._placings.telling(session))
            finally:
                self._is_writing, self._is_closed = False, True
                lifetimes.closed(self)
                self.live.close()
        self._complaints.end(len(lost))

    # -- a call ---------------------------------------------------------------------------------

    def begin(
        self,
        dialect: Dialect,
        body: bytes,
        session: StreamKey | None = None,
        began: Began = NOWHERE,
        url: str = "",
        headers: Mapping[str, str] | None = None,
        keys: Keys = frozenset(),
    ) -> RecordedCall:
        """Record a call before its request goes out. Raises nothing unless it was asked to.

        ``began``: where its session did. ``url`` and ``headers`` are kept as they are: they hold no
        secret. Of ``keys`` nothing is kept, where they come back neither.
        """
        call = RecordedCall(self, session or self.session, dialect)
        call.keys = keys
        call.began = began if began.parent is not None else Began(self.session)
        posted = Posted(dialect, body, url, headers or {})
        waiting = Waiting(call, posted)
        with self._mutex:
            if self._is_closed:
                self.missed += 1
                self._complaints.of(LogClosed(str(self.live.log.path)))
                return call
            if self._is_writing:  # by a signal, or while rubbish was collected
                self._wait(waiting)
                self._hold()
                return call
            self._is_writing = True
            try:
                if self._write_waiting():
                    self._begin(call, posted)
                    return call
                if self.on_error != "raise":
                    self._wait(waiting)
                    return call
                fault = Busy(str(self.live.log.path), PAUSE)
            except (DatabaseFault, OutcomeUnknown) as error:
                self._rest()
                if self.on_error == "raise":
                    self._give_up(call, str(error))
                    raise
                self._wait(waiting)
                self._complaints.of(error)
            except Exception as error:
                self._give_up(call, str(error))
                self._complaints.of(error)
            else:  # it is left alone no longer than before, however many calls come
                self._give_up(call, str(fault))
                raise fault
            finally:
                self._is_writing = False
                self._hold()
        return call

    def write(
        self,
        session: StreamKey,
        plan: Callable[[RecordedStream], Sequence[Event]],
        began: Began = NOWHERE,
    ) -> None:
        """Append to a session what ``plan`` makes of it as it stands; nothing where that is empty.

        For whoever keeps a conversation here, and needs to know that it is kept: waits longer than
        a call does, and raises what an append raises.
        """
        until = time.monotonic() + STORING
        while True:
            with self._mutex:
                self._resting = 0.0
                if not self._is_writing and self._written(session, plan, began):
                    return
            if time.monotonic() > until:
                raise Busy(str(self.live.log.path), STORING)
            time.sleep(0.01)

    def _written(
        self,
        session: StreamKey,
        plan: Callable[[RecordedStream], Sequence[Event]],
        began: Began,
    ) -> bool:
        self._is_writing = True
        try:
            if not self._write_waiting():
                return False
            stream = self._placings.of(session, began).home()
            drafts = drafted(plan(stream))
            if drafts:
                version = stream.followed.version
                try:
                    done = self.live.append(stream.key, *drafts, expected_version=version)
                except OutcomeUnknown:
                    return stream.stands(self.live, drafts[-1], version)
                stream.followed.followed(*drafts)
                stream.base = done.last
        except (Busy, OutcomeUnknown, WrongExpectedVersion):
            return False
        finally:
            self._is_writing = False
            self._hold()
        return True

    def cannot(self, error: Exception) -> None:
        """A call that cannot even be told of. Raises nothing unless it was asked to."""
        with self._mutex:
            self._lose(self.session, str(error))
            self._hold()
            self._complaints.of(error)

    def _begin(self, call: RecordedCall, posted: Posted) -> None:
        call.stream, call.position = self._placings.begin(call.session, call.began, posted)
        self._placings.forget(self._lost)
        with suppress(CtxlogError):  # the call stands; this is told with the next one
            self._tell_of_lost(call.session, call.stream)

    def _ended(self, call: RecordedCall, events: Sequence[Event]) -> None:
        with self._mutex:
            if self._is_closed:
                if call.is_answered and call.position:  # of another one nobody knows, as it stands
                    self._complaints.of(LogClosed(str(self.live.log.path)), is_over=True)
                return
            waiting = Waiting(call, events=tuple(events))
            if self._is_writing:
                self._waiting.append(waiting)
                self._hold()
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
                self._complaints.of(error, is_over=True)
            except Exception as error:
                self._complaints.of(error, is_over=True)
            finally:
                self._is_writing = False
                self._hold()

    def _end(self, call: RecordedCall, events: Sequence[Event]) -> None:
        stream = call.stream
        assert stream is not None
        if not (call.drafts and stream.stands(self.live, call.drafts[-1], call.position)):
            bound = (event.model_copy(update={"call": call.position}) for event in events)
            call.drafts = call.drafts or drafted(bound)
            stream.write(self.live, call.drafts, durable=False)
        stream.open.discard(call.position)
        placing = self._placings.of(call.session, call.began)
        for draft in call.drafts:
            if isinstance(draft.event, MessageAppended):
                placing.answered(stream, call.dialect, draft.event.message.value)

    def _inherited(self) -> None:
        """In a child after ``fork()``: what is under way, and what waits, the parent writes."""
        self._mutex = threading.RLock()  # it may be held by a thread that is not here
        # One that was not waited for is in the middle of it: half of what it knows is missing.
        self._placings.inherited(is_whole=not self._is_writing)
        self._is_writing = False
        self._flusher.slept()
        self._waiting.clear()
        self._held = 0
        self._lost.clear()

    # -- what cannot be written now -------------------------------------------------------------

    def _hold(self) -> None:
        """Stay until it is written, even if nobody asks for this recorder any more."""
        lifetimes.hold(self, is_needed=not self._is_closed and bool(self._waiting or self._lost))
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
                self._hold()
            return max(0.0, self._resting - time.monotonic())

    def _is_waiting(self, call: RecordedCall) -> bool:
        return any(each.call is call for each in self._waiting)

    def _wait(self, waiting: Waiting) -> None:
        size = waiting.size
        if self._held + size > MOST_WAITING:
            self._give_up(waiting.call, "the log could not be written, and too much waited for it")
            return
        self._held += size
        self._waiting.append(waiting)

    def _write_waiting(self, most: int = sys.maxsize) -> bool:
        """Write what waits, in its order; whether nothing waits any more."""
        if not self._waiting:
            return True
        if time.monotonic() < self._resting:
            return False
        while self._waiting and most > 0:
            first, most = self._waiting[0], most - 1
            try:
                if first.posted is not None:
                    self._begin(first.call, first.posted)
                elif first.call.position:
                    self._end(first.call, first.events)
            except (DatabaseFault, OutcomeUnknown):
                self._rest()
                return False
            except Exception as error:
                if first.posted is not None:
                    self._give_up(first.call, str(error))
            self._waiting.popleft()
            self._held -= first.size
        if self._waiting:
            return False
        self._complaints.log_is_written()
        return True

    def _rest(self) -> None:
        self._resting = time.monotonic() + PAUSE

    def _give_up(self, call: RecordedCall, why: str) -> None:
        self._lose(call.session, why)

    def _lose(self, session: StreamKey | None, why: str) -> None:
        self.missed += 1
        self._lost[session] = self._lost.get(session, (0, ""))[0] + 1, text_without_keys(why)

    def _tell_of_lost(self, session: StreamKey | None, stream: RecordedStream | None) -> None:
        lost = self._lost.get(session)
        if lost is not None and stream is not None:
            event = RecordingInterrupted(calls_missed=lost[0], reason=lost[1])
            stream.write(self.live, drafted([event]))
            del self._lost[session]


def opened(log: Live | str | os.PathLike[str]) -> Recorder:
    """The recorder of that log that is open in this process, or a new one: two of them take each
    other for another process."""
    path = os.path.realpath(log.log.path if isinstance(log, Live) else log)
    known = (each for each in lifetimes.living() if isinstance(each, Recorder))
    return next((each for each in known if each.path == path), None) or Recorder(log)
