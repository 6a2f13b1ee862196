"""From a view to items: which bytes each rendition carries.

A rendition is self-contained: what it shows is computed from the item's original and from the one
event that carries the rendition, so no history is needed to show any context. A patch applies to
the original. An erased event reads as its skeleton, and the item is then shown as redacted, with
the call ids that a repair gave it.

    original      the event that brought the item in
    cut, cleared, deduplicated    the text of a PlaceholderSubstituted in place of the content
    revised       the message, or the original with the merge patch (RFC 7386), of a MessageRevised
    repaired      the rendition that a RepairApplied names, with call ids renamed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from eventlog import messages
from eventlog.recorded import RecordedEvent
from projections import runs
from projections.items import Item, RenditionKind
from projections.runs import Origin, Standing

Events = Mapping[int, RecordedEvent]


def needed(standing: Iterable[Standing]) -> set[int]:
    """The positions whose events ``materialize`` reads."""
    positions: set[int] = set()
    for item, rendition in standing:
        positions.add(runs.position_of(item))
        if rendition:
            positions.add(rendition)
    return positions


def referenced(standing: Iterable[Standing], events: Events) -> set[int]:
    """Positions of earlier renditions that a repaired item was made from."""
    found: set[int] = set()
    for item, rendition in standing:
        event = events.get(rendition)
        if event is not None and event.type == "repair_applied":
            for rename in event.data.get("renamed", ()):
                if rename["item"] == str(item) and rename.get("rendition"):
                    found.add(runs.standing(rename["rendition"])[1])
    return found - {0} - events.keys()


def materialize(
    standing: Iterable[Standing], events: Events, pins: Iterable[Origin] = ()
) -> list[Item]:
    """The items in their renditions. What names no item of the stream is left out."""
    pinned = set(pins)
    found = []
    for item, rendition in standing:
        made = original(item, events)
        if made is None:
            continue
        if rendition:
            made = rendered(made, rendition, events)
        if item in pinned:
            made = replace(made, pinned=True)
        found.append(made)
    return found


def original(item: Origin, events: Events) -> Item | None:
    """The item as its event brought it in; None when there is no such item."""
    event = events.get(runs.position_of(item))
    if event is None:
        return None
    data = event.data
    if isinstance(item, str):
        return _inserted(item, event)
    name = str(item)
    if event.type == "message_appended":
        dialect, message = data["dialect"], data["message"]
        return Item(
            id=name,
            rendition=f"{item}@redacted" if event.erased else name,
            kind="message",
            dialect=dialect,
            role=messages.role(dialect, message),
            message=message,
            source=data["source"],
            label=data.get("label", ""),
            form="redacted" if event.erased else "original",
            call=data.get("call"),
        )
    if event.type == "tool_result_recorded":
        dialect = data["dialect"]
        native = data.get("native")
        if native is None:
            native = messages.result_block(
                dialect,
                data["tool_call_id"],
                data.get("name", ""),
                data["content"],
                is_error=data.get("is_error", False),
            )
        return Item(
            id=name,
            rendition=f"{item}@redacted" if event.erased else name,
            kind="tool_result",
            dialect=dialect,
            role="tool",
            message=native,
            source="tool",
            form="redacted" if event.erased else "original",
            tool_name=data.get("name", ""),
            is_error=data.get("is_error") is True,
        )
    return None


def _inserted(item: str, event: RecordedEvent) -> Item | None:
    number = int(item.partition(".")[2])
    if event.type == "context_compacted":
        brought, kind = event.data.get("messages", ()), "summary"
    elif event.type == "repair_applied":
        brought, kind = [i["message"] for i in event.data.get("inserted", ())], "repair"
    else:
        return None
    if number >= len(brought):
        return None
    new = brought[number]
    dialect, message = new["dialect"], new["message"]
    role = messages.role(dialect, message)
    if dialect == "anthropic" and message.get("type") == "tool_result":
        role = "tool"
    is_result = role == "tool"
    return Item(
        id=item,
        rendition=f"{item}@redacted" if event.erased else item,
        kind="tool_result" if is_result else "summary" if kind == "summary" else "repair",
        dialect=dialect,
        role=role,
        message=message,
        source=new.get("source", "injected"),
        label=new.get("label", ""),
        form="redacted" if event.erased else "original",
    )


def rendered(item: Item, rendition: int, events: Events) -> Item:
    """The item in the rendition that the event at that position carries."""
    event = events.get(rendition)
    if event is None:
        return item
    if item.form == "redacted":
        # What is left of it has call ids, which a repair may have changed.
        return _renamed(item, event, events) if event.type == "repair_applied" else item
    if event.erased:
        return replace(
            item,
            rendition=f"{item.id}@redacted",
            form="redacted",
            message=messages.with_content(item.dialect, item.message, "[redacted]"),
        )
    data = event.data
    form: RenditionKind = "revised"
    message: Mapping[str, Any]
    if event.type == "placeholder_substituted":
        form = data.get("kind", "cleared")
        message = messages.with_content(item.dialect, item.message, data["content"])
    elif event.type == "message_revised":
        patch = data.get("patch")
        message = data["message"] if patch is None else merge(item.message, patch)
    elif event.type == "repair_applied":
        return _renamed(item, event, events)
    else:
        return item
    role = item.role if item.kind == "tool_result" else messages.role(item.dialect, message)
    label = runs.label(runs.origin(item.id), rendition)
    return replace(item, rendition=label, form=form, message=message, role=role)


def _renamed(item: Item, event: RecordedEvent, events: Events) -> Item:
    renames = [r for r in event.data.get("renamed", ()) if r["item"] == item.id]
    if not renames:
        return item
    _, before = runs.standing(renames[0].get("rendition") or item.id)
    base = rendered(item, before, events) if before and before < event.position else item
    message = base.message
    for rename in renames:
        message = messages.rename_call(base.dialect, message, rename["old"], rename["new"])
    label = runs.label(runs.origin(item.id), event.position)
    if base.form == "redacted":
        label = base.rendition
    return replace(base, rendition=label, message=message)


def merge(target: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386) applied to a copy."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result
