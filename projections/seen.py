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
from projections.context import ITEM_TYPES, REFOLDING, View, fold, is_known
from projections.items import Item
from projections.materialize import original, rendered
from projections.runs import Origin, Standing, origin
from projections.tokens import Counter, count_item

if TYPE_CHECKING:
    from projections.recording import Step

Counted = tuple[Item, int]
"""An item and its tokens."""
_Count = Callable[[Standing], tuple[Counted, ...]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One step of the context as it was folded, at which more happened than that it went on."""

    kind: Literal["render", "compact", "again"]
    """``again``: the whole context is another one, as after a rewind, an undo or a layout."""
    position: int
    origin: Origin = 0
    items: tuple[Counted, ...] = ()
    """An item's new rendition, the messages of a compaction, or all that stand."""
    covered: tuple[Origin, ...] = ()
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

    view = View()
    for number, event in enumerate(events):
        at, kind = event.position, event.type
        if kind == "model_called":
            yield steps[at]
            continue
        if kind in REFOLDING:
            view = fold(events[: number + 1])
            yield _again(at, view, counted)
            continue
        comes_in = kind in ITEM_TYPES and is_known(kind, event.schema_version)
        before = [] if comes_in else list(view.items)
        count = len(view)
        view.evolve(event)
        if comes_in:
            if len(view) == count + 1 and next(reversed(view.items)) == at:
                yield steps[at]
            else:
                yield _again(at, view, counted)
        elif kind in ("placeholder_substituted", "message_revised"):
            item = origin(event.data["item"])
            if view.items.get(item) == at:
                reason = event.data.get("reason", "")
                yield Seen("render", at, item, counted((item, at)), reason=reason)
        elif kind == "context_compacted":
            if event.data.get("layout") is not None:
                yield _again(at, view, counted)
                continue
            covered = tuple(o for o in before if o not in view)
            names: list[Origin] = [f"{at}.{i}" for i in range(len(event.data.get("messages", ())))]
            new = tuple(c for name in names for c in counted((name, 0)))
            yield Seen("compact", at, 0, new, covered, str(event.data.get("trigger") or ""))
        elif kind == "repair_applied":
            yield _again(at, view, counted)


def _again(at: int, view: View, counted: _Count) -> Seen:
    standing = tuple(c for each in view.standing() for c in counted(each))
    return Seen("again", at, 0, standing)
