"""One memory whole: what it says and said, whence it came, and where it stood before a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal

from cli.memories import memory_of, moment_of, row_of
from cli.memories_changing import rows_of
from cli.models_memory import (
    MemoryCallData,
    MemoryChangeData,
    MemoryLeftOutData,
    MemoryLife,
    MemoryShowData,
    MemoryShownData,
    MemorySourceData,
)
from cli.occurrences import number_of
from cli.saying import preview, said, who
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import EventInvalid
from eventlog.happened import iso
from harness.memory import UserMemory
from projections import Live
from projections.context import ITEM_TYPES
from projections.memory.history import history
from projections.memory.lifecycle import DAY
from projections.memory.memory import Memory
from projections.memory.recalls import recalls_of
from projections.memory.shown import ShownIn, shown_in
from projections.runs import Named, standing

State = Literal["there", "erased", "missing", "elsewhere"]

_LEAVING = ("message_revised", "context_compacted")
"""Events with which a message of memories says something else, or goes."""

_TEXT = 400
"""Characters of an event that a memory came from."""


def shown(memory: UserMemory, name: str, at: str = "") -> MemoryShowData:
    """Everything about a memory. Raises MemoryNotFound, InputRefused."""
    now = moment_of(at)
    found = memory_of(memory, name)
    other = rows_of(memory, [found.superseded_by], now) if found.superseded_by else []
    return MemoryShowData(
        user=memory.user,
        stream=str(memory.key),
        at=iso(now),
        memory=row_of(memory, found, now),
        by=found.by,
        given_importance=found.importance,
        scored=list(found.scored),
        area=found.area,
        entities=list(found.entities),
        relations=list(found.relations),
        experience=found.experience,
        summary=found.summary,
        life=_life(memory, found),
        history=[
            MemoryChangeData.model_validate(
                {**each._asdict(), "at": iso(each.at), "changed": list(each.changed)}
            )
            for each in history(memory.live, memory.user, found.id)
        ],
        superseded_by=next(iter(other), None),
        supersedes=rows_of(memory, found.supersedes, now),
        sources=list(_sources(memory.live, found)),
        shown=_until(memory.live, found.id, list(_stood(memory, found))),
        left_out=[
            MemoryLeftOutData(session=str(each.stream), item=each.item, position=each.position)
            for each in recalls_of(memory.live, memory.key, [found.id], left_out=True)
        ],
    )


def streams_of(data: MemoryShowData) -> set[str]:
    """The sessions of this log that are named in it."""
    here = {each.session for each in data.shown if not each.is_elsewhere}
    here |= {each.session for each in data.left_out}
    return here | {each.session for each in data.sources}


def _life(memory: UserMemory, found: Memory) -> MemoryLife:
    policy = memory.policy
    days = policy.days(found.kind)

    def until(share: float) -> str:
        return iso(found.refreshed_at + int(round(share * days, 6) * DAY))

    return MemoryLife(
        days=days,
        active_until=until(policy.active),
        stale_until=until(policy.stale),
        archived_until=until(policy.archived),
    )


def _stood(memory: UserMemory, found: Memory) -> Iterator[MemoryShownData]:
    for each in shown_in(memory.live, memory.user, found.id):
        is_elsewhere = each.stream == memory.key
        yield MemoryShownData(
            session=_elsewhere(memory, each) if is_elsewhere else str(each.stream),
            item=each.item,
            rendition=each.rendition,
            position=each.recalled_at,
            calls=[MemoryCallData(call=call.number, position=call.position) for call in each.calls],
            is_elsewhere=is_elsewhere,
        )


def _until(live: Live, id: int, shown: list[MemoryShownData]) -> list[MemoryShownData]:
    """With the call of each session from which on it stood no more."""
    from harness.conversation.standing_memories import fate_in  # takes long to import

    last: dict[str, tuple[int, MemoryShownData]] = {}
    for each in shown:
        for call in each.calls if not each.is_elsewhere else ():
            if call.position > last.get(each.session, (0, each))[0]:
                last[each.session] = call.position, each
    for session, (position, each) in last.items():
        calls = [call.position for call in live.log.read(session, types=["model_called"])]
        at = bisect_right(calls, position)
        if at < len(calls):
            decided = live.log.read(session, position, calls[at], types=_LEAVING)
            each.gone_before = f"c{at + 1}"
            each.gone_because = next(filter(None, (fate_in(event, id) for event in decided)), "")
    for each in shown:
        if not each.is_elsewhere and not each.gone_because and (name := _summarised(live, each)):
            each.gone_because = f"{name} summarised what it stood in"
    return shown


def _summarised(live: Live, shown: MemoryShownData) -> str:
    """The compaction that put a message into a summary, whichever call came next: ``k3``; empty
    where none did."""
    key, (item, _) = StreamKey.parse(shown.session), standing(shown.item)
    for event in live.log.read(key, shown.position, types=["context_compacted"]):
        if event.data.get("messages") and item in Named(event.data["covered"], event.position):
            return number_of(live, key, event.position) or ""
    return ""


def _elsewhere(memory: UserMemory, each: ShownIn) -> str:
    """The session in which a recall stood, in the log from which it was taken up."""
    (event,) = memory.live.log.at(memory.key, [each.recalled_at]).values()
    origin = event.event.origin
    names = (record.id.partition(" ")[2] for record in origin.records) if origin else iter(())
    return next(filter(None, names), "")


def _sources(live: Live, found: Memory) -> Iterator[MemorySourceData]:
    for source in found.sources:
        if source.elsewhere:
            for place in source.positions or (None,):
                yield _source(source.stream, place, "elsewhere")
            continue
        key = _there(live, source.stream)
        events = live.log.at(key, source.positions) if key is not None else {}
        for position in source.positions:
            event = events.get(position)
            if event is None:
                yield _source(source.stream, position, "missing")
            else:
                state: State = "erased" if event.erased else "there"
                yield _source(source.stream, position, state, *_glance(live, source.stream, event))
        if not source.positions and key is None:
            yield _source(source.stream, None, "missing")
        elif not source.positions and key is not None:
            yield _source(source.stream, None, "there", text=_title(live, key))


def _source(
    session: str, position: int | None, state: State, who: str = "", text: str = ""
) -> MemorySourceData:
    return MemorySourceData(session=session, position=position, state=state, who=who, text=text)


def _there(live: Live, stream: str) -> StreamKey | None:
    """The key of a stream that a log names, where it is in this one."""
    try:
        key = StreamKey.parse(stream)
    except EventInvalid:
        return None
    return key if live.log.exists(key) else None


def _title(live: Live, key: StreamKey) -> str:
    from projections.session_rows import row_of as session_row
    from projections.sessions import session_query

    row = session_row(session_query(live), str(key))
    return row.title if row is not None else ""


def _glance(live: Live, stream: str, event: RecordedEvent) -> tuple[str, str]:
    """Who speaks in an event, and the beginning of what it says."""
    if event.type in ITEM_TYPES:
        made = live.materialize(stream, [(event.position, 0)])
        if made:
            item = made[0]
            speaker = (item.tool_name or "tool") if item.role == "tool" else who(item)
            return speaker, "" if event.erased else preview(item, _TEXT)
    return "", "" if event.erased else said(event, lambda _: None)
