"""What really became of a session's context, as steps: the decisions that the log holds, applied.

The other half of a recording: there the decisions are left out, so that another strategy can take
theirs; here they are what matters. The steps come from the same fold that shows any context, so the
context after each of them is the one as folded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eventlog.recorded import RecordedEvent
from projections.context import ITEM_TYPES, REFOLDING, View, is_known
from projections.folding import Folding
from projections.items import Item
from projections.materialize import original, rendered
from projections.runs import Named, Origin, Standing, origin
from projections.tokens import Counter, count_item
from projections.triggers import trigger_of

if TYPE_CHECKING:
    from projections.recording import Step

Counted = tuple[Item, int]
"""An item and its tokens."""
_Count = Callable[[Standing], tuple[Counted, ...]]

Cause = Literal["substituted", "revised", "compacted", "rewound", "undone", "repaired", "inserted"]
"""What happened: ``inserted`` is an item that came in, but not at the end."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One step of the context as it was folded, at which more happened than that it went on."""

    kind: Literal["render", "compact", "again"]
    """``again``: the whole context is another one, as after a rewind, an undo or a layout."""
    position: int
    cause: Cause
    origin: Origin = 0
    items: tuple[Counted, ...] = ()
    """An item's new rendition, the messages of a compaction, or all that stand."""
    covered: tuple[Origin, ...] = ()
    """Of a compaction: the items that it names and that left."""
    reason: str = ""


def seen_steps(
    events: Sequence[RecordedEvent], steps: Mapping[int, Step], counting: Counter
) -> Iterator[Seen | Step]:
    """The steps of a stream, from its first position on. Raises CriticalUnknown.

    ``events`` may lack the text of those that take no decision; ``steps`` has their items.
    """
    known = {event.position: event for event in events}
    cache: dict[Standing, Counted] = {}

    def counted(standing: Standing) -> tuple[Counted, ...]:
        item, rendition = standing
        step = steps.get(item) if isinstance(item, int) else None
        made = step.item if step is not None else original(item, known)
        if made is None:
            return ()
        if step is not None and not rendition:
            return ((made, step.tokens),)
        if standing not in cache:
            made = rendered(made, rendition, known) if rendition else made
            cache[standing] = (made, count_item(counting, made))
        return (cache[standing],)

    folding = Folding()
    for event in events:
        at, kind = event.position, event.type
        if kind == "model_called":
            folding.take(event)
            yield steps[at]
        elif kind in REFOLDING:
            cause: Cause = "rewound" if kind == "session_rewound" else "undone"
            yield _again(event, cause, folding.take(event), counted)
        elif kind in ITEM_TYPES and is_known(kind, event.schema_version):
            count = len(folding.view)
            view = folding.take(event)
            if len(view) == count + 1 and next(reversed(view.items)) == at:
                yield steps[at]
            else:
                yield _again(event, "inserted", view, counted)
        elif kind in ("placeholder_substituted", "message_revised"):
            view = folding.take(event)
            item = origin(event.data["item"])
            if view.items.get(item) == at:
                cause = "revised" if kind == "message_revised" else "substituted"
                reason = event.data.get("reason", "")
                yield Seen("render", at, cause, item, counted((item, at)), reason=reason)
        elif kind == "context_compacted":
            before = list(folding.view.items)
            view = folding.take(event)
            covered = tuple(o for o in before if o not in view)
            if event.data.get("layout") is not None:
                named = Named(event.data.get("covered", ()), at)
                covered = tuple(o for o in covered if o in named)
                yield _again(event, "compacted", view, counted, covered)
                continue
            names: list[Origin] = [f"{at}.{i}" for i in range(len(event.data.get("messages", ())))]
            new = tuple(c for name in names for c in counted((name, 0)))
            yield Seen("compact", at, "compacted", 0, new, covered, trigger_of(event.data))
        else:
            view = folding.take(event)
            if kind == "repair_applied":
                yield _again(event, "repaired", view, counted)


def _again(
    event: RecordedEvent,
    cause: Cause,
    view: View,
    counted: _Count,
    covered: tuple[Origin, ...] = (),
) -> Seen:
    standing = tuple(c for each in view.standing() for c in counted(each))
    reason = str(event.data.get(_REASONS.get(cause, "")) or "")
    if cause == "compacted":
        reason = trigger_of(event.data)
    return Seen("again", event.position, cause, 0, standing, covered, reason)


_REASONS: dict[Cause, str] = {
    "rewound": "reason",
    "undone": "reason",
    "repaired": "rule",
}
"""The field of the event that says why."""
