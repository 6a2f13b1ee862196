"""What a decision lost: the literals that nothing shown behind it held any more.

That is a compaction, or the substitutions or revisions between two calls (see ``takings``).

They come with the sentences in which they stood, so that they can be given to a model again. Of
many literals a few matter: those that came up again, in a later message or in what
a tool found once more, and those that a person or a system message had said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from eventlog.errors import PositionNotFound
from eventlog.recorded import StreamKey
from projections.anchors import KINDS
from projections.context import ITEM_TYPES
from projections.diff import LostAnchor, diff
from projections.force import out_of_force
from projections.items import Item
from projections.live import Live
from projections.materialize import original
from projections.metrics.mentions import texts
from projections.runs import origin, position_of
from projections.said import is_told
from projections.sentences import sentences_around
from projections.takings import Taking, before_and_behind, taking_at
from projections.tokens import counter
from projections.verdicts import has_erased_summary, is_sealed


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an item, with the literals in it that are lost."""

    item: Item
    text: str
    literals: tuple[LostAnchor, ...]


@dataclass(frozen=True, slots=True)
class Losses:
    """What one decision lost."""

    taking: Taking

    lost: tuple[LostAnchor, ...]
    """By kind, then in the order of the context before it."""
    items: dict[str, Item]
    """What had been said before it, and the context that it found, by the ids of the items."""
    is_sealed: bool = False
    """Just after it something stood in the context that only the provider can read: what seems lost
    may stand there."""
    is_erased: bool = False
    """Likewise a summary of which the text was erased from the log since: what seems lost may have
    stood there."""

    @property
    def telling(self) -> tuple[LostAnchor, ...]:
        """Those that came up again later, or that a person or a system message had said."""
        return tuple(
            one
            for one in self.lost
            if one.used_by or one.found_in or is_told(self.items[one.first])
        )

    def sentences(self, lost: Iterable[LostAnchor]) -> list[Sentence]:
        """The literals in their sentences: first what came up again in most later messages, then
        what people had said, then what was found again."""
        listed = sorted(lost, key=_most_again)
        of_item: dict[str, dict[str, None]] = {}
        for one in listed:
            of_item.setdefault(one.first, {})[one.text] = None
        around = {item: self._around(item, literals) for item, literals in of_item.items()}
        found: dict[tuple[str, str], list[LostAnchor]] = {}
        for one in listed:
            text = around[one.first].get(one.text, one.text)
            found.setdefault((one.first, text), []).append(one)

        def rank(sentence: Sentence) -> tuple[int, bool, int, int, str]:
            item = sentence.item
            used = len({user for one in sentence.literals for user in one.used_by})
            again = len({finder for one in sentence.literals for finder in one.found_in})
            return -used, not is_told(item), -again, position_of(origin(item.id)), item.id

        made = (Sentence(self.items[item], text, tuple(of)) for (item, text), of in found.items())
        return sorted(made, key=rank)

    def _around(self, item: str, literals: Iterable[str]) -> dict[str, str]:
        """The sentences of an item in which some literals first stand."""
        found: dict[str, str] = {}
        left = list(literals)
        for text in texts(self.items[item]):
            found.update(sentences_around(text, left))
            left = [literal for literal in left if literal not in found]
        return found


def _most_again(one: LostAnchor) -> tuple[int, int, int]:
    """By kind, and of a kind what was used most."""
    return KINDS.index(one.kind), -len(one.used_by), -one.uses


def losses(live: Live, stream: StreamKey, position: int) -> Losses:
    """What the decision at a position lost, word for word.

    Raises PositionNotFound where there is none that takes content out of sight, CriticalUnknown.
    """
    taking = taking_at(live, stream, position)
    if taking is None:
        raise PositionNotFound(
            str(stream), f"compaction, substitution or revision at position {position}"
        )
    left, right = before_and_behind(live, stream, taking)
    before = earlier(live, stream, taking.until)
    behind = list(later(live, stream, taking.until, ITEM_TYPES))
    found = diff(left, right, counter(), earlier=before, later=behind)
    sealed = is_sealed(live, stream, taking.until, right)
    return Losses(
        taking,
        found.lost,
        {item.id: item for item in (*left, *before)},
        is_sealed=sealed,
        is_erased=has_erased_summary(right),
    )


def earlier(live: Live, stream: StreamKey, position: int) -> list[Item]:
    """What had been said up to a position, as it came in, without what rewinds took back."""
    gone = out_of_force(live.history(stream, position))
    events = live.log.read(stream, to=position, types=ITEM_TYPES)
    kept = (event for event in events if event.position not in gone)
    made = (original(event.position, {event.position: event}) for event in kept)
    return [item for item in made if item is not None]


def later(
    live: Live, stream: StreamKey, position: int, types: Collection[str] = ("message_appended",)
) -> Iterator[Item]:
    """The messages, or items of other types, that came after a position, as they were recorded."""
    events = live.log.read(stream, after=position, types=types)
    made = (original(event.position, {event.position: event}) for event in events)
    return (item for item in made if item is not None)
