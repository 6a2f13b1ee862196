"""Why an item stands where it stands: every decision that touched it, in order, and what it did.

The state of the item (does it stand, in which rendition, is it pinned) is taken from the same fold
that shows any context, before and after each event. An event that names the item and changes
nothing, such as the undo of a cut while the item is covered, is told too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast

from eventlog.recorded import RecordedEvent
from projections.anchors import Anchor, item_anchors
from projections.context import REFOLDING, View
from projections.folding import Folding
from projections.force import left_out, out_of_force
from projections.held import Held, reworded
from projections.items import Item, RenditionKind
from projections.runs import Named, Origin, position_of

READ = frozenset({"redacted", "session_forked"})
"""Events of which ``trace`` reads the payload, beside those that a fold reads."""

ERASED = -1
"""The rendition of what a request held that was made after the erasure."""

Effect = Literal[
    "came",
    "back",
    "left",
    "changed",
    "restored",
    "pinned",
    "unpinned",
    "erased",
    "forked",
    "kept",
    "keeps_out",
    "nothing",
]
"""``back``: it stands again. ``restored``: it stands as it came in. ``kept``: a compaction named it
and left it where it was. ``keeps_out``: it had left already, with a decision that is no longer in
force, and would stand again but for this one. ``nothing``: it is named, and nothing changed."""


class Standing(NamedTuple):
    """One item in a view."""

    stands: bool = False
    rendition: int = 0
    """The position of the event that carries it; 0 for the original."""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Touch:
    """One event that touched the item."""

    event: RecordedEvent
    effect: Effect
    before: Standing
    after: Standing
    number: int = 0
    """Of a compaction: the n of ``k<n>``."""
    undone_by: int | None = None
    """The position of the undo or rewind that put it out of force."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All that happened to one item."""

    item: Origin
    touches: tuple[Touch, ...]
    now: Standing
    given: tuple[tuple[int, int], ...]
    """The n of every ``c<n>`` that was given it, with its rendition then (``ERASED`` for what was
    erased before): before which it stood, as folded, unless ``reasons`` knows what was sent."""
    call: int = 0
    """How many calls had been made when it came in."""
    taken_by: int = 0
    """When it does not stand: the position of the event in force that takes it out; 0 where it
    never stood."""

    @property
    def calls(self) -> tuple[int, ...]:
        """The n of every ``c<n>`` that was given it."""
        return tuple(number for number, _ in self.given)

    @property
    def given_as(self) -> dict[RenditionKind, list[int]]:
        """The calls that were given it, by the form in which they were: whole, or what of it."""
        forms = {touch.event.position: _form(touch.event) for touch in self.touches}
        found: dict[RenditionKind, list[int]] = {}
        for number, rendition in self.given:
            form = "redacted" if rendition == ERASED else forms.get(rendition, "original")
            found.setdefault(form, []).append(number)
        return found

    @property
    def left(self) -> Touch | None:
        """The event in force that takes it out, when it does not stand."""
        return next((t for t in self.touches if t.event.position == self.taken_by), None)

    @property
    def changed(self) -> Touch | None:
        """The event that carries the rendition in which it stands, or stood when it left."""
        left = self.left
        rendition = self.now.rendition if self.now.stands else left.before.rendition if left else 0
        found = (t for t in self.touches if t.event.position == rendition)
        return next(found, None) if rendition else None


def _form(event: RecordedEvent) -> RenditionKind:
    """The form of the rendition that an event carries; a repair renames call ids and no more."""
    if event.type == "placeholder_substituted":
        return cast(RenditionKind, event.data.get("kind", "cleared"))
    return "revised" if event.type == "message_revised" else "original"


def trace(events: Sequence[RecordedEvent], item: Origin) -> Trace:
    """Follow one item through a stream, from its first position on.

    ``events`` may be bare but for decisions and ``READ``. Linear; an undo or a
    rewind costs what lies between. Raises CriticalUnknown.
    """
    folding, state = Folding(), Standing()
    touches: list[Touch] = []
    given: list[tuple[int, int]] = []
    named: set[int] = set()
    passes: set[str] = set()
    numbers = {"model_called": 0, "context_compacted": 0}
    came, made = position_of(item), 0
    gone = out_of_force(events)
    taken_by = taker(events, gone, item)
    for event in events:
        kind, view = event.type, folding.take(event)
        if kind in numbers:
            numbers[kind] += 1
            if kind == "model_called":
                if state.stands:
                    given.append((numbers[kind], state.rendition))
                continue
        if event.position < came:
            continue
        if event.position == came:
            made = numbers["model_called"]
        after = Standing(item in view.items, view.items.get(item, 0), item in view.pins)
        is_taker = event.position == taken_by
        if after != state or is_taker or _names(event, item, named, passes):
            effect = _effect(event, state, after, bool(touches))
            if is_taker and not state.stands and not after.stands:
                effect = "keeps_out"
            number = numbers[kind] if kind == "context_compacted" else 0
            touches.append(Touch(event, effect, state, after, number))
            named.add(event.position)
            if kind == "placeholder_substituted" and event.data.get("pass_id"):
                passes.add(event.data["pass_id"])
        state = after
    told = tuple(
        Touch(t.event, t.effect, t.before, t.after, t.number, gone.get(t.event.position))
        for t in touches
    )
    return Trace(item, told, state, tuple(given), made, taken_by)


def taker(events: Sequence[RecordedEvent], gone: Mapping[int, int], item: Origin) -> int:
    """The event in force that keeps an item out of the context at the end.

    ``gone`` is what ``out_of_force`` says of the events. 0 for an item that stands, and for one
    that nothing took out: it never stood.
    """
    came = position_of(item)
    brought = next((event for event in events if event.position == came), None)
    if brought is not None and item in set(left_out(brought)):
        return 0
    if came in gone:
        return gone[came]
    view, found, stood = View(), 0, False
    for event in events:
        if event.position in gone or event.type in REFOLDING:
            continue
        view.evolve(event)
        if event.position >= came and (item in view.items) != stood:
            stood = not stood
            found = 0 if stood else event.position
    return found


def _effect(event: RecordedEvent, before: Standing, after: Standing, known: bool) -> Effect:
    if before.stands != after.stands:
        if not after.stands:
            return "left"
        return "back" if known else "came"
    if before.rendition != after.rendition:
        return "changed" if after.rendition else "restored"
    if before.pinned != after.pinned:
        return "pinned" if after.pinned else "unpinned"
    if event.type == "redacted":
        return "erased"
    if event.type == "session_forked":
        return "forked"
    return "kept" if event.type == "context_compacted" and after.stands else "nothing"


def _names(event: RecordedEvent, item: Origin, named: set[int], passes: set[str]) -> bool:
    """Whether an event that changed nothing is about the item all the same."""
    kind = event.type
    if kind == "session_forked" or event.position == position_of(item):
        return True
    if kind in ("placeholder_substituted", "message_revised", "item_pinned", "item_unpinned"):
        return bool(event.data.get("item") == str(item))
    if kind == "context_compacted":
        return item in Named(event.data.get("covered", ()), event.position)
    if kind == "decision_undone":
        data = event.data
        return data.get("target") in named or data.get("pass_id") in passes
    if kind == "redacted":
        targets = event.data.get("targets", ())
        return any(target["position"] in named for target in targets)
    return False


# -- what of it survived --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Survived:
    """One literal of an item that is not shown as it came in."""

    anchor: Anchor
    in_place: bool
    """It stands in what took the item's place: a summary, a placeholder."""
    elsewhere: str
    """Else the first item that stood beside it then and holds it; empty when none does."""
    is_reworded: bool = False
    """It is a rule that is lost word for word, and what took the place says it in other words."""
    used_by: tuple[str, ...] = field(default=())
    """Later messages, of the model or a person, that hold it."""

    @property
    def is_lost(self) -> bool:
        """Whether nothing that was shown then held it word for word."""
        return not self.in_place and not self.elsewhere


def survived(
    item: Item, in_its_place: Sequence[Item], context: Sequence[Item], later: Iterable[Item]
) -> tuple[Survived, ...]:
    """What became of the anchors of an item, in its order.

    ``context`` is what stood just after the decision: that a literal had to be said again later is
    a use of it. ``later`` are the items that came after it had left or was replaced; what tools
    returned and programs put in does not count as a use.
    """
    anchors = item_anchors(item)
    if not anchors:
        return ()
    held = Held(anchors)
    kept = held.inside(in_its_place)
    others: dict[int, str] = {}
    for other in context:
        if other.id != item.id:
            for place in held.inside([other]):
                others.setdefault(place, other.id)
    used: dict[int, list[str]] = {}
    for message in later:
        if message.is_spoken:
            for place in held.inside([message]):
                used.setdefault(place, []).append(message.id)
    again = reworded(anchors, in_its_place) - kept - others.keys()
    return tuple(
        Survived(anchor, n in kept, others.get(n, ""), n in again, tuple(used.get(n, ())))
        for n, anchor in enumerate(anchors)
    )
