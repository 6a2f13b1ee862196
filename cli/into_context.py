"""Bringing originals back into a context: by undoing what took them, or as a message at the end."""

from __future__ import annotations

from collections.abc import Sequence

from cli.changing import Changing, Make
from cli.models_reasons import ChangeData, RecoverData
from cli.shown_memories import brought_back_by
from cli.style import typed
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.events import Event, MessageAppended
from projections import Live
from projections.items import RECOVERED
from projections.recovered import Original, stands_in, written
from projections.restoring import Restoring, restoring
from projections.runs import Origin, origin
from projections.why import READ


def items_in(data: RecoverData) -> list[str]:
    """The items whose originals, or sentences, were found."""
    found = [one.item for one in data.items] + [one.item for one in data.sentences]
    return list(dict.fromkeys(found))


def undoing_what_took(
    live: Live, stream: StreamKey, items: Sequence[str], notes: list[str]
) -> Make:
    """The undos after which the items stand as they came in.

    Making them puts into ``notes`` what cannot be brought back so. Raises InputRefused where that
    is true of all that do not stand.
    """

    def make(first: int) -> Sequence[Event]:
        history = live.history(stream, whole=READ)
        reason = f"recover {' '.join(items[:8])}" + (" …" if len(items) > 8 else "")
        found = restoring(history, [origin(item) for item in items], first, reason)
        impossible = _impossible(found)
        _noted(notes, *impossible)
        if impossible and not found.undos:
            told = "; ".join(impossible[:3]) + ("; …" if len(impossible) > 3 else "")
            raise InputRefused(f"no undo brings that back: {told}; --only appends the text instead")
        return found.undos

    return make


def _noted(notes: list[str], *new: str) -> None:
    """Add what was not noted yet: a change is worked out to tell of it, and again to make it."""
    notes += [note for note in new if note not in notes]


def _impossible(found: Restoring) -> list[str]:
    def place(item: Origin) -> tuple[int, str]:
        return int(str(item).partition(".")[0]), str(item)

    return [f"{item}: {found.impossible[item]}" for item in sorted(found.impossible, key=place)]


def appending(live: Live, stream: StreamKey, data: RecoverData) -> Make:
    """One message at the end that holds the originals, or the sentences."""

    def make(first: int) -> Sequence[Event]:
        items = live.items(stream)
        dialect = items[-1].dialect if items else "openai_chat"
        message = {"role": "user", "content": as_text(data)}
        if dialect == "openai_responses":
            message = {"type": "message", **message}
        event = MessageAppended.model_validate(
            {"dialect": dialect, "source": "injected", "label": RECOVERED, "message": message}
        )
        return [event]

    return make


def as_text(data: RecoverData) -> str:
    """The originals for a model: as they were, with where they are from."""
    return written(
        [Original(one.item, one.who, one.text) for one in data.sentences],
        [Original(one.item, one.who, one.text) for one in data.items],
    )


def more_than_asked(found: ChangeData) -> list[str]:
    """The items that come back beside those that were asked for."""
    return [shift.item for shift in found.back if shift.item not in found.asked]


def bringing_back(
    live: Live,
    data: RecoverData,
    *,
    only: bool,
    name: str,
    dry_run: bool,
    expected: int | None = None,
) -> Changing:
    """How the session is changed so that it shows what was recovered.

    Raises InputRefused for a message that shows memories.
    """
    stream = StreamKey.parse(data.key)
    items = items_in(data)
    _refuse_memories(live, stream, items)
    there = [one.item for one in data.items if one.state == "context" and not one.taken_by]
    if only and there:
        _noted(data.notes, f"in the context already, as they came in: {', '.join(there)}")
    for one in data.items if only and not there else ():
        (made,) = live.materialize(stream, [(origin(one.item), 0)])
        copies = stands_in(live, stream, made, live.log.version(stream))
        if copies:
            _noted(data.notes, f"the text of {one.item} stands in {', '.join(copies)} already")
    make = (
        appending(live, stream, data)
        if only
        else undoing_what_took(live, stream, items, data.notes)
    )
    return Changing(
        stream,
        make,
        reason="to bring back what had left the context",
        name=name,
        dry_run=dry_run,
        expected=expected,
    )


def _refuse_memories(live: Live, stream: StreamKey, items: Sequence[str]) -> None:
    """What is remembered comes into a context from memory: else what was forgotten stood there,
    and nothing would say so."""
    for item in live.materialize(stream, [(origin(item), 0) for item in items]):
        if item.source == "memory":
            commands = brought_back_by(live, stream, item.id)
            then = ", then ".join(f"ctxlog {command}" for command in commands)
            raise InputRefused(
                f"{item.id} shows memories, which come into a context from memory alone: "
                + (then or f"ctxlog why {typed(str(stream))} {item.id} tells which")
            )
