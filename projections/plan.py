"""What a request that is about to go out means for its stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eventlog.events import MessageAppended, ToolResultRecorded, ToolsDeclared
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from projections.last_request import Tail


@dataclass(frozen=True, slots=True)
class Plan:
    """What to append before a request goes out."""

    kind: Literal["call", "branch", "side"]
    version: int
    """Of the stream, at which it has to be appended."""
    drafts: tuple[Draft, ...] = ()
    """What the request changes, and the call at the end; none for a side call."""
    made: tuple[RecordedEvent, ...] = ()
    """The events of those before the call, as they will stand."""
    tail: Tail | None = None

    @property
    def position(self) -> int:
        """Of the call."""
        return self.version + len(self.drafts)

    @property
    def only_adds(self) -> bool:
        """Whether it goes on behind all that stands, whoever wrote it."""
        return self.kind == "call" and all(map(_adds, self.drafts[:-1]))

    def doubted(self, others: Sequence[StreamKey]) -> Sequence[Draft]:
        """What to append where it may belong to other sessions as well: the call says so."""
        if not others:
            return self.drafts
        *before, call = self.drafts
        told = call.event.model_copy(update={"may_belong_to": tuple(map(str, others))})
        return (*before, replace(call, event=told))


def _adds(draft: Draft) -> bool:
    event = draft.event
    if isinstance(event, MessageAppended | ToolResultRecorded):
        return event.after is None
    return isinstance(event, ToolsDeclared)
