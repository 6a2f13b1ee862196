"""The context at a place: as sent where the request was recorded, else as folded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cli.models import ContextData, EventData, ItemData, State
from cli.naming import call_of, ref_of
from cli.occurrences import billed, call_data, compaction_data, name_of, number_of, outcome
from cli.passes import change_of, pass_data
from cli.saying import full_text, preview, said, who
from cli.shown_memories import by_rendition
from cli.timeline import SUBSTITUTED, States
from cli.told import in_force_at
from eventlog import StreamKey
from eventlog.errors import ItemNotFound, PositionNotFound
from eventlog.happened import iso, moment
from projections import Live, tokens
from projections.context import ITEM_TYPES
from projections.items import Item
from projections.materialize import materialize, needed, referenced
from projections.references import Reference
from projections.runs import Origin, origin, position_of, standing
from projections.views import NUMBERED

Kind = Literal["as_sent", "as_folded"]


def items_at(live: Live, place: Reference) -> tuple[list[Item], Kind]:
    """The items of the context at a place."""
    call = call_of(live, place)
    if call is not None and call.data.get("manifest") is not None:
        from projections.sent import Requests

        return list(Requests(live).sent(place.stream, call).items), "as_sent"
    return live.items(place.stream, place.position), "as_folded"


def context_at(live: Live, place: Reference) -> ContextData:
    """The whole window at a place."""
    items, kind = items_at(live, place)
    counter = tokens.counter()
    names = tool_names(items)
    shown = [item_data(item, counter, names) for item in items]
    call = call_of(live, place)
    view = live.view(place.stream, place.position)
    return ContextData(
        key=str(place.stream),
        ref=ref_of(place),
        at=place.position,
        kind=kind,
        model=str(call.data.get("model", "")) if call is not None else None,
        tokens=sum(item.tokens for item in shown),
        billed=billed(outcome(live, call)) if call is not None else None,
        told=_told(live, place),
        counter=counter.name,
        items=shown,
        prompts=prompt_names(live, place),
        memories={
            item: found
            for item, found in by_rendition(live, place.stream).items()
            if any(each.rendition == item for each in shown)
        },
        notes=[f"{note.position}: {note.message}" for note in view.notes],
    )


def prompt_names(live: Live, place: Reference) -> dict[str, str]:
    """The items at a place that a template gave, by rendition, each with its name and version."""
    if next(iter(live.log.read(place.stream, types=["prompt_rendered"])), None) is None:
        return {}
    prompts = in_force_at(live, place).prompts
    return {prompt.item.rendition: prompt.label for prompt in prompts if prompt.template}


def _told(live: Live, place: Reference) -> int | None:
    """The agent's own count of a context just before or after a compaction."""
    fields = {"before_compaction": (1, "pre_tokens"), "compaction": (0, "post_tokens")}
    if place.kind not in fields:
        return None
    step, field = fields[place.kind]
    at = place.position + step
    told = live.log.at(place.stream, [at])[at].data.get(field)
    return told if isinstance(told, int) else None


def tool_names(items: Iterable[Item]) -> dict[str, str]:
    """The tool of each call id."""
    return {p.id: p.name for item in items for p in item.parts if p.kind == "call"}


def item_data(item: Item, counter: tokens.Counter, names: dict[str, str] | None = None) -> ItemData:
    """An item as data."""
    tool = item.tool_name
    if not tool and item.kind == "tool_result":
        found = [(names or {}).get(call_id, "") for call_id in item.result_ids]
        tool = next((name for name in found if name), "")
    return ItemData(
        item=item.id,
        rendition=item.rendition,
        form=item.form,
        kind=item.kind,
        role=item.role,
        source=item.source,
        label=item.label,
        tool=tool,
        who=(tool or "tool") if item.kind == "tool_result" else who(item),
        pinned=item.pinned,
        tokens=tokens.count_item(counter, item),
        text=full_text(item),
        preview=preview(item),
        calls=[part.id for part in item.parts if part.kind == "call"],
        dialect=item.dialect,
        message=dict(item.message),
    )


def event_at(live: Live, place: Reference) -> EventData:
    """One event; where it brought in an item, that item in the rendition that was asked for.

    Raises PositionNotFound, ItemNotFound.
    """
    stream = place.stream
    item_origin: Origin | None = origin(place.item) if place.item else None
    position = place.position + 1 if place.kind == "call" else place.position
    if item_origin is not None:
        position = position_of(item_origin)
    event = live.log.at(stream, [position]).get(position)
    if event is None:
        raise PositionNotFound(str(stream), f"position {position}")
    rendition = standing(place.rendition)[1] if place.rendition else 0
    if item_origin is None and event.type in ITEM_TYPES:
        item_origin = position
    item = _item(live, stream, item_origin, rendition) if item_origin is not None else None
    if place.item and item is None:
        raise ItemNotFound(str(stream), place.item)
    version = live.log.version(stream)
    states = States(live, stream, version)
    state: State | None = states.of(item_origin) if item_origin is not None else None
    left_at = states.left_at(item_origin) if item_origin is not None else None
    changed = change_of(live, stream, states, item_origin) if item_origin is not None else (0, "")
    counter = tokens.counter()
    data = item_data(item, counter) if item is not None else None
    told = (NUMBERED["c"], NUMBERED["k"], SUBSTITUTED)
    is_plain = item is None and event.type not in told
    return EventData(
        key=str(stream),
        ref=ref_of(place),
        position=position,
        sequence=event.sequence,
        event_id=str(event.id),
        type=event.type,
        schema_version=event.schema_version,
        occurred_at=event.occurred_at,
        happened_at=iso(moment(event.occurred_at, event.recorded_at)),
        recorded_at=iso(event.recorded_at),
        erased=event.erased,
        state=state,
        left_at=left_at,
        changed_at=changed[0] or None,
        changed=changed[1],
        number=number_of(live, stream, position),
        summary=said(event, lambda what: name_of(live, stream, what)) if is_plain else "",
        call=call_data(live, event) if event.type == NUMBERED["c"] else None,
        compaction=compaction_data(live, event) if event.type == NUMBERED["k"] else None,
        substitutions=pass_data(live, event) if event.type == SUBSTITUTED else None,
        item=data,
        shows=by_rendition(live, stream).get(data.rendition, []) if data is not None else [],
        event=event.data,
    )


def _item(live: Live, stream: StreamKey, item: Origin, rendition: int) -> Item | None:
    wanted = [(item, rendition)]
    events = live.log.at(stream, needed(wanted))
    events.update(live.log.at(stream, referenced(wanted, events)))
    made = materialize(wanted, events)
    return made[0] if made else None
