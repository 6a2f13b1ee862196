"""Made recordings as real logs: the same steps at the same positions, with no decision in them."""

from __future__ import annotations

from collections.abc import Iterator

from eventlog import StreamKey, events
from eventlog.events import Event
from eventlog.jsonvalue import Json
from projections.items import Item
from projections.live import Live
from projections.recording import Recording, Step

KEY = StreamKey("local", "agent", "made")


def event_of(item: Item) -> Event:
    """The event that brings an item in."""
    if item.kind == "tool_result":
        result = next(part for part in item.parts if part.kind == "result")
        return events.ToolResultRecorded(
            tool_call_id=result.id,
            name=item.tool_name,
            dialect=item.dialect,
            native=Json(dict(item.message)),
        )
    fields = {"dialect": item.dialect, "source": item.source, "label": item.label}
    return events.MessageAppended.model_validate(
        {**fields, "call": item.call, "message": dict(item.message)}
    )


def note_of(step: Step) -> Event:
    """The event of a step that is neither an item nor a call."""
    if step.kind == "pin":
        return events.ItemPinned(item=str(step.origin))
    if step.kind == "unpin":
        return events.ItemUnpinned(item=str(step.origin))
    if step.kind == "revise":
        assert step.item is not None
        return events.MessageRevised(item=str(step.origin), message=dict(step.item.message))
    if step.kind == "rewind":
        return events.SessionRewound(to=step.to)
    assert step.kind == "task"
    return events.TaskClassified(task_type=step.text)


def called() -> Event:
    """A call."""
    return events.ModelCalled(model="m", dialect="openai_chat")


def stored(recording: Recording) -> Iterator[Event]:
    """The events of a recording, in order; a step's position is its event's."""
    for step in recording.steps:
        if step.kind == "item":
            assert step.item is not None
            yield event_of(step.item)
        else:
            yield called() if step.kind == "call" else note_of(step)


def logged(live: Live, recording: Recording, key: StreamKey = KEY) -> None:
    """Append a recording to a new stream."""
    live.append(key, *stored(recording))
