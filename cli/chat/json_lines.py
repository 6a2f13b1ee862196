"""What happens in a conversation, as data: a line of JSON each."""

from __future__ import annotations

from pydantic import BaseModel

from cli.chat.changes import NumberAt
from harness.conversation.happenings import (
    Answered,
    CallFailed,
    Calling,
    Changed,
    Ended,
    Happening,
    MemoriesChanged,
    MemoriesShown,
    NotRemembered,
    Piece,
    ToolCalled,
    ToolEnded,
)
from harness.conversation.standing_memories import id_of
from projections.memory.memory import Memory
from projections.memory.stream import memory_name
from projections.runs import position_of
from projections.usage import UsageTotals


class ChangeLine(BaseModel):
    """One decision of a strategy, as it was applied or declined."""

    kind: str
    """cut, cleared, deduplicated, revised, restored, summarised, dropped, declined, over_budget."""
    items: list[str]
    before: int
    """Tokens of what it changed."""
    after: int
    reason: str
    strategy: str
    ref: str | None = None
    """Of a compaction: ``k7``."""


class MemoryLine(BaseModel):
    """A memory that came into the context, or was learned."""

    name: str
    """``m12``."""
    rendition: str
    kind: str
    text: str
    superseded_by: str | None = None
    """The one that stands in its place."""


class ChatData(BaseModel):
    """``chat``: one line. ``happening`` says which fields are given; the others are left out."""

    happening: str
    """began, piece, changed, calling, answered, call_failed, tool_called, tool_ended, ended, note,
    command, memories_shown, memories_changed or not_remembered."""
    session: str | None = None
    """``began``: its key."""
    is_new: bool | None = None
    forked_from: str | None = None
    text: str | None = None
    kind: str | None = None
    """Of a piece: text, reasoning, refusal."""
    position: int | None = None
    tokens: int | None = None
    """Of the context, estimated."""
    calls: int | None = None
    finish_reason: str | None = None
    usage: UsageTotals | None = None
    error: str | None = None
    is_tried_again: bool | None = None
    tool_call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: str | None = None
    is_error: bool | None = None
    duration_ms: int | None = None
    outcome: str | None = None
    detail: str | None = None
    changes: list[ChangeLine] | None = None
    memories: list[MemoryLine] | None = None
    gone: list[str] | None = None
    """``memories_shown``: those that the model is not shown any more."""
    left_out: list[str] | None = None
    """Those for which there was no room."""
    profile: list[str] | None = None
    """``memories_changed``: what is known newly of the person, by name."""


def as_data(happening: Happening, number_at: NumberAt) -> ChatData:
    """A happening as a line."""
    if isinstance(happening, Piece):
        return ChatData(happening="piece", text=happening.text, kind=happening.kind)
    if isinstance(happening, Changed):
        changes = [
            ChangeLine(
                kind=each.kind,
                items=[str(item) for item in each.items],
                before=each.before,
                after=each.after,
                reason=each.reason,
                strategy=each.strategy,
                ref=(number_at(position_of(each.messages[0])) or None) if each.messages else None,
            )
            for each in happening.changes
        ]
        return ChatData(happening="changed", changes=changes, tokens=happening.tokens)
    if isinstance(happening, Calling):
        return ChatData(happening="calling", position=happening.position, tokens=happening.tokens)
    if isinstance(happening, Answered):
        return ChatData(
            happening="answered",
            position=happening.position,
            text=happening.text,
            calls=happening.calls,
            finish_reason=happening.finish_reason,
            usage=_usage(happening),
        )
    if isinstance(happening, CallFailed):
        return ChatData(
            happening="call_failed",
            error=happening.error,
            is_tried_again=happening.is_tried_again,
        )
    if isinstance(happening, ToolCalled):
        return ChatData(
            happening="tool_called",
            tool_call_id=happening.tool_call_id,
            name=happening.name,
            arguments=happening.arguments,
        )
    if isinstance(happening, ToolEnded):
        return ChatData(
            happening="tool_ended",
            position=happening.position,
            tool_call_id=happening.tool_call_id,
            name=happening.name,
            content=happening.content,
            is_error=happening.is_error,
            duration_ms=happening.duration_ms,
        )
    if isinstance(happening, MemoriesShown):
        return ChatData(
            happening="memories_shown",
            position=happening.position or None,
            memories=[_memory(each) for each in happening.memories],
            gone=[memory_name(id_of(each)) for each in happening.gone],
            left_out=[each.name for each in happening.left_out],
            error=happening.fault or None,
        )
    if isinstance(happening, MemoriesChanged):
        return ChatData(
            happening="memories_changed",
            memories=[_memory(each) for each in happening.memories],
            profile=list(happening.profile),
        )
    if isinstance(happening, NotRemembered):
        return ChatData(happening="not_remembered", error=happening.error)
    assert isinstance(happening, Ended)
    return ChatData(happening="ended", outcome=happening.outcome, detail=happening.detail)


def _memory(memory: Memory) -> MemoryLine:
    by = memory.superseded_by
    return MemoryLine(
        name=memory.name,
        rendition=memory.rendition,
        kind=memory.kind,
        text=memory.text,
        superseded_by=memory_name(by) if by else None,
    )


def _usage(answered: Answered) -> UsageTotals | None:
    given = answered.usage
    if given is None:
        return None
    return UsageTotals(
        input=given.input,
        cached=given.cached,
        cache_write=given.cache_write,
        output=given.output,
        reasoning=given.reasoning,
    )
