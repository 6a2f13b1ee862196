"""What a context leaves open: tool calls without a result, a model that has the next word, and what
has to be repaired before it can be sent."""

from __future__ import annotations

from collections.abc import Sequence

from eventlog.events import Event
from eventlog.messages import SYSTEM_ROLES, Call
from eventlog.recorded import StreamKey
from projections import Live
from projections.items import Item
from projections.legality import sendable


def open_calls(items: Sequence[Item]) -> list[Call]:
    """The calls that wait for their results, behind the last human message."""
    found: dict[str, Call] = {}
    for item in items:
        if item.is_human:
            found.clear()
        for part in item.parts:
            if part.kind == "call":
                found[part.id] = Call(part.id, part.name, part.text)
            elif part.kind == "result":
                found.pop(part.id, None)
    return list(found.values())


def is_waiting(items: Sequence[Item]) -> bool:
    """Whether the model has the next word: a reply did not come to its end."""
    said = [item for item in items if item.role not in SYSTEM_ROLES]
    if not said:
        return False
    if said[-1].source == "model":
        return bool(open_calls(items))
    return said[-1].kind != "summary"


def repairs(live: Live, key: StreamKey, items: Sequence[Item]) -> list[Event]:
    """What has to be recorded before the items can be sent. Raises NoContext for none."""
    if not sendable(items).repairs:
        return []
    # Those of the log name their renditions: what is renamed has to stay cut, or cleared.
    found = [repair.event() for repair in sendable(live.items(key)).repairs]
    return [event for event in found if event is not None]
