"""Why an item of a session stands where it stands, with what is left of it: ``why`` as data.

``why.trace`` is the chain of decisions; here it is asked of a log, up to a position, with the
texts: what took the item's place, which of its literals survived there, and what the request of a
call held of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from eventlog.recorded import RecordedEvent, StreamKey
from projections.items import Item
from projections.leaving import is_folding
from projections.live import Live
from projections.losses import later
from projections.recovered import stands_in
from projections.runs import Origin, label, position_of
from projections.sent import Requests
from projections.verdicts import has_erased_summary, is_sealed
from projections.why import ERASED, READ, Survived, Touch, Trace, survived, trace

State = Literal["context", "placeholder", "folded", "left", "never", "not_yet"]
"""``not_yet``: at that position the item had not come in."""


@dataclass(frozen=True, slots=True)
class Reasons:
    """What became of one item, up to a position."""

    item: Item
    """As it came in."""
    trace: Trace
    state: State
    in_its_place: tuple[Item, ...]
    """The messages of the compaction that took it, or the rendition in which it stands."""
    survived: tuple[Survived, ...]
    """Its literals, where it is not shown as it came in and was not erased."""
    stands_in: tuple[str, ...] = ()
    """Where it is not shown as it came in: other items there that hold its whole text."""
    is_sealed: bool = False
    """Just after it left, something stood in the context that only the provider can read: what
    seems lost of it may stand there."""
    is_summary_erased: bool = False
    """Likewise a summary of which the text was erased from the log since."""

    @property
    def since(self) -> Touch | None:
        """The decision since which it is not shown as it came in."""
        return self.trace.left or self.trace.changed

    @property
    def is_erased(self) -> bool:
        """Whether its text is gone from the log."""
        return self.item.form == "redacted"


def reasons(
    live: Live, stream: StreamKey, item: Origin, at: int, call: int | None = None
) -> Reasons:
    """Follow an item through its session, up to a position.

    ``call`` is the position of a call right behind it, which counts as well.
    Raises CriticalUnknown, and LookupError where the session holds no such item.
    """
    history = live.history(stream, call or at, READ)
    found = _as_sent(live, stream, trace(history, item), history, call or at)
    made = live.materialize(stream, [(item, 0)])[0]
    state = _state(found, item, at)
    since = found.left or found.changed
    place = _in_its_place(live, stream, found, since)
    left: tuple[Survived, ...] = ()
    copies: tuple[str, ...] = ()
    sealed = erased = False
    if since is not None and made.form != "redacted" and state != "never":
        after = since.event.position
        context = live.items(stream, after)
        left = survived(made, place, context, later(live, stream, after))
        copies = stands_in(live, stream, made, at)
        sealed = is_sealed(live, stream, after, context)
        erased = has_erased_summary(context)
    return Reasons(made, found, state, tuple(place), left, copies, sealed, erased)


def _as_sent(
    live: Live, stream: StreamKey, found: Trace, history: Sequence[RecordedEvent], at: int
) -> Trace:
    """The same, with what recorded requests held of the item in place of what should have been."""
    sent = {call.position: piece for call, piece in Requests(live).holding(stream, found.item, at)}
    if not sent:
        return found
    calls = [event.position for event in history if event.type == "model_called"]
    given = dict(found.given)
    for number, position in enumerate(calls, 1):
        if position in sent:
            piece = sent[position]
            given.pop(number, None)
            if piece is not None:
                given[number] = ERASED if piece.redacted else piece.rendition
    return replace(found, given=tuple(sorted(given.items())))


def _state(found: Trace, item: Origin, at: int) -> State:
    if position_of(item) > at:
        return "not_yet"
    if found.now.stands:
        changed = found.changed
        is_placeholder = changed is not None and changed.event.type == "placeholder_substituted"
        return "placeholder" if is_placeholder else "context"
    if found.left is None:
        return "never"
    return "folded" if is_folding(found.left.event) else "left"


def _in_its_place(live: Live, stream: StreamKey, found: Trace, since: Touch | None) -> list[Item]:
    if since is None:
        return []
    if found.now.stands:
        return live.materialize(stream, [(found.item, found.now.rendition)])
    event = since.event
    if event.type != "context_compacted":
        return []
    count = len(event.data.get("messages", ()))
    return live.materialize(stream, [(f"{event.position}.{n}", 0) for n in range(count)])


class Given(NamedTuple):
    """What the request of a call held of an item."""

    is_recorded: bool
    """Whether the request was recorded with a manifest; else it is folded from the events."""
    rendition: str | None
    """In which it was held, as a label; None where it was not."""


def given(live: Live, stream: StreamKey, item: Origin, call: int) -> Given:
    """What the call at a position was given of an item."""
    event = live.log.at(stream, [call])[call]
    if event.data.get("manifest") is None:
        rendition = live.view(stream, call - 1).items.get(item)
        return Given(False, None if rendition is None else label(item, rendition))
    entries = Requests(live).expanded(stream, event).entries
    held = (piece.label for entry in entries for piece in entry if piece.item == item)
    return Given(True, next(held, None))
