"""A call that was begun."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from eventlog.events import Event, ModelFailed
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.outcomes import Failure, Outcome, events_of
from harness.exchange.sent_keys import Keys, event_without_keys, text_without_keys
from harness.recording.sessions import Began

if TYPE_CHECKING:
    from harness.recording.recorder import Recorder
    from harness.recording.streams import RecordedStream


class BegunCall(Protocol):
    """A call that stands in the log, as far as whoever passes it on is concerned."""

    dialect: Dialect

    def ended(self, outcome: Outcome) -> None:
        """What came back. Told once; what is told after that is ignored."""
        ...

    def failed(self, error: str, status: int | None = None) -> None:
        """No answer came back, or nobody waited for it."""
        ...


class CallRecorder(Protocol):
    """Puts calls into a log before their requests go out."""

    @property
    def path(self) -> str:
        """Of the log."""
        ...

    def begin(
        self,
        dialect: Dialect,
        body: bytes,
        session: StreamKey | None,
        began: Began,
        url: str,
        headers: Mapping[str, str],
        keys: Keys,
    ) -> BegunCall:
        """Record a call. What it raises stops the request."""
        ...

    def cannot(self, error: Exception) -> None:
        """A request that cannot even be told of. What it raises stops the request."""
        ...


class RecordedCall:
    """A call that was begun. Its end is told once; what is told after that is ignored."""

    def __init__(self, recorder: Recorder, session: StreamKey | None, dialect: Dialect) -> None:
        self.session = session
        """The one that its caller named."""
        self.began = Began(None)
        """Where it began."""
        self.dialect = dialect
        self.keys: Keys = frozenset()
        """What it is sent with, which what comes back may repeat."""
        self.stream: RecordedStream | None = None
        """Where it is recorded; None as long as it is not in the log."""
        self.position = 0
        """Of its ModelCalled."""
        self.is_answered = False
        """Whether an answer came back."""
        self.drafts: tuple[Draft, ...] = ()
        """Its end, where it is not known whether that stands in the log."""
        self._recorder = recorder
        self._process = os.getpid()
        self._is_open = True

    def ended(self, outcome: Outcome) -> None:
        """What came back."""
        if self._is_open:
            self.is_answered = outcome.answer is not None
        try:
            events = events_of(outcome, self.dialect)
            events = [event_without_keys(event, self.keys) for event in events]
        except Exception as error:
            said = text_without_keys(str(error), self.keys)
            events = [ModelFailed(call=1, error=f"the answer cannot be kept: {said}")]
        self._end(events)

    def failed(self, error: str, status: int | None = None) -> None:
        """No answer came back, or nobody waited for it."""
        self.ended(Outcome(failure=Failure(error, status)))

    def _end(self, events: Sequence[Event]) -> None:
        is_open, self._is_open = self._is_open, False
        if is_open and self._process == os.getpid():  # what a child inherits, its parent ends
            self._recorder._ended(self, events)
