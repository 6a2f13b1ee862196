"""Contexts and single events as text. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cli.models import CallData, CompactionData, ContextData, EventData, ItemData, PassData
from cli.remembered_words import REMEMBERED, memory_facts, memory_text
from cli.render_log import GUTTER, LEGEND
from cli.safetext import display_width
from cli.saying import trigger_words
from cli.shown_memories import marks, words_of
from cli.style import Style, heading, pad, pad_left, plural, short, shrunk, tokens, typed
from eventlog.happened import source_moment
from projections.failures import why_failed

KINDS = {
    "as_sent": "as sent, from the recorded manifest",
    "as_folded": "as folded from the events",
    "as_sendable": "as sendable, folded and then made legal",
    "what_if": "what-if: what another strategy would have made of the recorded messages",
}
"""What each kind of context is called."""


def render_context(data: ContextData, style: Style, *, full: bool = False) -> Iterator[str]:
    """The window: a line an item, or every item in full."""
    at = f"@{data.ref}" if data.ref != "now" else ""
    size_now = f"{plural(len(data.items), 'item')}, {tokens(data.tokens)} tokens"
    yield style.paint(heading(size_now, data.key, style, at), "bold")
    yield style.line(
        "; ".join([*_others_counts(data), KINDS[data.kind]]) + _model(data), style.width
    )
    size = max([4, *(len(short(item.tokens)) for item in data.items)])
    ref = max([3, *(display_width(_name(item)) for item in data.items)])
    ref = min(ref, 16)
    for item in data.items:
        prompt = data.prompts.get(item.rendition, "") or marks(
            data.memories.get(item.rendition, [])
        )
        yield from (
            full_item(item, style, prompt) if full else [_line(item, style, size, ref, prompt)]
        )


def _others_counts(data: ContextData) -> Iterator[str]:
    """How big others found the window: the provider, the agent."""
    if data.billed is not None:
        more = " (with what was not recorded)" if data.billed > data.tokens * 1.2 else ""
        yield f"the provider counted {short(data.billed)}{more}"
    if data.told is not None:
        yield f"the agent counted {short(data.told)}"


def _model(data: ContextData) -> str:
    return f" · {data.model}" if data.model else ""


def _name(item: ItemData) -> str:
    return item.rendition


def _line(item: ItemData, style: Style, size: int, ref: int, prompt: str) -> str:
    sign = "✂" if item.form in ("cut", "cleared", "deduplicated") else "●"
    start = f" {style.paint(sign, 'yellow' if sign == '✂' else 'cyan')} "
    start += pad(style.line(_name(item), ref), ref) + " "
    start += style.paint(pad_left(short(item.tokens), size), "dim") + "  "
    start += style.paint(pad(style.line(item.who, 12), 12), "bold" if item.who == "user" else "dim")
    room = style.width - (3 + ref + 1 + size + 2 + 12 + 1)
    marks = ("(pinned) " if item.pinned else "") + _form(item) + (f"[{prompt}] " if prompt else "")
    return f"{start} {style.line(marks + item.preview, room)}".rstrip()


def _form(item: ItemData) -> str:
    return f"({item.form}) " if item.form in ("revised", "redacted") else ""


def full_item(item: ItemData, style: Style, prompt: str = "") -> Iterator[str]:
    """An item with all of its text; ``prompt`` is the template that gave it, or its memories."""
    words = [item.rendition, item.who, f"{tokens(item.tokens)} tokens"]
    if item.form != "original":
        words.append(item.form)
    if item.pinned:
        words.append("pinned")
    if prompt:
        words.append(prompt)
    yield style.rule(" · ".join(words), "cyan")
    yield style.block(item.text)


def render_event(
    data: EventData, style: Style, session: str, *, raw: bool = False, program: str = "ctxlog"
) -> Iterator[str]:
    """One event: what it is, where it stands, then its text. ``session`` is what is typed for the
    one that it stands in."""
    name = data.number or (data.item.rendition if data.item is not None else str(data.position))
    kind = data.type.replace("_", " ")
    yield style.paint(heading(f"{name} · {kind}", data.key, style), "bold")
    for label, value in _facts(data):
        yield f"{style.paint(pad(label, 10), 'dim')} {style.line(value, style.width - 11)}"
    yield ""
    if not raw and data.item is not None:
        yield style.block(data.item.text)
    elif not raw and data.compaction is not None:
        yield style.block("\n\n".join(data.compaction.texts) or "(nothing took their place)")
    elif not raw and data.substitutions is not None:
        yield from _substitutions(data.substitutions, style)
    elif not raw and data.call is not None:
        if data.call.partial is not None:
            yield style.block(data.call.partial)
            yield ""
        place = style.block(typed(f"{session}@{data.number}"))
        yield f"what it was given: {program} show {place} --context"
    elif not raw and data.type in REMEMBERED:
        yield style.block("\n".join(memory_text(data.event)) or "(nothing)")
    else:
        yield style.block(json.dumps(data.event, ensure_ascii=False, indent=2))


def _facts(data: EventData) -> Iterator[tuple[str, str]]:
    if data.call is not None:
        yield from _call_facts(data.call)
    elif data.compaction is not None:
        yield from _compaction_facts(data.compaction)
    elif data.substitutions is not None:
        yield from _pass_facts(data.substitutions)
    elif data.type in REMEMBERED:
        yield from memory_facts(data.type, data.position, data.event)
    elif data.summary:
        yield "says", data.summary
    item = data.item
    if item is not None:
        yield "from", item.who + (f" ({item.label})" if item.label else "")
        yield from (("shows", words_of(shown)) for shown in data.shows)
        yield "state", _state(data)
        yield "tokens", f"{tokens(item.tokens)}" + (", " + item.form if item.form else "")
        if item.calls:
            yield "calls", ", ".join(item.calls)
        if item.pinned:
            yield "pinned", "strategies may not touch it"
    where = f"position {data.position}, sequence {data.sequence} of the log"
    yield "place", where
    if data.occurred_at is not None:
        yield "happened", _happened(data, data.occurred_at)
    yield "recorded", data.recorded_at
    yield "event id", data.event_id
    if data.erased:
        yield "erased", "its text was redacted; this is the skeleton"


def _call_facts(call: CallData) -> Iterator[tuple[str, str]]:
    yield "model", call.model
    yield "given", f"{plural(call.items, 'item')}, {tokens(call.tokens)} tokens"
    for shown in call.memories:
        yield "remembers", f"{words_of(shown)}, in {shown.item}"
    yield "known as", call.verdict + (f": {call.detail}" if call.detail else "")
    if call.request_digest is not None:
        yield "digest", f"{call.request_digest} of the request"
    told = why_failed(None, call.error) or call.finish_reason
    yield "outcome", call.outcome + (f": {told}" if told else "")
    if call.partial_characters is not None:
        came = plural(call.partial_characters, "character")
        yield "had come", f"{came} of the answer, which stand in no context"
    if call.usage is not None:
        counted = (f"{name.replace('_', ' ')} {n:,}" for name, n in call.usage if n is not None)
        yield "billed", ", ".join(counted) or "-"


def _compaction_facts(data: CompactionData) -> Iterator[tuple[str, str]]:
    if data.by or data.trigger:
        why = trigger_words(data.trigger)
        yield "by", f"{data.by} ({why})" if data.by and why else data.by or why
    yield "tokens", shrunk(data)
    yield "left", f"{plural(data.left_count, 'item')}: {', '.join(data.left)}"
    if data.not_shown:
        names, count = ", ".join(data.not_shown), plural(data.not_shown_count, "item")
        yield "not shown", f"to its summarizer, as was recorded: {count} of these, {names}"


def _pass_facts(data: PassData) -> Iterator[tuple[str, str]]:
    before = sum(item.tokens for item in data.items)
    after = sum(item.shown_tokens for item in data.items)
    items = plural(len(data.items), "item")
    yield "says", f"{data.kind}: {items}, {tokens(before)} → {tokens(after)} tokens"
    if data.by:
        yield "by", data.by
    if data.reason:
        yield "reason", data.reason
    yield "shown is", data.content


def _substitutions(data: PassData, style: Style) -> Iterator[str]:
    """A row for each item, with the rendition that it got and its beginning as it was."""
    names = [f"{row.item}@{row.position}" for row in data.items]
    sizes = [f"{short(row.tokens)}→{short(row.shown_tokens)}" for row in data.items]
    ref, size = max(map(display_width, names)), max(map(display_width, sizes))
    for row, name, shown in zip(data.items, names, sizes, strict=True):
        start = f" {pad(style.line(name, ref), ref)} {style.translated(pad_left(shown, size))}  "
        start += pad(style.line(row.who, 12), 12) + " "
        yield (start + style.line(row.preview, style.width - display_width(start))).rstrip()


def _happened(data: EventData, label: str) -> str:
    """What the source's clock says, in UTC where it can be read."""
    if source_moment(label) is None:
        return f"{label} (the source's clock, which cannot be read)"
    if label.endswith("Z"):
        return f"{label} (the source's clock)"
    return f"{data.happened_at} (the source's clock: {label})"


def _state(data: EventData) -> str:
    sign = GUTTER[data.state or "never"]
    text = f"{sign} {dict(LEGEND)[sign]}"
    changed = f"{data.changed} with event {data.changed_at}" if data.changed_at is not None else ""
    if data.left_at is not None:
        before = f"; {changed} before that" if changed else ""
        return f"{text} with event {data.left_at}{before}"
    return f"{text}, {changed}" if changed else text
