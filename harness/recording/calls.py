"""A call that was begun, and what is appended at its end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eventlog.events import Event, MessageAppended, ModelFailed, Origin
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from eventlog.recorded import StreamKey
from harness.exchange.outcomes import Failure, Outcome
from harness.recording.placing import Began

if TYPE_CHECKING:
    from harness.recording.placing import RecordedStream
    from harness.recording.recorder import Recorder


class RecordedCall:
    """A call that was begun. Its end is told once; what is told after that is ignored."""

    def __init__(self, recorder: Recorder, session: StreamKey | None, dialect: Dialect) -> None:
        self.session = session
        """The one that its caller named."""
        self.began = Began(None)
        """Where it began."""
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

    def ended(self, outcome: Outcome) -> None:
        """What came back."""
        if self._is_open:
            self.is_answered = outcome.answer is not None
        try:
            events = _events(outcome, self.dialect)
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


def _events(outcome: Outcome, dialect: Dialect) -> list[Event]:
    answer, failure = outcome.answer, outcome.failure
    if answer is None:
        found = failure
        error = found.error if found is not None else "nothing came back"
        detail = Json(found.detail) if found is not None and found.detail is not None else None
        status = found.status if found is not None else None
        return [ModelFailed(call=1, error=error, status=status, detail=detail)]
    rest = {**answer.rest, **({"unread": outcome.unread} if outcome.unread else {})}
    origin = Origin(records=(), rest=Json(rest)) if rest else None
    said = MessageAppended(
        dialect=dialect, source="model", call=1, message=Json(answer.message), origin=origin
    )
    ended = answer.responded(1).model_copy(update={"server_edited": answer.edits})
    return [said, ended] if answer.is_said else [ended]
