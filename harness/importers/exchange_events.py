"""What an exchange of a log becomes besides what ``observe`` reads off its request.

Who speaks, where it stands in the file, and how the call ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eventlog import Json
from eventlog.events import (
    Event,
    MessageAppended,
    ModelFailed,
    Origin,
    OriginRecord,
    SessionRewound,
    Source,
    ToolResultRecorded,
)
from eventlog.messages import Dialect
from harness.exchange.answers import paired, texts_of
from harness.importers.claude_records import is_reminder
from harness.importers.exchanges import Exchange
from harness.importers.records import Record
from harness.importers.units import Planned, Slot


class Marks:
    """Where what one record holds comes from, and what it adds to the file's own count.

    ``names`` are the tools by call id, which grow by what is read; ``task`` is what a model told a
    tool to ask here.
    """

    def __init__(
        self, record: Record, names: dict[str, str], task: str = "", dialect: Dialect = "anthropic"
    ) -> None:
        self._record, self._names, self._task = record, names, task
        self._dialect = dialect
        self._at = f"{record.line}.{record.part}"

    def record(self, answer: str = "", *pairs: str) -> OriginRecord:
        """Where the record stands."""
        return OriginRecord(
            line=self._record.line,
            part=self._record.part,
            type="exchange",
            message=answer,
            pairs=pairs,
        )

    def origin(self, answer: str = "", *pairs: str) -> Origin:
        """Of an event that holds nothing else of it."""
        return Origin(records=(self.record(answer, *pairs),))

    def answer(self, message: Mapping[str, Any], name: str = "") -> OriginRecord:
        """Of an answer of that id: it counts once, with its calls."""
        found = paired(self._dialect, message, self._at)
        self._names.update((call_id, tool) for call_id, tool, _ in found)
        return self.record(name or f"#{self._at}", *(f"call:{key}" for _, _, key in found))

    def dressed(self, event: Event) -> Event:
        """An event that was read off the request, with what is known of it."""
        changes: dict[str, Any] = {"origin": self.origin()}
        if isinstance(event, MessageAppended):
            message = event.message.value
            if event.source == "model":
                changes["origin"] = Origin(records=(self.answer(message),))
            elif event.source == "human":
                changes["source"], changes["label"] = self._speaker(message)
        elif isinstance(event, ToolResultRecorded):
            key = event.tool_call_id or f"@{self._at}"
            changes["origin"] = self.origin("", f"result:{key}")
            changes["name"] = self._names.get(event.tool_call_id, event.name)
        return event.model_copy(update=changes)

    def counted(self, build: Callable[[], Event], index: int) -> Event:
        """The event; answers that no record of their own holds are told apart by their place."""
        event = build()
        if not isinstance(event, MessageAppended) or event.source != "model":
            return event
        assert event.origin is not None
        (record,) = event.origin.records
        named = record.model_copy(update={"message": f"#{self._at}.{index}"})
        return event.model_copy(update={"origin": Origin(records=(named,))})

    def _speaker(self, message: Mapping[str, Any]) -> tuple[Source, str]:
        texts = texts_of(message)
        if texts and all(map(is_reminder, texts)):
            return "injected", "system-reminder"
        if self._task and self._task in (text.strip() for text in texts):
            return "injected", "task"
        return "human", ""


def ended(exchange: Exchange, call: Slot, place: Marks) -> list[Planned]:
    """What came back: an answer and its end, a failure, or nothing that was recorded."""
    outcome = exchange.outcome
    answer, failure = outcome.answer, outcome.failure
    at = exchange.answered_at
    if failure is not None:

        def failed() -> Event:
            detail = Json(failure.detail) if failure.detail is not None else None
            return ModelFailed(
                call=call.position,
                error=failure.error,
                status=failure.status,
                detail=detail,
                partial=failure.kept(exchange.dialect),
                origin=place.origin(),
            )

        return [Planned(Slot(), failed, at)]
    if answer is None:
        return []
    rest = {**answer.rest, **({"unread": outcome.unread} if outcome.unread else {})}

    def said() -> Event:
        return MessageAppended(
            dialect=exchange.dialect,
            source="model",
            call=call.position,
            message=Json(answer.message),
            origin=Origin(records=(place.answer(answer.message, answer.id),), rest=json_of(rest)),
        )

    ended = Planned(Slot(), lambda: answer.responded(call.position, place.origin()), at)
    return [Planned(Slot(), said, at), ended] if answer.is_said else [ended]


def rewound(to: Slot, place: Marks) -> Event:
    """The conversation begins again behind its start."""
    return SessionRewound(
        to=to.position, reason="asked again", inferred=True, origin=place.origin()
    )


def json_of(value: dict[str, Any]) -> Json | None:
    """The value as an event holds it; nothing where it is empty."""
    return Json(value) if value else None
