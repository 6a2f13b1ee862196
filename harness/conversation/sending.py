"""What a conversation's requests pass on their way out: each is in the log before it is sent.

It stands where a ``Recorder`` stands in front of a client that is watched. The stream is our own
here, so nothing is guessed: an append that fails stops the request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eventlog.errors import InputRefused
from eventlog.events import Event, ModelFailed
from eventlog.messages import Dialect
from eventlog.recorded import StreamKey
from harness.conversation.own_stream import OwnStream
from harness.exchange.outcomes import Failure, Outcome, events_of
from harness.exchange.sent_keys import Keys, event_without_keys, text_without_keys
from harness.recording.posted import Posted
from harness.recording.sessions import Began


class OwnCall:
    """A call that was begun. Its end is told once; what is told after that is ignored."""

    def __init__(self, sending: Sending, dialect: Dialect, position: int, keys: Keys) -> None:
        self.dialect = dialect
        self.position = position
        """Of its ModelCalled."""
        self.keys = keys
        self.outcome: Outcome | None = None
        """How it ended; None as long as it did not."""
        self.first = 0
        """Where its end stands."""
        self._sending = sending

    def ended(self, outcome: Outcome) -> None:
        """What came back, appended at once."""
        if self.outcome is None:
            self.outcome = outcome
            self.record()

    def record(self) -> None:
        """Append how it ended; once more where that was interrupted."""
        outcome = self.outcome or Outcome()
        try:
            events = [
                event_without_keys(event, self.keys) for event in events_of(outcome, self.dialect)
            ]
        except Exception as error:
            said = text_without_keys(str(error), self.keys)
            events = [ModelFailed(call=1, error=f"the answer cannot be kept: {said}")]
        bound = [event.model_copy(update={"call": self.position}) for event in events]
        try:
            self.first = self._sending.stream.append_late(*bound)
        except Exception as error:
            self._sending.fault = error
            raise
        self._sending.stream.called = None

    def failed(self, error: str, status: int | None = None) -> None:
        """No answer came back, or nobody waited for it."""
        self.ended(Outcome(failure=Failure(error, status)))


class Sending:
    """The recorder of one conversation."""

    def __init__(self, stream: OwnStream) -> None:
        self.stream = stream
        self.ahead: Sequence[Event] = ()
        """What was decided for the next call; it stands in the same append."""
        self.strategy = ""
        """The spec of the one that is in charge of that call."""
        self.fault: Exception | None = None
        """Why a request did not go out, or its end cannot be recorded: a client may hide it behind
        an error of its own."""
        self.calls: list[OwnCall] = []
        """Those of one answer: a client tries again where a server fails."""

    @property
    def path(self) -> str:
        """Of the log."""
        return str(self.stream.live.log.path)

    def begin(
        self,
        dialect: Dialect,
        body: bytes,
        session: StreamKey | None,
        began: Began,
        url: str = "",
        headers: Mapping[str, str] | None = None,
        keys: Keys = frozenset(),
    ) -> OwnCall:
        """Append the call. Raises what the append raises: then nothing is sent."""
        try:
            if self.fault is not None:  # the client tries again what cannot be
                raise self.fault
            position = self.stream.call(
                Posted(dialect, body, url, headers or {}), self.ahead, self.strategy
            )
        except Exception as error:
            self.fault = error
            raise
        self.ahead = ()
        call = OwnCall(self, dialect, position, keys)
        self.calls.append(call)
        return call

    def close(self, error: str) -> None:
        """Give an end to a call that was interrupted so that it has none."""
        position = self.stream.left()
        call = self.calls[-1] if self.calls else None
        if not position:
            pass
        elif call is None or call.position != position:
            self.stream.append_late(ModelFailed(call=position, error=error))
        elif call.outcome is None:
            call.failed(error)
        else:
            call.record()
        self.stream.called = None

    def cannot(self, error: Exception) -> None:
        """A request that cannot be read is not sent."""
        self.fault = InputRefused(f"the request cannot be recorded: {error}")
        raise self.fault
