"""Substitutions: all of one pass, and which of them an item stood under."""

from __future__ import annotations

from cli.counts import Counts
from cli.models import PassData, SubstitutionData
from cli.occurrences import in_pass
from cli.saying import preview, who
from cli.timeline import States
from eventlog import RecordedEvent, StreamKey
from eventlog.jsonvalue import dumps
from projections import Live
from projections.items import Item
from projections.runs import Origin, origin


def pass_data(live: Live, event: RecordedEvent) -> PassData:
    """Every substitution of the pass that an event belongs to; itself alone where it has none."""
    counts = Counts(live, event.stream)
    names = {
        part.id: part.name
        for item in live.items(event.stream, event.position - 1)
        for part in item.parts
        if part.kind == "call"
    }
    rows = []
    for each in _of_pass(live, event):
        target = origin(each.data["item"])
        made = live.materialize(event.stream, [(target, 0)])
        rows.append(
            SubstitutionData(
                item=each.data["item"],
                position=each.position,
                who=_who(made[0], names) if made else "",
                tokens=counts.total([(target, 0)]) if made else 0,
                shown_tokens=counts.total([(target, each.position)]) if made else 0,
                preview=preview(made[0]) if made else "",
            )
        )
    by = event.data.get("by") or {}
    content = event.data.get("content", "")
    return PassData(
        kind=str(event.data.get("kind", "cleared")),
        reason=str(event.data.get("reason", "")),
        by=str(by.get("name", "")),
        content=content if isinstance(content, str) else dumps(content),
        items=rows,
    )


def _of_pass(live: Live, event: RecordedEvent) -> list[RecordedEvent]:
    return list(in_pass(live, event.stream, str(event.data.get("pass_id") or ""))) or [event]


def _who(item: Item, names: dict[str, str]) -> str:
    if item.kind != "tool_result":
        return who(item)
    called = (names.get(call_id, "") for call_id in item.result_ids)
    return item.tool_name or next(filter(None, called), "") or "tool"


def change_of(live: Live, stream: StreamKey, states: States, item: Origin) -> tuple[int, str]:
    """The event that carries the rendition in which an item stands, or stood when it left, and what
    it did to it; (0, "") for the original."""
    rendition = states.view.items.get(item)
    left_at = states.left_at(item)
    if left_at is not None:
        rendition = live.view(stream, left_at - 1).items.get(item)
    if not rendition:
        return 0, ""
    event = live.log.at(stream, [rendition])[rendition]
    if event.type == "placeholder_substituted":
        return rendition, str(event.data.get("kind", "cleared"))
    return rendition, {"message_revised": "revised", "redacted": "redacted"}.get(
        event.type, "repaired"
    )
